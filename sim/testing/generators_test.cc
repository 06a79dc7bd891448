#include "redouble/sim/testing/generators.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "redouble/sim/testing/matchers.h"
#include "redouble/sim/testing/redis.h"

namespace redouble::inline v0_1::testing {
namespace {

using ::testing::ElementsAre;

// A generated command may fail because a key has another type or a value is no number, but never
// because it is no command.
RC_GTEST_PROP(Generators, MakeCommandsThatRedisKnows, ()) {
  Redis redis;
  for (const Words& words : *rc::gen::container<std::vector<Words>>(Commands())) {
    const store::Reply reply = redis.Do(words);
    if (!reply.is_error()) continue;
    const std::string text(reply.text());
    RC_LOG(words[0] + ": " + text);
    RC_ASSERT(text.find("syntax error") == std::string::npos);
    RC_ASSERT(text.find("unknown command") == std::string::npos);
    RC_ASSERT(text.find("wrong number of arguments") == std::string::npos);
  }
}

RC_GTEST_PROP(Generators, AgreeWithTheSelectedType, ()) {
  Redis redis;
  for (const Words& words : *rc::gen::container<std::vector<Words>>(Commands({"hash"}))) {
    redis.Do(words);
  }
  for (const std::string& key : redis.Keys()) RC_ASSERT(redis.Type(key) == "hash");
}

// Draws `count` commands; equal seeds draw equal commands.
std::vector<Words> Draw(int count, uint64_t seed) {
  rc::Random random(seed);
  std::vector<Words> drawn;
  for (int i = 0; i < count; ++i) drawn.push_back(Commands()(random.split(), 20).value());
  return drawn;
}

TEST(Generators, DrawEveryTypeAndEqualProgramsForEqualSeeds) {
  std::set<std::string> names;
  for (const Words& words : Draw(2000, 7)) names.insert(words[0]);
  for (const char* name : {"DEL", "SET", "LPUSH", "SADD", "HSET", "ZADD", "XADD"}) {
    EXPECT_EQ(names.count(name), 1u) << name;
  }
  EXPECT_EQ(Draw(50, 7), Draw(50, 7));
  EXPECT_NE(Draw(50, 7), Draw(50, 8));
}

// What a property that always fails ends with: the first smaller value of the first smaller one...
template <typename T>
T Smallest(rc::Shrinkable<T> drawn) {
  while (true) {
    auto shrinks = drawn.shrinks();
    auto smaller = shrinks.next();
    if (!smaller) return drawn.value();
    drawn = *std::move(smaller);
  }
}

template <typename T>
std::set<T> SmallestOf(const rc::Gen<T>& generator) {
  std::set<T> smallest;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    smallest.insert(Smallest(generator(rc::Random(seed), 50)));
  }
  return smallest;
}

TEST(Generators, ShrinkToTheFirstWords) {
  EXPECT_THAT(SmallestOf(Keys()), ElementsAre("key:0"));
  EXPECT_THAT(SmallestOf(Members()), ElementsAre("a"));
  EXPECT_THAT(SmallestOf(Values()), ElementsAre("", "0"));
  EXPECT_THAT(SmallestOf(Commands({"hash"})), ElementsAre(Words{"HDEL", "key:0", "a"}));
}

TEST(Generators, ShrinkTheArgumentsOfACommand) {
  const rc::Gen<Words> increments = rc::gen::suchThat(
      Commands({"hash"}), [](const Words& words) { return words[0] == "HINCRBY"; });
  EXPECT_THAT(SmallestOf(increments), ElementsAre(Words{"HINCRBY", "key:0", "a", "0"}));
}

}  // namespace
}  // namespace redouble::inline v0_1::testing
