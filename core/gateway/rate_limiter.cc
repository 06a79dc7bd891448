#include "core/gateway/rate_limiter.h"

#include <string>
#include <utility>
#include <vector>

#include "core/gateway/control_state.h"
#include "core/gateway/keys.h"
#include "core/store/batch.h"
#include "core/store/decode.h"
#include "core/store/keys.h"

namespace redouble::gateway {
namespace {

using store::Batch;
using store::CommandId;
using store::Reply;

// The new count. An error of any element fails the check, also of EXPIRE, whose value nobody needs.
absl::StatusOr<int64_t> CountOf(absl::StatusOr<std::vector<Reply>> replies) {
  if (!replies.ok()) return replies.status();
  if (absl::Status error = store::FirstError(*replies); !error.ok()) return error;
  return store::DecodeInteger(std::move(replies->front()));
}

}  // namespace

base::Task<absl::StatusOr<RateLimitDecision>> RateLimiter::CheckRequestRateLimit(
    std::string_view key_id, std::optional<int32_t> limit, absl::Time now) {
  const absl::StatusOr<std::string> key = RequestRateKey(key_id, now);
  if (!key.ok()) co_return key.status();
  if (!limit) co_return RateLimitDecision();

  Batch hit(Batch::Atomicity::kTransaction);
  hit.Add(CommandId::kIncr, {*key});
  hit.Add(CommandId::kExpire, {*key}).AddInteger(absl::ToInt64Seconds(RequestRateTtl()));
  const absl::StatusOr<int64_t> count = CountOf(co_await store::Execute(store_, hit));
  if (!count.ok()) co_return ControlStateUnavailable(count.status());

  RateLimitDecision decision;
  decision.count = *count;
  if (*count <= *limit) co_return decision;

  decision.outcome = RateLimitDecision::Outcome::kExceeded;
  const absl::StatusOr<int64_t> ttl_seconds = co_await store::TtlSeconds(store_, *key);
  if (!ttl_seconds.ok()) co_return ControlStateUnavailable(ttl_seconds.status());
  if (*ttl_seconds > 0) decision.retry_after_seconds = *ttl_seconds;
  co_return decision;
}

}  // namespace redouble::gateway
