// RateLimiter: fixed-window limits of the requests and of the tokens per UTC minute of one virtual
// key.
//
// Each request increments the counter of its minute, and is allowed while the counter is not above
// the limit. A rejected request counts too. Up to twice the limit can pass around the start of a
// minute. The limit of tokens, which later releases of the original have, counts in the same way.
//
//   gateway::RateLimiter limiter(store);
//   absl::StatusOr<RateLimitDecision> decision =
//       co_await limiter.CheckRequestRateLimit(key_id, 60, clock.Now());
//   if (decision.ok() && decision->outcome == RateLimitDecision::Outcome::kExceeded) ...  // 429
//
// Thread-safety: as Store.
// Source: docs/systems/gateway.md 4.2 and 4.12.
#ifndef REDOUBLE_CORE_GATEWAY_RATE_LIMITER_H_
#define REDOUBLE_CORE_GATEWAY_RATE_LIMITER_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/gateway/keys.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::gateway {

struct RateLimitDecision {
  enum class Outcome { kAllowed, kExceeded };
  Outcome outcome = Outcome::kAllowed;
  // The number of requests or tokens in the minute, these included; 0 without a limit.
  int64_t count = 0;
  // For a rejected request: the TTL of the counter. The check has just set it, so this is 70 or, if
  // more than half a second has passed, 69; it is not the rest of the minute. Nullopt if the
  // counter has disappeared or lost its TTL.
  std::optional<int64_t> retry_after_seconds;
};

class RateLimiter {
 public:
  // `store` must outlive the limiter.
  explicit RateLimiter(store::Store& store, Keys keys = Keys()) : store_(store), keys_(keys) {}

  // Counts a request of `key_id` at `now` and compares the count with `limit`. Nullopt means
  // unlimited; a limit of 0 or less rejects every request.
  //
  // Round trips: 1 (INCR and EXPIRE 70 in one transaction), 2 if rejected (TTL), 0 without a limit.
  // Errors: InvalidArgument if `key_id` is not a UUID in lower case or the year of `now` does not
  // have four digits, before a command is sent; otherwise ControlStateUnavailable
  // (errors.h). A counter that is not an integer, too large or of another type is such an
  // error; the transaction has then still set its TTL. Source: docs/systems/gateway.md 4.2.
  base::Task<absl::StatusOr<RateLimitDecision>> CheckRequestRateLimit(std::string_view key_id,
                                                                      std::optional<int32_t> limit,
                                                                      absl::Time now);

  // As CheckRequestRateLimit, for `tokens` tokens. Without a limit, or with 0 tokens or less, sends
  // nothing and allows. Source: docs/systems/gateway.md 4.12.
  base::Task<absl::StatusOr<RateLimitDecision>> CheckTokenRateLimit(std::string_view key_id,
                                                                    std::optional<int64_t> limit,
                                                                    int64_t tokens, absl::Time now);

 private:
  struct Hit;

  base::Task<absl::StatusOr<RateLimitDecision>> Count(Hit hit);

  store::Store& store_;
  Keys keys_;
};

}  // namespace redouble::inline v0_1::gateway

#endif  // REDOUBLE_CORE_GATEWAY_RATE_LIMITER_H_
