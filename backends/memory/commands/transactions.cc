// MULTI, EXEC, DISCARD, WATCH, UNWATCH.
#include <optional>
#include <utility>
#include <vector>

#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/engine/handlers.h"
#include "redouble/backends/memory/engine/permission.h"
#include "redouble/backends/memory/engine/session_core.h"

namespace redouble::memory {
namespace {

// True if the client does not get the reply of a queued command, which has just run.
bool IsWithheld(const SessionCore& session, store::CommandId id, const Reply& reply) {
  using ReplyMode = SessionCore::ReplyMode;
  if (session.reply_mode() == ReplyMode::kOff) return true;
  // CLIENT REPLY SKIP suppresses its own reply, and the reply to the next command after EXEC.
  return session.reply_mode() == ReplyMode::kSkipNext && id == store::CommandId::kClientReply &&
         !reply.is_error();
}

}  // namespace

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
  SessionCore::Withheld withheld;
  withheld.head = session.reply_mode() == SessionCore::ReplyMode::kOff;
  session.set_runs_atomically(true);
  for (const SessionCore::QueuedCommand& command : queued) {
    std::optional<Reply> refusal =
        RefuseByAcl(context.engine(), session, command.id, command.arguments, CheckPlace::kExec);
    replies.push_back(
        refusal ? *std::move(refusal)
                : context.engine().Call(session, command.id, command.name, command.arguments));
    if (IsWithheld(session, command.id, replies.back())) {
      withheld.elements.push_back(replies.size() - 1);
    }
  }
  session.set_runs_atomically(false);
  if (withheld.head || !withheld.elements.empty()) session.set_withheld(std::move(withheld));
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
