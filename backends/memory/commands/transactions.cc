// MULTI, EXEC, DISCARD, WATCH, UNWATCH.
#include <optional>
#include <utility>
#include <vector>

#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/engine/handlers.h"
#include "redouble/backends/memory/engine/permission.h"
#include "redouble/backends/memory/engine/session_core.h"

namespace redouble::memory {

Reply HandleMulti(CommandContext& context, Arguments) {
  if (context.session().in_transaction()) {
    return Reply::Error("ERR MULTI calls can not be nested");
  }
  context.session().BeginTransaction();
  return Reply::Ok();
}

Reply HandleExec(CommandContext& context, Arguments) {
  SessionCore& session = context.session();
  if (!session.in_transaction()) return Reply::Error("ERR EXEC without MULTI");
  const bool refused = session.refused_in_transaction();
  const bool watch_failed = session.watch_failed();
  const std::vector<SessionCore::QueuedCommand> queued = session.EndTransaction();
  if (refused) return Reply::Error(error_text::kExecAbort);
  if (watch_failed) return Reply::NilArray();
  std::vector<Reply> replies;
  replies.reserve(queued.size());
  session.set_runs_atomically(true);
  for (const SessionCore::QueuedCommand& command : queued) {
    std::optional<Reply> refusal =
        RefuseByAcl(context.engine(), session, command.id, command.arguments, CheckPlace::kExec);
    replies.push_back(
        refusal ? *std::move(refusal)
                : context.engine().Call(session, command.id, command.name, command.arguments));
  }
  session.set_runs_atomically(false);
  return Reply::Array(std::move(replies));
}

Reply HandleDiscard(CommandContext& context, Arguments) {
  if (!context.session().in_transaction()) return Reply::Error("ERR DISCARD without MULTI");
  context.session().EndTransaction();
  return Reply::Ok();
}

Reply HandleWatch(CommandContext& context, Arguments arguments) {
  if (context.session().in_transaction()) {
    return Reply::Error("ERR WATCH inside MULTI is not allowed");
  }
  for (const std::string_view key : arguments) context.session().Watch(key);
  return Reply::Ok();
}

Reply HandleUnwatch(CommandContext& context, Arguments) {
  context.session().Unwatch();
  return Reply::Ok();
}

}  // namespace redouble::memory
