// A test of plain Redis commands on the embedded engine: the README's first example.
//
// The snippet is the whole of a user's file, so it has its includes and opens no namespace.
// [readme: a key expires]
#include "redouble/store.h"
#include "redouble/testing.h"

namespace store = redouble::store;
using redouble::testing::HasTtl;
using redouble::testing::Redis;

// The code under test takes a Store: the engine here, a live client in production.
redouble::base::Task<bool> MayLogIn(store::Store& redis, std::string_view user) {
  const absl::StatusOr<int64_t> tries = co_await store::Incr(redis, user);
  if (tries.ok() && *tries == 1) co_await store::ExpireIn(redis, user, absl::Minutes(15));
  co_return tries.ok() && *tries <= 3;
}

TEST(LogIn, IsRefusedAfterThreeTriesInAQuarterOfAnHour) {
  Redis redis;
  const auto client = redis.Connect();
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(redis.Await(MayLogIn(*client, "alice")));
  EXPECT_FALSE(redis.Await(MayLogIn(*client, "alice")));
  EXPECT_THAT(redis, HasTtl("alice", absl::Minutes(15)));

  redis.AdvanceBy(absl::Minutes(15));  // Redis keeps a key up to its deadline.
  EXPECT_FALSE(redis.Await(MayLogIn(*client, "alice")));
  redis.AdvanceBy(absl::Milliseconds(1));
  EXPECT_TRUE(redis.Await(MayLogIn(*client, "alice")));
}
// [end]
