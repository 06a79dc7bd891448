// GoogleTest matchers for replies, errors and the contents of a testing::Redis.
//
//   EXPECT_THAT(redis.Do({"INCR", "n"}), ReplyIs(1));
//   EXPECT_THAT(redis.Do({"LPUSH", "n", "x"}), IsRedisError("WRONGTYPE"));
//   EXPECT_THAT(redis.Await(store::Get(*client, "missing")), IsOkAndHolds(IsNil()));
//   EXPECT_THAT(redis, HasTtl("session", absl::Seconds(70)));
//   EXPECT_THAT(redis, KeyspaceIs(R"({"n": "1", "q": ["a", "b"]})"));
//   EXPECT_THAT(redis, CommandsWere({"GET cart:1", "SET cart:1 book"}));
//
// IsOk, IsOkAndHolds, StatusIs and ValueOf are those of core/base/status/status_matchers.h.
//
// Thread-safety: no state; matchers of a Redis as that Redis.
#ifndef REDOUBLE_SIM_TESTING_MATCHERS_H_
#define REDOUBLE_SIM_TESTING_MATCHERS_H_

#include <gmock/gmock.h>

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/reply.h"
#include "redouble/sim/testing/redis.h"

namespace redouble::inline v0_1::testing {

using base::IsOk;
using base::IsOkAndHolds;
using base::StatusIs;
using base::ValueOf;

namespace internal {

inline bool IsNilValue(const store::Reply& reply) { return reply.is_nil(); }
template <typename T>
bool IsNilValue(const std::optional<T>& value) {
  return !value.has_value();
}

// The code of an error ("WRONGTYPE"), or nullopt if the value is no error of the server.
std::optional<std::string> RedisErrorCode(const store::Reply& reply);
std::optional<std::string> RedisErrorCode(const absl::Status& status);
template <typename T>
std::optional<std::string> RedisErrorCode(const absl::StatusOr<T>& result) {
  if constexpr (std::same_as<T, store::Reply>) {
    if (result.ok()) return RedisErrorCode(*result);
  }
  return RedisErrorCode(result.status());
}

// Returns whether `reply` has this value.
bool ReplyEquals(const store::Reply& reply, const store::Reply& expected);
bool ReplyEquals(const store::Reply& reply, int64_t expected);
// A bulk string or a status.
bool ReplyEquals(const store::Reply& reply, std::string_view expected);

// Returns how the keyspace of `redis` differs from `expected`: one line for each key that differs,
// is missing or is not expected; empty if nothing differs.
std::string KeyspaceDifference(const Redis& redis, std::string_view expected);

// Returns how a key's time to live differs from `expected`; empty if it does not.
std::string TtlDifference(const Redis& redis, std::string_view key, absl::Duration expected);

}  // namespace internal

// Matches a nil store::Reply, and an empty std::optional.
MATCHER(IsNil, negation ? "is not nil" : "is nil") { return internal::IsNilValue(arg); }

// Matches a store::Reply: by an integer, by the text of a bulk string or status, or by a Reply of
// the same type and value.
MATCHER_P(ReplyIs, expected, "") {
  *result_listener << "which is " << arg.DebugString();
  return internal::ReplyEquals(arg, expected);
}

// Matches an error reply, or an absl::Status or StatusOr made of one, by the code with which its
// text begins: "WRONGTYPE", "ERR".
MATCHER_P(IsRedisError, code, "") {
  const std::optional<std::string> actual = internal::RedisErrorCode(arg);
  *result_listener << (actual ? "which is the error " + *actual
                              : "which is no error of the server");
  return actual == code;
}

// Matches a Redis whose key has exactly this time to live, in milliseconds;
// absl::InfiniteDuration() for a key without an expiry.
MATCHER_P2(HasTtl, key, ttl, "") {
  const std::string difference = internal::TtlDifference(arg, key, ttl);
  *result_listener << difference;
  return difference.empty();
}

// Matches a Redis whose database 0 holds exactly these keys, given as a JSON object by key. A value
// has the form of Redis::Dump(), or is a string (a string key without expiry) or an array of
// strings (a list without expiry). The message has a line for each difference.
MATCHER_P(KeyspaceIs, json, "") {
  const std::string difference = internal::KeyspaceDifference(arg, json);
  *result_listener << difference;
  return difference.empty();
}

// Matches a Redis whose commands() are exactly these, in order.
inline auto CommandsWere(std::vector<std::string> commands) {
  return ::testing::ResultOf(
      "commands()", [](const Redis& redis) { return redis.commands(); },
      ::testing::ElementsAreArray(std::move(commands)));
}

}  // namespace redouble::inline v0_1::testing

#endif  // REDOUBLE_SIM_TESTING_MATCHERS_H_
