// Transactions as pipelines of MULTI, the commands and EXEC.
//
// A client of several servers sends a transaction in this form, because a server says why it
// discarded the transaction in its replies to the commands: the reply to EXEC is only EXECABORT.
//
//   std::vector<store::Command> commands = SpellOut(request.commands());
//   ...
//   store::Reply result = ResultOfSpelled(std::move(replies), is_refusal);
//
// Thread-safety: free functions on values.
#ifndef REDOUBLE_BACKENDS_REDIS_FSM_CLUSTER_SPELLED_TRANSACTION_H_
#define REDOUBLE_BACKENDS_REDIS_FSM_CLUSTER_SPELLED_TRANSACTION_H_

#include <span>
#include <vector>

#include "absl/functional/function_ref.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/reply.h"

namespace redouble::inline v0_1::redis {

// A command with the same words. Its arguments are views of the words of `command`.
store::Command SameAs(const store::Command& command);

// MULTI, the commands and EXEC. The arguments are views, as above.
std::vector<store::Command> SpellOut(std::span<const store::Command> commands);

// The reply of the transaction, from the replies to its commands; there is at least one. That is
// the reply to EXEC or, if EXEC failed, the first earlier reply for which `is_cause` holds: a
// server runs no command of a discarded transaction.
store::Reply ResultOfSpelled(std::vector<store::Reply> replies,
                             absl::FunctionRef<bool(const store::Reply&)> is_cause);

}  // namespace redouble::inline v0_1::redis

#endif  // REDOUBLE_BACKENDS_REDIS_FSM_CLUSTER_SPELLED_TRANSACTION_H_
