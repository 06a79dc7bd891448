// History: the operations of several clients, with when each began and ended and what it returned.
//
// Use it to record a run for a consistency check: HistoryStore records the commands that pass
// through it, and CheckLinearizable (sim/check/linearizability.h) searches the history for a valid
// order.
//
//   sim::History history;
//   world.Spawn("a", [&](sim::Actor& actor) -> base::Task<void> {
//     sim::HistoryStore store(actor.store(), history, actor.name());
//     co_await store::Incr(store, "n");
//   });
//   world.Run();
//   sim::CheckLinearizable(history, sim::CounterModel());
//
// Operations above the level of commands (for example reserving a budget) are recorded with Begin
// and End, as words and a reply that the caller's own model understands.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_CHECK_HISTORY_H_
#define REDOUBLE_SIM_CHECK_HISTORY_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/store/reply.h"
#include "redouble/core/store/store.h"
#include "redouble/core/store/wrappers/intercepting_store.h"

namespace redouble::inline v0_1::sim {

// One operation of a client on one object, with its start, end and reply.
struct HistoryOperation {
  std::string client;
  std::string key;  // The object of the operation. Keys are checked separately.
  // "INCRBY", "5": the name in upper case and the arguments without the key.
  std::vector<std::string> words;
  int64_t begun;  // Start, in the history's own ticks.
  // End, in ticks. Nullopt if there was no reply: the operation may have taken effect at any time
  // since it began, or never.
  std::optional<int64_t> ended;
  std::optional<store::Reply> reply;
};

class History {
 public:
  // Called when an operation begins (false) and ends (true).
  using Observer = std::function<void(bool ends)>;

  // The check depends on which operations ended before others began. A world that is searched
  // exhaustively must know of both (World::OnShared).
  void SetObserver(Observer observer) { observer_ = std::move(observer); }

  // Records the start of an operation and returns its number.
  size_t Begin(std::string_view client, std::string_view key, std::vector<std::string> words);
  // Records the reply, which ends the operation.
  void End(size_t operation, store::Reply reply);
  // Removes an operation that certainly had no effect: it was not sent, or it was refused.
  void Forget(size_t operation);

  // All operations in the order in which they began, without removed ones.
  std::vector<HistoryOperation> operations() const;

 private:
  struct Entry {
    HistoryOperation operation;
    bool forgotten = false;
  };

  int64_t now_ = 0;
  std::vector<Entry> entries_;
  Observer observer_;
};

// Records the commands that pass through it and have exactly one key. Those of one batch overlap. A
// command that fails with kNotSent, or that gets an error reply, is removed from the history; a
// command whose outcome is unknown has no end.
class HistoryStore : public store::InterceptingStore {
 public:
  // `inner` and `history` must outlive the store.
  HistoryStore(store::Store& inner, History& history, std::string client)
      : InterceptingStore(inner), history_(history), client_(std::move(client)) {}

 private:
  bool Intercepts(const store::Request& request) override;
  base::Task<absl::StatusOr<store::Reply>> Intercept(const store::Request& request) override;

  // Returns nullopt for a command without exactly one key.
  std::optional<size_t> Begin(const store::Command& command);
  void End(size_t operation, const store::Reply& reply);

  History& history_;
  const std::string client_;
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_CHECK_HISTORY_H_
