// PING, ECHO, SELECT.
#include "backends/memory/commands/argument.h"
#include "backends/memory/engine.h"
#include "backends/memory/handlers.h"
#include "backends/memory/session.h"

namespace redouble::memory {

Reply HandlePing(CommandContext& context, Arguments arguments) {
  if (arguments.size() > 1) {
    return WrongArity("ping");
  }
  if (context.session().is_subscribed()) {
    return Reply::Array({Reply::Bulk("pong"), Reply::Bulk(arguments.empty() ? "" : arguments[0])});
  }
  return arguments.empty() ? Reply::Status("PONG") : Reply::Bulk(arguments[0]);
}

Reply HandleEcho(CommandContext&, Arguments arguments) { return Reply::Bulk(arguments[0]); }

Reply HandleSelect(CommandContext& context, Arguments arguments) {
  int32_t index;
  if (std::optional<Reply> error = ReadInt32(arguments[0], index)) return *std::move(error);
  if (context.engine().cluster() != nullptr && index != 0) {
    return Reply::Error("ERR SELECT is not allowed in cluster mode");
  }
  if (index < 0 || index >= context.engine().database_count()) {
    return Reply::Error(error_text::kDbIndexOutOfRange);
  }
  context.session().Select(index);
  return Reply::Ok();
}

}  // namespace redouble::memory
