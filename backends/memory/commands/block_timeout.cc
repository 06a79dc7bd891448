#include "redouble/backends/memory/commands/block_timeout.h"

#include <cmath>
#include <limits>

#include "redouble/core/base/text/redis_number.h"

namespace redouble::inline v0_1::memory {
namespace {

constexpr int64_t kMaxMillis = std::numeric_limits<int64_t>::max();

BlockTimeout Negative() { return {.error = Reply::Error("ERR timeout is negative")}; }

// A deadline out of range never passes.
BlockTimeout FromMillis(int64_t timeout_ms, int64_t now_ms) {
  if (timeout_ms < 0) return Negative();
  if (timeout_ms == 0 || timeout_ms > kMaxMillis - now_ms) return {};
  return {.deadline_ms = now_ms + timeout_ms, .error = std::nullopt};
}

}  // namespace

BlockTimeout ReadTimeoutSeconds(std::string_view text, int64_t now_ms) {
  const std::optional<long double> seconds = base::ParseLongDouble(text);
  if (!seconds) return {.error = Reply::Error("ERR timeout is not a float or out of range")};
  // Rounded up: a negative timeout above -1 ms becomes 0, which means no timeout.
  const long double millis = std::ceil(*seconds * 1000);
  // Redis converts an out-of-range number to the smallest integer.
  if (millis < 0 || millis > static_cast<long double>(kMaxMillis)) return Negative();
  return FromMillis(static_cast<int64_t>(millis), now_ms);
}

BlockTimeout ReadTimeoutMillis(std::string_view text, int64_t now_ms) {
  const std::optional<int64_t> timeout_ms = base::ParseInt64(text);
  if (!timeout_ms) {
    return {.error = Reply::Error("ERR timeout is not an integer or out of range")};
  }
  // In Redis the sum overflows to a time in the past.
  if (*timeout_ms > kMaxMillis - now_ms) return {.deadline_ms = now_ms - 1, .error = std::nullopt};
  return FromMillis(*timeout_ms, now_ms);
}

}  // namespace redouble::inline v0_1::memory
