// How long a blocking command may wait.
#ifndef REDOUBLE_BACKENDS_MEMORY_COMMANDS_BLOCK_TIMEOUT_H_
#define REDOUBLE_BACKENDS_MEMORY_COMMANDS_BLOCK_TIMEOUT_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "backends/memory/command_context.h"

namespace redouble::memory {

struct BlockTimeout {
  std::optional<int64_t> deadline_ms = std::nullopt;  // None: for ever.
  std::optional<Reply> error = std::nullopt;
};

// Seconds with a fraction, 0 for ever: BLPOP and its like. Rounded up to milliseconds.
BlockTimeout ReadTimeoutSeconds(std::string_view text, int64_t now_ms);
// Whole milliseconds, 0 for ever: XREAD BLOCK.
BlockTimeout ReadTimeoutMillis(std::string_view text, int64_t now_ms);

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_COMMANDS_BLOCK_TIMEOUT_H_
