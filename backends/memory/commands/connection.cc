// PING, ECHO, SELECT.
#include <limits>

#include "backends/memory/commands/argument.h"
#include "backends/memory/engine.h"
#include "backends/memory/handlers.h"
#include "backends/memory/session.h"
#include "core/base/redis_number.h"

namespace redouble::memory {

Reply HandlePing(CommandContext&, Arguments arguments) {
  if (arguments.size() > 1) {
    return Reply::Error("ERR wrong number of arguments for 'ping' command");
  }
  return arguments.empty() ? Reply::Status("PONG") : Reply::Bulk(arguments[0]);
}

Reply HandleEcho(CommandContext&, Arguments arguments) { return Reply::Bulk(arguments[0]); }

Reply HandleSelect(CommandContext& context, Arguments arguments) {
  const std::optional<int64_t> index = base::ParseInt64(arguments[0]);
  constexpr auto kMax = std::numeric_limits<int32_t>::max();
  constexpr auto kMin = std::numeric_limits<int32_t>::min();
  if (!index || *index > kMax || *index < kMin) {
    return Reply::Error(error_text::kNotAnInteger);
  }
  if (*index < 0 || *index >= context.engine().database_count()) {
    return Reply::Error(error_text::kDbIndexOutOfRange);
  }
  context.session().Select(static_cast<int>(*index));
  return Reply::Ok();
}

}  // namespace redouble::memory
