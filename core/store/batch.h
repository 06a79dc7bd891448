// Batch: several commands in one round trip, as a pipeline or as a transaction.
//
// Use a batch when an operation needs several commands and none depends on the reply of another;
// use a Script (script.h) when one does.
//
//   Batch hit(Batch::Atomicity::kTransaction);
//   hit.Add(CommandId::kIncr, {key});
//   hit.Add(CommandId::kExpire, {key}).AddInteger(70);
//   absl::StatusOr<std::vector<Reply>> replies = co_await Execute(store, hit);
//
// A pipeline only saves round trips: commands of other clients may run between its commands. A
// transaction is MULTI, the commands and EXEC in one write: no other client's command runs in
// between. A command that fails does not undo the others in either.
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
#include "redouble/core/base/task/task.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/reply.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::store {

class Batch {
 public:
  enum class Atomicity { kPipeline, kTransaction };

  explicit Batch(Atomicity atomicity) : atomicity_(atomicity) {}

  // Appends a command and returns it for more arguments; the reference is valid until the next Add.
  // The arguments must outlive the execution of the batch.
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

// Runs the batch and returns one reply per command, in order. One round trip; an empty batch takes
// no round trip and returns no replies. Store and batch must outlive the task.
//
// Replies may be error replies; FirstError in decode.h finds the first. Errors: Aborted if the
// transaction did not run because a watched key changed; the server's error (ServerError in
// errors.h) if it refused the transaction with EXECABORT; otherwise the errors of Store.
// Source: Redis 7.0 MULTI, EXEC.
base::Task<absl::StatusOr<std::vector<Reply>>> Execute(Store& store, const Batch& batch);

}  // namespace redouble::inline v0_1::store

#endif  // REDOUBLE_CORE_STORE_BATCH_H_
