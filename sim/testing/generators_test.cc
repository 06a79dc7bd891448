#include "redouble/sim/testing/generators.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "redouble/sim/testing/matchers.h"
#include "redouble/sim/testing/redis.h"

namespace redouble::inline v0_1::testing {
namespace {

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

TEST(Generators, ShrinkTheirWords) {
  const rc::Shrinkable<Words> command = rc::gen::container<Words>(Values())(rc::Random(3), 50);
  ASSERT_GT(command.value().size(), 1u);
  auto shrinks = command.shrinks();
  const auto smaller = shrinks.next();
  ASSERT_TRUE(smaller);
  EXPECT_LT(smaller->value().size(), command.value().size());
}

}  // namespace
}  // namespace redouble::inline v0_1::testing
