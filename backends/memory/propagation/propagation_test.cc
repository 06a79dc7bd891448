// Goal: sinks receive the effects of commands, transactions, scripts, served clients and expiries
// as units. tests/differential/propagation_test compares the effects themselves with those of a
// redis-server.
#include "redouble/backends/memory/propagation/propagation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "redouble/backends/memory/engine/engine.h"
#include "redouble/backends/memory/engine/session_for_test.h"
#include "redouble/backends/memory/propagation/effect_writer.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/base/time/virtual_clock.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::memory {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::MatchesRegex;

// Writes each unit as a line: "0:SET a 1", several effects in braces if they are atomic.
class Recorder final : public EffectSink {
 public:
  void OnEffects(std::span<const Effect> effects, bool is_atomic) override {
    std::vector<std::string> texts;
    for (const Effect& effect : effects) {
      texts.push_back(absl::StrCat(effect.db, ":", absl::StrJoin(effect.words, " ")));
    }
    const std::string line = absl::StrJoin(texts, ", ");
    units.push_back(is_atomic ? absl::StrCat("{", line, "}") : line);
  }

  std::vector<std::string> units;
};

class PropagationTest : public testing::Test {
 protected:
  PropagationTest() { engine_.AddEffectSink(log_, EffectTargets::kLog); }
  ~PropagationTest() override { engine_.RemoveEffectSink(log_); }

  base::VirtualClock clock_{absl::FromUnixMillis(1'700'000'000'000)};
  Engine engine_{clock_};
  Recorder log_;
  RecordingSession session_{engine_};
};

TEST_F(PropagationTest, PassesOnWhatChangedSomething) {
  session_.Send({"SET", "a", "1", "EX", "10"});
  session_.Send({"GET", "a"});
  session_.Send({"DEL", "nothing"});
  session_.Send({"SELECT", "2"});
  session_.Send({"incr", "b"});
  EXPECT_THAT(log_.units, ElementsAre("0:SET a 1 PXAT 1700000010000", "2:incr b"));
}

TEST_F(PropagationTest, JoinsTheCommandsOfATransaction) {
  session_.Send({"MULTI"});
  session_.Send({"SET", "a", "1"});
  session_.Send({"GET", "a"});
  session_.Send({"INCR", "a"});
  session_.Send({"EXEC"});
  EXPECT_THAT(log_.units, ElementsAre("{0:SET a 1, 0:INCR a}"));
}

TEST_F(PropagationTest, DoesNotMakeATransactionOfASingleEffect) {
  session_.Send({"EVAL", "redis.call('SET', 'a', 1) return redis.call('GET', 'a')", "0"});
  EXPECT_THAT(log_.units, ElementsAre("0:SET a 1"));
}

TEST_F(PropagationTest, FollowsSetReplOfScripts) {
  Recorder replicas;
  engine_.AddEffectSink(replicas, EffectTargets::kReplicas);
  session_.Send({"EVAL",
                 "redis.set_repl(redis.REPL_NONE) redis.call('SET', 'a', 1) "
                 "redis.set_repl(redis.REPL_ALL) redis.call('SET', 'b', 1)",
                 "0"});
  session_.Send({"SET", "c", "1"});
  EXPECT_THAT(log_.units, ElementsAre("0:SET b 1", "0:SET c 1"));
  EXPECT_EQ(replicas.units, log_.units);
  engine_.RemoveEffectSink(replicas);
}

TEST_F(PropagationTest, HasMessagesForReplicasOnly) {
  session_.Send({"PUBLISH", "channel", "text"});
  EXPECT_THAT(log_.units, IsEmpty());
  Recorder replicas;
  engine_.AddEffectSink(replicas, EffectTargets::kReplicas);
  session_.Send({"PUBLISH", "channel", "text"});
  EXPECT_THAT(replicas.units, ElementsAre("0:PUBLISH channel text"));
  engine_.RemoveEffectSink(replicas);
  log_.units.clear();
  session_.Send({"PUBLISH", "channel", "text"});
  EXPECT_THAT(log_.units, IsEmpty());
}

TEST_F(PropagationTest, RemovesKeysAtTheirDeadlines) {
  session_.Send({"SET", "a", "1", "PX", "10"});
  session_.Send({"SET", "b", "1", "PX", "10"});
  log_.units.clear();
  clock_.Advance(absl::Milliseconds(11));
  EXPECT_THAT(log_.units, ElementsAre("0:DEL a", "0:DEL b"));
}

TEST_F(PropagationTest, ServesAWaitingClientAfterTheCommand) {
  RecordingSession waiting{engine_};
  const std::string_view arguments[] = {"list", "0"};
  const auto command = store::Command::Named("BLPOP", arguments);
  const auto wait = [&]() -> base::Task<std::string> {
    const absl::StatusOr<store::Reply> reply = co_await waiting.session().Execute(command);
    co_return reply.ok() ? reply->DebugString() : std::string(reply.status().message());
  };
  base::Task<std::string> blocked = wait();
  blocked.Start();
  session_.Send({"RPUSH", "list", "x"});
  ASSERT_TRUE(blocked.done());
  EXPECT_THAT(log_.units, ElementsAre("0:RPUSH list x", "0:LPOP list"));
}

TEST_F(PropagationTest, NamesTheMembersThatWereDrawn) {
  session_.Send({"SADD", "set", "a", "b", "c", "d", "e"});
  session_.Send({"SPOP", "set"});
  session_.Send({"SPOP", "set", "2"});
  ASSERT_EQ(log_.units.size(), 3u);
  EXPECT_THAT(log_.units[1], MatchesRegex("0:SREM set [a-e]"));
  EXPECT_THAT(log_.units[2], MatchesRegex("\\{0:SREM set [a-e], 0:SREM set [a-e]\\}"));
  for (const char* member : {"a", "b", "c", "d", "e"}) {
    const bool was_drawn = absl::StrContains(log_.units[1], absl::StrCat("set ", member)) ||
                           absl::StrContains(log_.units[2], absl::StrCat("set ", member));
    EXPECT_EQ(session_.Send({"SISMEMBER", "set", member}), was_drawn ? "0" : "1") << member;
  }
}

TEST_F(PropagationTest, RemovesEvictedKeys) {
  session_.Send({"SET", "a", "1"});
  session_.Send({"CONFIG", "SET", "maxmemory-policy", "allkeys-lru", "maxmemory", "1"});
  EXPECT_THAT(log_.units, ElementsAre("0:SET a 1", "0:DEL a"));
}

TEST_F(PropagationTest, EndsWithTheLastSink) {
  engine_.RemoveEffectSink(log_);
  session_.Send({"SET", "a", "1"});
  EXPECT_THAT(log_.units, IsEmpty());
  engine_.AddEffectSink(log_, EffectTargets::kLog);
}

TEST(EffectWriter, SelectsTheDatabaseBeforeATransaction) {
  EffectWriter writer(EffectTargets::kLog);
  std::string bytes;
  const Effect effects[] = {{.db = 3, .words = {"INCR", "a"}}, {.db = 3, .words = {"INCR", "b"}}};
  writer.Append(effects, /*is_atomic=*/true, bytes);
  EXPECT_EQ(bytes,
            "*2\r\n$6\r\nSELECT\r\n$1\r\n3\r\n*1\r\n$5\r\nMULTI\r\n*2\r\n$4\r\nINCR\r\n$1\r\na\r\n"
            "*2\r\n$4\r\nINCR\r\n$1\r\nb\r\n*1\r\n$4\r\nEXEC\r\n");
  bytes.clear();
  writer.Append(std::span(effects, 1), /*is_atomic=*/false, bytes);
  EXPECT_EQ(bytes, "*2\r\n$4\r\nINCR\r\n$1\r\na\r\n");
  bytes.clear();
  writer.ForgetDatabase();
  writer.Append(std::span(effects, 1), /*is_atomic=*/false, bytes);
  EXPECT_EQ(bytes, "*2\r\n$6\r\nSELECT\r\n$1\r\n3\r\n*2\r\n$4\r\nINCR\r\n$1\r\na\r\n");
}

TEST(EffectWriter, LeavesOutOtherTargets) {
  EffectWriter writer(EffectTargets::kLog);
  std::string bytes;
  const Effect effects[] = {
      {.targets = EffectTargets::kReplicas, .words = {"PUBLISH", "channel", "text"}}};
  writer.Append(effects, /*is_atomic=*/false, bytes);
  EXPECT_EQ(bytes, "");
}

}  // namespace
}  // namespace redouble::inline v0_1::memory
