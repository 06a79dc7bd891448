// History: what several clients asked of a server and what they were told, in the order in which it
// was seen from outside.
//
//   sim::History history;
//   world.Spawn("a", [&](sim::Actor& actor) -> base::Task<void> {
//     sim::HistoryStore store(actor.store(), history, actor.name());
//     co_await store::Incr(store, "n");
//   });
//   world.Run();
//   sim::CheckLinearizable(history, sim::CounterModel());   // linearizability.h
//
// Operations above commands (a budget that is reserved) are written by hand, as words and a reply
// of a model's own.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_CHECK_HISTORY_H_
#define REDOUBLE_SIM_CHECK_HISTORY_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "core/base/task.h"
#include "core/store/reply.h"
#include "core/store/store.h"
#include "core/store/wrappers/intercepting_store.h"

namespace redouble::sim {

struct HistoryOperation {
  std::string client;
  std::string key;                 // What it is about; operations on different keys are apart.
  std::vector<std::string> words;  // "INCRBY", "5": the name in upper case, without the key.
  int64_t begun;                   // When it was asked, on the history's own clock.
  // When it was answered; none: it never was, and may have happened at any time since, or never.
  std::optional<int64_t> ended;
  std::optional<store::Reply> reply;
};

class History {
 public:
  // An operation begins; returns its number.
  size_t Begin(std::string_view client, std::string_view key, std::vector<std::string> words);
  // It was answered.
  void End(size_t operation, store::Reply reply);
  // It certainly did not happen: it was not sent, or it was refused before it did anything.
  void Forget(size_t operation);

  // In the order of beginning, those forgotten left out.
  std::vector<HistoryOperation> operations() const;

 private:
  struct Entry {
    HistoryOperation operation;
    bool forgotten = false;
  };

  int64_t now_ = 0;
  std::vector<Entry> entries_;
};

// Writes the commands that pass into a history: those of one key. A command that fails with "not
// sent", or is answered with an error, is forgotten; one whose outcome is unknown stays open.
class HistoryStore final : public store::InterceptingStore {
 public:
  // All must outlive the store.
  HistoryStore(store::Store& inner, History& history, std::string client)
      : InterceptingStore(inner), history_(history), client_(std::move(client)) {}

 private:
  bool Intercepts(const store::Request& request) override;
  base::Task<absl::StatusOr<store::Reply>> Intercept(const store::Request& request) override;

  History& history_;
  const std::string client_;
};

}  // namespace redouble::sim

#endif  // REDOUBLE_SIM_CHECK_HISTORY_H_
