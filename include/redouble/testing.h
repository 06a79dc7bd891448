// What a GoogleTest suite includes: an embedded Redis with a clock, matchers and injected faults.
//
//   TEST(Cart, ForgetsAfterHalfAnHour) {
//     redouble::testing::Redis redis;
//     const auto client = redis.Connect();
//     Cart cart(*client);
//     redis.Await(cart.Add("alice", "book"));
//     redis.AdvanceBy(absl::Minutes(30) + absl::Milliseconds(1));
//     EXPECT_THAT(redis, redouble::testing::KeyspaceIs("{}"));
//   }
//
// OnBothBackends<Backend> is a typed fixture that runs each test on the memory engine and on a
// redis-server that it starts, with the same held clock.
//
// REDOUBLE_EXPLORE(Suite, Name) { ... } is a test case that runs a small system under many
// schedules (sim/testing/explore.h).
//
// Thread-safety: one thread.
#ifndef REDOUBLE_TESTING_H_
#define REDOUBLE_TESTING_H_

#include "redouble/version.h"

#if REDOUBLE_HAS_CPP20

#include "redouble/backends/testing/backends.h"
#include "redouble/sim/testing/explore.h"
#include "redouble/sim/testing/matchers.h"
#include "redouble/sim/testing/redis.h"

namespace redouble::inline v0_1::testing {

using tests::BackendNames;
using tests::Backends;
template <typename Backend>
using OnBothBackends = tests::BackendTest<Backend>;

}  // namespace redouble::inline v0_1::testing

#endif  // REDOUBLE_HAS_CPP20

#endif  // REDOUBLE_TESTING_H_
