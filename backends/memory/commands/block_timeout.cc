#include "redouble/backends/memory/commands/block_timeout.h"

#include <limits>

#include "redouble/backends/memory/compatibility/feature.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/core/base/text/redis_number.h"

namespace redouble::inline v0_1::memory {
namespace {

constexpr int64_t kMaxMillis = std::numeric_limits<int64_t>::max();

BlockTimeout Negative() { return {.error = Reply::Error("ERR timeout is negative")}; }

BlockTimeout OutOfRange() { return {.error = Reply::Error("ERR timeout is out of range")}; }

// A deadline out of range never passes, or is an error.
BlockTimeout FromMillis(const CommandContext& context, int64_t timeout_ms) {
  if (timeout_ms < 0) return Negative();
  const int64_t now_ms = context.now_ms();
  const bool is_checked = context.engine().Has(Feature::kTimeoutRange);
  if (is_checked && timeout_ms > kMaxMillis - now_ms) return OutOfRange();
  if (timeout_ms == 0 || timeout_ms > kMaxMillis - now_ms) return {};
  return {.deadline_ms = now_ms + timeout_ms, .error = std::nullopt};
}

}  // namespace

BlockTimeout ReadTimeoutSeconds(const CommandContext& context, std::string_view text) {
  const std::optional<base::Extended> seconds = base::ParseLongDouble(text);
  if (!seconds) return {.error = Reply::Error("ERR timeout is not a float or out of range")};
  // Rounded up: a negative timeout above -1 ms becomes 0, which means no timeout.
  const std::optional<int64_t> millis = (*seconds * base::Extended(1000)).CeilToInt64();
  const bool is_too_large = !millis && !seconds->is_negative();
  if (is_too_large && context.engine().Has(Feature::kTimeoutRange)) return OutOfRange();
  // Redis 7.0 converts an out-of-range number to the smallest integer.
  if (!millis) return Negative();
  return FromMillis(context, *millis);
}

BlockTimeout ReadTimeoutMillis(const CommandContext& context, std::string_view text) {
  const std::optional<int64_t> timeout_ms = base::ParseInt64(text);
  if (!timeout_ms) {
    return {.error = Reply::Error("ERR timeout is not an integer or out of range")};
  }
  const int64_t now_ms = context.now_ms();
  // In Redis 7.0 the sum overflows to a time in the past.
  const bool overflows = *timeout_ms > kMaxMillis - now_ms;
  if (overflows && !context.engine().Has(Feature::kTimeoutRange)) {
    return {.deadline_ms = now_ms - 1, .error = std::nullopt};
  }
  return FromMillis(context, *timeout_ms);
}

}  // namespace redouble::inline v0_1::memory
