// The timeout argument of blocking commands, as an absolute deadline.
//
// Use it in handlers that fill BlockedOperation::deadline_ms. Error texts are Redis's. Commands on
// lists and sorted sets take seconds with a fraction, commands on streams whole milliseconds.
//
//   BlockTimeout timeout = ReadTimeoutSeconds(context, arguments.back());
//   if (timeout.error) return *std::move(timeout.error);
//   operation.deadline_ms = timeout.deadline_ms;
//
// Thread-safety: pure functions.
// Source: Redis 7.0 BLPOP, XREAD.
#ifndef REDOUBLE_BACKENDS_MEMORY_COMMANDS_BLOCK_TIMEOUT_H_
#define REDOUBLE_BACKENDS_MEMORY_COMMANDS_BLOCK_TIMEOUT_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "redouble/backends/memory/engine/command_context.h"

namespace redouble::inline v0_1::memory {

struct BlockTimeout {
  std::optional<int64_t> deadline_ms = std::nullopt;  // nullopt: no timeout.
  std::optional<Reply> error = std::nullopt;
};

// Seconds with a fraction, rounded up to milliseconds; 0: no timeout. BLPOP, BZPOPMIN and others.
BlockTimeout ReadTimeoutSeconds(const CommandContext& context, std::string_view text);
// Whole milliseconds; 0: no timeout. XREAD BLOCK.
BlockTimeout ReadTimeoutMillis(const CommandContext& context, std::string_view text);

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_COMMANDS_BLOCK_TIMEOUT_H_
