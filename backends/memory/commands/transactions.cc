// MULTI, EXEC, DISCARD, WATCH, UNWATCH.
#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "redouble/backends/memory/commands/reply_array.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/engine/handlers.h"
#include "redouble/backends/memory/engine/permission.h"
#include "redouble/backends/memory/engine/session_core.h"

namespace redouble::inline v0_1::memory {
namespace {

// True if the client does not get the reply of a queued command, which has just run.
bool IsWithheld(const SessionCore& session, store::CommandId id, const Reply& reply) {
  using ReplyMode = SessionCore::ReplyMode;
  if (session.reply_mode() == ReplyMode::kOff) return true;
  // CLIENT REPLY SKIP suppresses its own reply, and the reply to the next command after EXEC.
  return session.reply_mode() == ReplyMode::kSkipNext && id == store::CommandId::kClientReply &&
         !reply.is_error();
}

// True if the client may not get the whole reply, or gets messages before it.
bool NeedsWholeReply(const SessionCore& session,
                     const std::vector<SessionCore::QueuedCommand>& queued) {
  using store::CommandId;
  constexpr std::array kCommands = {CommandId::kClientReply, CommandId::kHello,
                                    CommandId::kSubscribe, CommandId::kPSubscribe,
                                    CommandId::kSSubscribe};
  if (session.reply_mode() != SessionCore::ReplyMode::kOn) return true;
  if (session.protocol() == 3 && session.is_subscribed()) return true;
  return std::any_of(queued.begin(), queued.end(), [&](const SessionCore::QueuedCommand& command) {
    return std::find(kCommands.begin(), kCommands.end(), command.id) != kCommands.end();
  });
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
  if (NeedsWholeReply(session, queued)) session.GatherReplies();
  ReplyArray replies(context, Reply::Shape::kPlain, queued.size());
  SessionCore::Withheld withheld;
  withheld.head = session.reply_mode() == SessionCore::ReplyMode::kOff;
  session.set_runs_atomically(true);
  for (const SessionCore::QueuedCommand& command : queued) {
    std::optional<Reply> refusal =
        RefuseByAcl(context.engine(), session, command.id, command.arguments, CheckPlace::kExec);
    Reply reply = refusal
                      ? *std::move(refusal)
                      : context.engine().Call(session, command.id, command.name, command.arguments);
    if (IsWithheld(session, command.id, reply)) withheld.elements.push_back(replies.size());
    replies.AddReplyOfCall(std::move(reply));
  }
  session.set_runs_atomically(false);
  if (withheld.head || !withheld.elements.empty()) session.set_withheld(std::move(withheld));
  return std::move(replies).Finish();
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

}  // namespace redouble::inline v0_1::memory
