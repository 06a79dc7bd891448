#include "redouble/core/gateway/rate_limiter.h"

#include <string>
#include <utility>
#include <vector>

#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/gateway/errors.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/store/decode.h"
#include "redouble/core/store/typed/keys.h"

namespace redouble::inline v0_1::gateway {
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

// What is added to the counter of a minute, and the limit that it is compared with.
struct RateLimiter::Hit {
  std::string key;
  std::optional<int64_t> tokens;  // Nullopt: one request.
  int64_t limit = 0;
  absl::Duration ttl;
};

base::Task<absl::StatusOr<RateLimitDecision>> RateLimiter::CheckRequestRateLimit(
    std::string_view key_id, std::optional<int32_t> limit, absl::Time now) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(std::string key, keys_.RequestRate(key_id, now));
  if (!limit) co_return RateLimitDecision();
  Hit hit = {std::move(key), std::nullopt, *limit, RequestRateTtl()};
  co_return co_await Count(std::move(hit));
}

base::Task<absl::StatusOr<RateLimitDecision>> RateLimiter::CheckTokenRateLimit(
    std::string_view key_id, std::optional<int64_t> limit, int64_t tokens, absl::Time now) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(std::string key, keys_.TokenRate(key_id, now));
  if (!limit || tokens <= 0) co_return RateLimitDecision();
  Hit hit = {std::move(key), tokens, *limit, TokenRateTtl()};
  co_return co_await Count(std::move(hit));
}

base::Task<absl::StatusOr<RateLimitDecision>> RateLimiter::Count(Hit hit) {
  Batch batch(Batch::Atomicity::kTransaction);
  if (hit.tokens) {
    batch.Add(CommandId::kIncrBy, {hit.key}).AddInteger(*hit.tokens);
  } else {
    batch.Add(CommandId::kIncr, {hit.key});
  }
  batch.Add(CommandId::kExpire, {hit.key}).AddInteger(absl::ToInt64Seconds(hit.ttl));
  const absl::StatusOr<int64_t> count = CountOf(co_await store::Execute(store_, batch));
  if (!count.ok()) co_return ControlStateUnavailable(count.status());

  RateLimitDecision decision;
  decision.count = *count;
  if (*count <= hit.limit) co_return decision;

  decision.outcome = RateLimitDecision::Outcome::kExceeded;
  const absl::StatusOr<int64_t> ttl_seconds = co_await store::TtlSeconds(store_, hit.key);
  if (!ttl_seconds.ok()) co_return ControlStateUnavailable(ttl_seconds.status());
  if (*ttl_seconds > 0) decision.retry_after_seconds = *ttl_seconds;
  co_return decision;
}

}  // namespace redouble::inline v0_1::gateway
