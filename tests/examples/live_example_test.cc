// The same code on live Redis.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/backends/redis/net/client/sync_client.h"
#include "redouble/backends/redis/spawn/spawned_server.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/base/time/system_clock.h"
#include "redouble/core/gateway/rate_limiter.h"

namespace redouble {
namespace {

constexpr char kKeyId[] = "018f8d31-86a7-7c48-8f36-4d1fa4d99101";

// [readme: live]
absl::StatusOr<bool> Admit(std::string_view uri) {  // "redis://user:password@host:6379/0"
  const base::SystemClock clock;
  absl::StatusOr<std::unique_ptr<redis::SyncClient>> redis =
      redis::SyncClient::Connect(uri, redis::Sharing::kShared);
  if (!redis.ok()) return redis.status();
  gateway::RateLimiter limiter(**redis);
  const auto decision = base::Run(limiter.CheckRequestRateLimit(kKeyId, 60, clock.Now()));
  if (!decision.ok()) return decision.status();
  return decision->outcome == gateway::RateLimitDecision::Outcome::kAllowed;
}
// [end]

TEST(LiveExample, AdmitsOnARealServer) {
  const auto server = redis::SpawnedServer::Start();
  ASSERT_TRUE(server.ok()) << server.status();
  const absl::StatusOr<bool> admitted = Admit((*server)->uri());
  ASSERT_TRUE(admitted.ok()) << admitted.status();
  EXPECT_TRUE(*admitted);
}

}  // namespace
}  // namespace redouble
