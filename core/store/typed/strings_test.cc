#include "redouble/core/store/typed/strings.h"

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/testing/fake_store.h"

namespace redouble::inline v0_1::store {
namespace {

using base::IsOkAndHolds;

using Words = FakeStore::Words;
using Condition = SetOptions::Condition;
using Pairs = std::array<std::pair<std::string_view, std::string_view>, 2>;

constexpr std::array<std::string_view, 2> kKeys = {"a", "b"};
constexpr Pairs kPairs = {{{"a", "1"}, {"b", "2"}}};

TEST(Strings, Get) {
  const auto get = [](Store& store) { return Get(store, "k"); };
  EXPECT_THAT(Ask({"GET", "k"}, Reply::Bulk("v"), get), IsOkAndHolds("v"));
  EXPECT_THAT(Ask({"GET", "k"}, Reply::Nil(), get), IsOkAndHolds(std::nullopt));
}

TEST(Strings, Set) {
  const auto set = [](Store& store) { return Set(store, "k", "v"); };
  EXPECT_THAT(Ask({"SET", "k", "v"}, Reply::Ok(), set), IsOkAndHolds(true));
}

TEST(Strings, SetWithOptions) {
  const auto set = [](SetOptions options) {
    return [options](Store& store) { return Set(store, "k", "v", options); };
  };
  EXPECT_THAT(Ask({"SET", "k", "v", "NX"}, Reply::Nil(), set({.condition = Condition::kIfAbsent})),
              IsOkAndHolds(false));
  EXPECT_THAT(Ask({"SET", "k", "v", "XX", "KEEPTTL"}, Reply::Ok(),
                  set({.condition = Condition::kIfPresent, .keep_ttl = true})),
              IsOkAndHolds(true));
  EXPECT_THAT(Ask({"SET", "k", "v", "EX", "3600"}, Reply::Ok(),
                  set({.expiry = Expiry::In(absl::Hours(1))})),
              IsOkAndHolds(true));
  EXPECT_THAT(Ask({"SET", "k", "v", "NX", "PXAT", "1700000000001"}, Reply::Ok(),
                  set({.condition = Condition::kIfAbsent,
                       .expiry = Expiry::At(absl::FromUnixMillis(1'700'000'000'001))})),
              IsOkAndHolds(true));
}

// The goal: options in braces inside a co_await expression are safe with g++ 12, which destroys
// such temporaries twice: destroying SetOptions has no effect.
TEST(Strings, SetWithOptionsInBracesInsideACoroutine) {
  static_assert(std::is_trivially_destructible_v<SetOptions>);
  FakeStore store;
  store.Expect({"SET", "k", "v", "NX", "EX", "5"}, Reply::Ok());
  const auto set = [](Store& store) -> base::Task<bool> {
    const auto result =
        co_await Set(store, "k", "v",
                     {.condition = Condition::kIfAbsent, .expiry = Expiry::In(absl::Seconds(5))});
    co_return *result;
  };
  EXPECT_TRUE(base::Run(set(store)));
}

TEST(Strings, SetAndGet) {
  const auto set = [](Store& store) {
    return SetAndGet(store, "k", "v", {.condition = Condition::kIfPresent});
  };
  EXPECT_THAT(Ask({"SET", "k", "v", "XX", "GET"}, Reply::Bulk("old"), set), IsOkAndHolds("old"));
  EXPECT_THAT(Ask({"SET", "k", "v", "XX", "GET"}, Reply::Nil(), set), IsOkAndHolds(std::nullopt));
}

TEST(Strings, GetEx) {
  const auto get = [](Expiry expiry) {
    return [expiry](Store& store) { return GetEx(store, "k", expiry); };
  };
  EXPECT_THAT(Ask({"GETEX", "k"}, Reply::Bulk("v"), get(Expiry())), IsOkAndHolds("v"));
  EXPECT_THAT(Ask({"GETEX", "k", "PERSIST"}, Reply::Bulk("v"), get(Expiry::Persist())),
              IsOkAndHolds("v"));
  EXPECT_THAT(Ask({"GETEX", "k", "PX", "1"}, Reply::Nil(), get(Expiry::In(absl::Milliseconds(1)))),
              IsOkAndHolds(std::nullopt));
}

TEST(Strings, GetDel) {
  EXPECT_THAT(
      Ask({"GETDEL", "k"}, Reply::Bulk("v"), [](Store& store) { return GetDel(store, "k"); }),
      IsOkAndHolds("v"));
}

TEST(Strings, MGet) {
  const auto get = [](Store& store) { return MGet(store, kKeys); };
  EXPECT_THAT(Ask({"MGET", "a", "b"}, Reply::Array({Reply::Bulk("1"), Reply::Nil()}), get),
              IsOkAndHolds((std::vector<std::optional<std::string>>{"1", std::nullopt})));
}

TEST(Strings, GetEachReadsAllKeysAtOnce) {
  const std::vector<std::string> keys = {"a", "list", "missing"};
  FakeStore store;
  store.ExpectBatch(Request::Kind::kPipeline, {{"GET", "a"}, {"GET", "list"}, {"GET", "missing"}},
                    Reply::Array({Reply::Bulk("1"), Reply::Error("WRONGTYPE no"), Reply::Nil()}));
  const auto values = base::Run(GetEach(store, keys));
  ASSERT_THAT(values, base::IsOk());
  ASSERT_EQ(values->size(), 3u);
  EXPECT_THAT((*values)[0], IsOkAndHolds("1"));
  EXPECT_EQ((*values)[1].status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT((*values)[2], IsOkAndHolds(std::nullopt));
}

TEST(Strings, GetEachTakesARoundTripForEach400Keys) {
  std::vector<std::string> keys;
  std::vector<Words> gets;
  for (int i = 0; i < 401; ++i) {
    keys.push_back("k" + std::to_string(i));
    gets.push_back({"GET", keys.back()});
  }
  FakeStore store;
  store.ExpectBatch(Request::Kind::kPipeline, {gets.begin(), gets.end() - 1},
                    Reply::Array(std::vector<Reply>(400, Reply::Nil())));
  store.ExpectBatch(Request::Kind::kPipeline, {gets.back()}, NotSentError("not connected"));
  EXPECT_EQ(base::Run(GetEach(store, keys)).status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(base::Run(GetEach(store, {})), IsOkAndHolds(testing::IsEmpty()));
}

TEST(Strings, MSet) {
  const auto set = [](Store& store) { return MSet(store, kPairs); };
  EXPECT_TRUE(Ask({"MSET", "a", "1", "b", "2"}, Reply::Ok(), set).ok());
}

TEST(Strings, MSetNx) {
  const auto set = [](Store& store) { return MSetNx(store, kPairs); };
  EXPECT_THAT(Ask({"MSETNX", "a", "1", "b", "2"}, Reply::Integer(1), set), IsOkAndHolds(true));
  EXPECT_THAT(Ask({"MSETNX", "a", "1", "b", "2"}, Reply::Integer(0), set), IsOkAndHolds(false));
}

TEST(Strings, AppendAndStrLen) {
  EXPECT_THAT(Ask({"APPEND", "k", "v"}, Reply::Integer(4),
                  [](Store& store) { return Append(store, "k", "v"); }),
              IsOkAndHolds(4));
  EXPECT_THAT(
      Ask({"STRLEN", "k"}, Reply::Integer(4), [](Store& store) { return StrLen(store, "k"); }),
      IsOkAndHolds(4));
}

TEST(Strings, GetRangeAndSetRange) {
  EXPECT_THAT(Ask({"GETRANGE", "k", "0", "-1"}, Reply::Bulk("v"),
                  [](Store& store) { return GetRange(store, "k", 0, -1); }),
              IsOkAndHolds("v"));
  EXPECT_THAT(Ask({"SETRANGE", "k", "5", "v"}, Reply::Integer(6),
                  [](Store& store) { return SetRange(store, "k", 5, "v"); }),
              IsOkAndHolds(6));
}

TEST(Strings, Counters) {
  EXPECT_THAT(Ask({"INCR", "k"}, Reply::Integer(1), [](Store& s) { return Incr(s, "k"); }),
              IsOkAndHolds(1));
  EXPECT_THAT(Ask({"DECR", "k"}, Reply::Integer(-1), [](Store& s) { return Decr(s, "k"); }),
              IsOkAndHolds(-1));
  EXPECT_THAT(
      Ask({"INCRBY", "k", "-5"}, Reply::Integer(-5), [](Store& s) { return IncrBy(s, "k", -5); }),
      IsOkAndHolds(-5));
  EXPECT_THAT(
      Ask({"DECRBY", "k", "5"}, Reply::Integer(-5), [](Store& s) { return DecrBy(s, "k", 5); }),
      IsOkAndHolds(-5));
  EXPECT_THAT(Ask({"INCRBYFLOAT", "k", "5.0e3"}, Reply::Bulk("5000"),
                  [](Store& s) { return IncrByFloat(s, "k", "5.0e3"); }),
              IsOkAndHolds("5000"));
}

struct TypedCommand {
  Words words;
  std::function<absl::Status(Store&)> status_of;
};
template <typename Call>
std::function<absl::Status(Store&)> StatusOf(Call call) {
  return [call](Store& store) {
    auto result = base::Run(call(store));
    if constexpr (std::is_same_v<decltype(result), absl::Status>) {
      return result;
    } else {
      return result.status();
    }
  };
}
std::vector<TypedCommand> AllCommandsOfStrings() {
  return {
      {{"GET", "k"}, StatusOf([](Store& s) { return Get(s, "k"); })},
      {{"SET", "k", "v"}, StatusOf([](Store& s) { return Set(s, "k", "v"); })},
      {{"SET", "k", "v", "GET"}, StatusOf([](Store& s) { return SetAndGet(s, "k", "v"); })},
      {{"GETEX", "k"}, StatusOf([](Store& s) { return GetEx(s, "k", {}); })},
      {{"GETDEL", "k"}, StatusOf([](Store& s) { return GetDel(s, "k"); })},
      {{"MGET", "a", "b"}, StatusOf([](Store& s) { return MGet(s, kKeys); })},
      {{"MSET", "a", "1", "b", "2"}, StatusOf([](Store& s) { return MSet(s, kPairs); })},
      {{"MSETNX", "a", "1", "b", "2"}, StatusOf([](Store& s) { return MSetNx(s, kPairs); })},
      {{"APPEND", "k", "v"}, StatusOf([](Store& s) { return Append(s, "k", "v"); })},
      {{"STRLEN", "k"}, StatusOf([](Store& s) { return StrLen(s, "k"); })},
      {{"GETRANGE", "k", "0", "1"}, StatusOf([](Store& s) { return GetRange(s, "k", 0, 1); })},
      {{"SETRANGE", "k", "0", "v"}, StatusOf([](Store& s) { return SetRange(s, "k", 0, "v"); })},
      {{"INCR", "k"}, StatusOf([](Store& s) { return Incr(s, "k"); })},
      {{"INCRBY", "k", "1"}, StatusOf([](Store& s) { return IncrBy(s, "k", 1); })},
      {{"DECR", "k"}, StatusOf([](Store& s) { return Decr(s, "k"); })},
      {{"DECRBY", "k", "1"}, StatusOf([](Store& s) { return DecrBy(s, "k", 1); })},
      {{"INCRBYFLOAT", "k", "1"}, StatusOf([](Store& s) { return IncrByFloat(s, "k", "1"); })},
  };
}

TEST(Strings, GiveTheServersErrorTheStoresFailureOrAProtocolError) {
  for (const TypedCommand& command : AllCommandsOfStrings()) {
    FakeStore store;
    store.Expect(command.words, Reply::Error("WRONGTYPE Operation against a key"));
    EXPECT_EQ(command.status_of(store).code(), absl::StatusCode::kFailedPrecondition);
    store.Expect(command.words, NotSentError("not connected"));
    EXPECT_EQ(ErrorKindOf(command.status_of(store)), ErrorKind::kNotSent);
    store.Expect(command.words, Reply::Array({Reply::Integer(1)}));
    EXPECT_EQ(ErrorKindOf(command.status_of(store)), ErrorKind::kProtocol) << command.words[0];
  }
}

}  // namespace
}  // namespace redouble::inline v0_1::store
