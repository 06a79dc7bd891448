#include "redouble/core/gateway/rate_limiter.h"

#include <string>
#include <utility>
#include <vector>

#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/gateway/control_state.h"
#include "redouble/core/gateway/keys.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/store/decode.h"
#include "redouble/core/store/typed/keys.h"

namespace redouble::gateway {
namespace {

using store::Batch;
using store::CommandId;
using store::Reply;

// The new count. An error of EXPIRE fails the check too, although its value is not used.
absl::StatusOr<int64_t> CountOf(absl::StatusOr<std::vector<Reply>> replies) {
  REDOUBLE_ASSIGN_OR_RETURN(std::vector<Reply> elements, std::move(replies));
  REDOUBLE_RETURN_IF_ERROR(store::FirstError(elements));
  return store::DecodeInteger(std::move(elements.front()));
}

}  // namespace

base::Task<absl::StatusOr<RateLimitDecision>> RateLimiter::CheckRequestRateLimit(
    std::string_view key_id, std::optional<int32_t> limit, absl::Time now) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string key, RequestRateKey(key_id, now));
  if (!limit) co_return RateLimitDecision();

  Batch hit(Batch::Atomicity::kTransaction);
  hit.Add(CommandId::kIncr, {key});
  hit.Add(CommandId::kExpire, {key}).AddInteger(absl::ToInt64Seconds(RequestRateTtl()));
  const absl::StatusOr<int64_t> count = CountOf(co_await store::Execute(store_, hit));
  if (!count.ok()) co_return ControlStateUnavailable(count.status());

  RateLimitDecision decision;
  decision.count = *count;
  if (*count <= *limit) co_return decision;

  decision.outcome = RateLimitDecision::Outcome::kExceeded;
  const absl::StatusOr<int64_t> ttl_seconds = co_await store::TtlSeconds(store_, key);
  if (!ttl_seconds.ok()) co_return ControlStateUnavailable(ttl_seconds.status());
  if (*ttl_seconds > 0) decision.retry_after_seconds = *ttl_seconds;
  co_return decision;
}

}  // namespace redouble::gateway
