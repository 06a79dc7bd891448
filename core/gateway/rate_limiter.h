// RateLimiter: requests per UTC minute of one virtual key.
//
// A fixed window: each request adds one to the counter of its minute, and is allowed while the
// counter is not above the limit. A rejected request counts as well. Up to twice the limit can pass
// around the edge of a minute.
//
//   gateway::RateLimiter limiter(store);
//   absl::StatusOr<RateLimitDecision> decision =
//       co_await limiter.CheckRequestRateLimit(key_id, 60, clock.Now());
//   if (decision.ok() && decision->outcome == RateLimitDecision::Outcome::kExceeded) ...  // 429
//
// Thread-safety: as Store.
// Source: seed 002 "rl:req", reference/gateway.md 3.1.
#ifndef REDOUBLE_CORE_GATEWAY_RATE_LIMITER_H_
#define REDOUBLE_CORE_GATEWAY_RATE_LIMITER_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/base/task.h"
#include "core/store/store.h"

namespace redouble::gateway {

struct RateLimitDecision {
  enum class Outcome { kAllowed, kExceeded };
  Outcome outcome = Outcome::kAllowed;
  // Requests of the minute, this one included; 0 when there is no limit.
  int64_t count = 0;
  // Of a rejected request: the counter's TTL. The check has just set it, so this is 70, rarely 69,
  // and not what is left of the minute; none when the counter vanished meanwhile.
  std::optional<int64_t> retry_after_seconds;
};

class RateLimiter {
 public:
  // `store` must outlive the limiter.
  explicit RateLimiter(store::Store& store) : store_(store) {}

  // Counts a request of `key_id` at `now` and compares with `limit`; none means unlimited, 0 and
  // below reject every request. INCR and EXPIRE 70 in one transaction: one round trip, a second
  // (TTL) when the request is rejected, none without a limit.
  //
  // Errors: InvalidArgument when `key_id` is not a UUID in lower case, before anything is sent;
  // otherwise ControlStateUnavailable (control_state.h). A counter that is no integer, too large or
  // of another type refuses the request, and the transaction has still set its TTL.
  base::Task<absl::StatusOr<RateLimitDecision>> CheckRequestRateLimit(std::string_view key_id,
                                                                      std::optional<int32_t> limit,
                                                                      absl::Time now);

 private:
  store::Store& store_;
};

}  // namespace redouble::gateway

#endif  // REDOUBLE_CORE_GATEWAY_RATE_LIMITER_H_
