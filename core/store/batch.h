// Batch: several commands for one trip to the store, as a pipeline or as a transaction.
//
//   Batch hit(Batch::Atomicity::kTransaction);
//   hit.Add(CommandId::kIncr, {key});
//   hit.Add(CommandId::kExpire, {key}).AddInteger(70);
//   absl::StatusOr<std::vector<Reply>> replies = co_await Execute(store, hit);
//
// A pipeline saves round trips and promises nothing more: other clients may run between its
// commands. A transaction is MULTI, the commands and EXEC in one write: nobody runs in between,
// and nothing is undone when one command fails.
//
// Thread-safety: a plain value.
#ifndef REDOUBLE_CORE_STORE_BATCH_H_
#define REDOUBLE_CORE_STORE_BATCH_H_

#include <initializer_list>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/status/statusor.h"
#include "core/base/task.h"
#include "core/store/command.h"
#include "core/store/reply.h"
#include "core/store/store.h"

namespace redouble::store {

class Batch {
 public:
  enum class Atomicity { kPipeline, kTransaction };

  explicit Batch(Atomicity atomicity) : atomicity_(atomicity) {}

  // Appends a command; the reference is good until the next Add.
  Command& Add(CommandId id, std::initializer_list<std::string_view> arguments = {}) {
    return commands_.emplace_back(id, arguments);
  }
  Command& Add(Command command) { return commands_.emplace_back(std::move(command)); }

  Atomicity atomicity() const { return atomicity_; }
  std::span<const Command> commands() const { return commands_; }
  bool empty() const { return commands_.empty(); }

 private:
  static constexpr size_t kInlineCommands = 2;

  Atomicity atomicity_;
  absl::InlinedVector<Command, kInlineCommands> commands_;
};

// Runs the batch: one round trip, none when it is empty. Gives one reply per command, in order;
// error replies are among them (FirstError in decode.h finds them).
//
// Errors: Aborted when the transaction did not run because a watched key changed; the status of
// the server's error when it refused the transaction (EXECABORT); otherwise as Store.
base::Task<absl::StatusOr<std::vector<Reply>>> Execute(Store& store, const Batch& batch);

}  // namespace redouble::store

#endif  // REDOUBLE_CORE_STORE_BATCH_H_
