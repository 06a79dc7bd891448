// Goal: an engine that obeys a log or a master decides nothing by itself.
#include "redouble/backends/memory/append_only/effect_runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "redouble/backends/memory/engine/session_for_test.h"
#include "redouble/core/base/time/virtual_clock.h"

namespace redouble::inline v0_1::memory {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;

using Authority = EngineCore::Authority;

constexpr std::string_view kPast = "1600000000000";

class Counter final : public EffectSink {
 public:
  void OnEffects(std::span<const Effect> effects, bool) override {
    for (const Effect& effect : effects) words.push_back(effect.words[0]);
  }
  std::vector<std::string> words;
};

class EffectRunnerTest : public testing::Test {
 protected:
  std::string Ask(std::vector<std::string_view> words) { return session_.Send(std::move(words)); }
  static std::string Run(EffectRunner& runner, std::vector<std::string_view> words) {
    return runner.Run(words).DebugString();
  }

  base::VirtualClock clock_{absl::FromUnixSeconds(1'700'000'000)};
  Engine engine_{clock_};
  RecordingSession session_{engine_};
};

TEST_F(EffectRunnerTest, KeepsFieldsWhoseDeadlineHasPassed) {
  Engine engine(clock_, {.compatibility = store::Version::kRedis80});
  RecordingSession session(engine);
  {
    EffectRunner runner(engine, Authority::kMaster);
    Run(runner, {"HSET", "h", "a", "1", "b", "1", "c", "1"});
    EXPECT_EQ(Run(runner, {"HPEXPIREAT", "h", kPast, "FIELDS", "1", "a"}), "[1]");
    EXPECT_EQ(Run(runner, {"HPEXPIRE", "h", "10", "FIELDS", "1", "b"}), "[1]");
    clock_.Advance(absl::Seconds(1));
    EXPECT_EQ(Run(runner, {"HLEN", "h"}), "3");
    EXPECT_EQ(Run(runner, {"HPERSIST", "h", "FIELDS", "1", "b"}), "[1]");
  }
  EXPECT_EQ(session.Send({"HKEYS", "h"}), "[\"b\", \"c\"]");
}

TEST_F(EffectRunnerTest, KeepsKeysWhoseDeadlineHasPassed) {
  {
    EffectRunner runner(engine_, Authority::kLog);
    Run(runner, {"SET", "a", "1"});
    EXPECT_EQ(Run(runner, {"PEXPIREAT", "a", kPast}), "1");
    EXPECT_EQ(Run(runner, {"INCR", "a"}), "2");
    Run(runner, {"SET", "b", "1"});
    EXPECT_EQ(Run(runner, {"GETEX", "b", "PXAT", kPast}), "\"1\"");
    Run(runner, {"SET", "soon", "1", "PX", "10"});
    clock_.Advance(absl::Seconds(1));
    EXPECT_EQ(Run(runner, {"DBSIZE"}), "3");
    EXPECT_EQ(Run(runner, {"PERSIST", "soon"}), "1");
    EXPECT_EQ(engine_.expired_keys(), 0);
  }
  EXPECT_EQ(Ask({"KEYS", "*"}), "[\"soon\"]");
  EXPECT_EQ(engine_.expired_keys(), 2);
}

TEST_F(EffectRunnerTest, OfAMasterHidesExpiredKeysFromClients) {
  EffectRunner runner(engine_, Authority::kMaster);
  Run(runner, {"SET", "k", "1", "PX", "10"});
  clock_.Advance(absl::Milliseconds(11));
  EXPECT_EQ(Ask({"GET", "k"}), "nil");
  EXPECT_EQ(Ask({"EXISTS", "k"}), "0");
  EXPECT_EQ(Ask({"DBSIZE"}), "1") << "the key waits for its master";
  EXPECT_EQ(Run(runner, {"APPEND", "k", "2"}), "2");
  EXPECT_EQ(Run(runner, {"DEL", "k"}), "1");
  EXPECT_EQ(Ask({"DBSIZE"}), "0");
  EXPECT_EQ(engine_.expired_keys(), 0);
}

TEST_F(EffectRunnerTest, AcceptsWhatAMasterHasChecked) {
  EngineOptions options = engine_.options();
  options.maxmemory_bytes = 1;
  options.min_replicas_to_write = 1;
  options.proto_max_bulk_len_bytes = 1 << 20;
  engine_.Configure(options);
  EXPECT_THAT(Ask({"SET", "k", "1"}), StartsWith("(error) OOM")) << "a client is refused";
  for (const Authority authority : {Authority::kLog, Authority::kMaster}) {
    EffectRunner runner(engine_, authority);
    EXPECT_EQ(Run(runner, {"SET", "k", "1"}), "OK");
    EXPECT_EQ(Run(runner, {"SETRANGE", "k", "1048577", "x"}), "1048578");
    EXPECT_EQ(Run(runner, {"XADD", "x", "1-1", "f", "v"}), "\"1-1\"");
    EXPECT_EQ(Run(runner, {"XADD", "x", "MAXLEN", "=", "1", "LIMIT", "5", "2-1", "f", "v"}),
              "\"2-1\"");
    EXPECT_EQ(Run(runner, {"XTRIM", "x", "MAXLEN", "=", "0", "LIMIT", "100"}), "1");
    EXPECT_EQ(Run(runner, {"BLPOP", "none", "0"}), "nil") << "nothing blocks";
    EXPECT_EQ(Run(runner, {"FLUSHALL"}), "OK");
  }
}

TEST_F(EffectRunnerTest, PropagatesNothingOfALog) {
  Counter counter;
  engine_.AddEffectSink(counter, EffectTargets::kAll);
  {
    EffectRunner runner(engine_, Authority::kLog);
    Run(runner, {"SET", "k", "1"});
    Run(runner, {"PEXPIREAT", "k", kPast});
    EXPECT_THAT(counter.words, IsEmpty());
  }
  Ask({"SET", "later", "1"});
  EXPECT_THAT(counter.words, ElementsAre("DEL", "SET")) << "the key expired when loading had ended";
  engine_.RemoveEffectSink(counter);
}

TEST_F(EffectRunnerTest, RunsTransactionsAndKnowsCommands) {
  EffectRunner runner(engine_, Authority::kLog);
  EXPECT_TRUE(runner.Knows(std::vector<std::string_view>{"xgroup", "create"}));
  EXPECT_FALSE(runner.Knows(std::vector<std::string_view>{"xgroup", "make"}));
  EXPECT_FALSE(runner.Knows(std::vector<std::string_view>{"make"}));
  Run(runner, {"SELECT", "3"});
  Run(runner, {"MULTI"});
  EXPECT_EQ(Run(runner, {"SET", "k", "1"}), "QUEUED");
  EXPECT_TRUE(runner.in_transaction());
  Run(runner, {"EXEC"});
  EXPECT_FALSE(runner.in_transaction());
  runner.SelectFirstDatabase();
  EXPECT_EQ(Run(runner, {"EXISTS", "k"}), "0");
  Run(runner, {"SELECT", "3"});
  EXPECT_EQ(Run(runner, {"EXISTS", "k"}), "1");
}

}  // namespace
}  // namespace redouble::inline v0_1::memory
