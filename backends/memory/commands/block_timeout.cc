#include "backends/memory/commands/block_timeout.h"

#include <cmath>
#include <limits>

#include "core/base/redis_number.h"

namespace redouble::memory {
namespace {

constexpr int64_t kMaxMillis = std::numeric_limits<int64_t>::max();
constexpr std::string_view kOutOfRange = "ERR timeout is out of range";

BlockTimeout FromMillis(int64_t timeout_ms, int64_t now_ms) {
  if (timeout_ms < 0) return {.error = Reply::Error("ERR timeout is negative")};
  if (timeout_ms == 0) return {};
  if (timeout_ms > kMaxMillis - now_ms) return {.error = Reply::Error(kOutOfRange)};
  return {.deadline_ms = now_ms + timeout_ms, .error = std::nullopt};
}

}  // namespace

BlockTimeout ReadTimeoutSeconds(std::string_view text, int64_t now_ms) {
  const std::optional<long double> seconds = base::ParseLongDouble(text);
  if (!seconds) return {.error = Reply::Error("ERR timeout is not a float or out of range")};
  const long double millis = *seconds * 1000;
  if (millis > static_cast<long double>(kMaxMillis)) return {.error = Reply::Error(kOutOfRange)};
  // Any time before now is as negative as any other.
  if (millis < 0) return FromMillis(-1, now_ms);
  return FromMillis(static_cast<int64_t>(std::ceil(millis)), now_ms);
}

BlockTimeout ReadTimeoutMillis(std::string_view text, int64_t now_ms) {
  const std::optional<int64_t> timeout_ms = base::ParseInt64(text);
  if (!timeout_ms) {
    return {.error = Reply::Error("ERR timeout is not an integer or out of range")};
  }
  // Redis lets the sum overflow, to a moment long ago.
  if (*timeout_ms > kMaxMillis - now_ms) return {.deadline_ms = now_ms - 1, .error = std::nullopt};
  return FromMillis(*timeout_ms, now_ms);
}

}  // namespace redouble::memory
