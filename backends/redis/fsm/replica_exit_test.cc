#include "redouble/backends/redis/fsm/replica_exit.h"

#include <gtest/gtest.h>

namespace redouble::inline v0_1::redis {
namespace {

using store::Reply;

TEST(ReplicaExit, FollowsReadonlyErrorsOnly) {
  EXPECT_TRUE(IsReadOnly(Reply::Error("READONLY You can't write against a read only replica.")));
  EXPECT_FALSE(IsReadOnly(Reply::Error("READONLYNESS of a script")));
  EXPECT_FALSE(IsReadOnly(Reply::Bulk("READONLY is a command")));
}

TEST(ReplicaExit, LeavesAServerOnceInTheInterval) {
  ReplicaExit exit(100);
  EXPECT_TRUE(exit.Take(5));
  EXPECT_FALSE(exit.Take(6));
  EXPECT_FALSE(exit.Take(104));
  EXPECT_TRUE(exit.Take(105));
}

TEST(ReplicaExit, NeverLeavesAServerWithoutAName) {
  const auto interval_us = [](const char* uri) {
    return ReplicaExit::IntervalUs(Options::Parse(uri).value());
  };
  EXPECT_EQ(interval_us("redis://cache.example?backoff_cap=2s"), 2'000'000);
  EXPECT_EQ(interval_us("redis://10.0.0.1"), kNeverUs);
  EXPECT_EQ(interval_us("unix:///run/redis.sock"), kNeverUs);
  EXPECT_FALSE(ReplicaExit(kNeverUs).Take(kNeverUs - 1));
}

}  // namespace
}  // namespace redouble::inline v0_1::redis
