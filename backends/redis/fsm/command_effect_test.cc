#include "redouble/backends/redis/fsm/command_effect.h"

#include <gtest/gtest.h>

#include <string>

#include "redouble/backends/redis/fsm/request_for_test.h"
#include "redouble/core/store/errors.h"

namespace redouble::inline v0_1::redis {
namespace {

using store::Command;
using store::CommandId;
using Kind = store::Request::Kind;

CommandEffect EffectOfLine(std::string_view line) {
  const RequestForTest request(line);
  return EffectOf(request.commands()[0]);
}

std::string RefusalText(const store::Request& request, Sharing sharing) {
  const std::optional<absl::Status> refusal = Refusal(request, sharing);
  if (!refusal) return "";
  EXPECT_EQ(refusal->code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(store::ErrorKindOf(*refusal), store::ErrorKind::kNotSent);
  return std::string(refusal->message());
}

TEST(CommandEffect, MostCommandsHaveNone) {
  EXPECT_EQ(EffectOf(Command(CommandId::kGet, {"multi"})), CommandEffect::kNone);
  EXPECT_EQ(EffectOfLine("EVAL return 0"), CommandEffect::kNone);
  EXPECT_EQ(EffectOfLine("PUBLISH channel message"), CommandEffect::kNone);
}

TEST(CommandEffect, RecognizesACommandByItsRowAndByAnyName) {
  EXPECT_EQ(EffectOf(Command(CommandId::kMulti)), CommandEffect::kState);
  EXPECT_EQ(EffectOfLine("mUlTi"), CommandEffect::kState);
  EXPECT_EQ(EffectOfLine("BLPOP key 0"), CommandEffect::kBlocks);
  EXPECT_EQ(EffectOfLine("SUBSCRIBE channel"), CommandEffect::kReplies);
}

TEST(OnlyReads, AsksForTheRowOfEachCommandAndSubcommand) {
  EXPECT_TRUE(OnlyReads(RequestForTest("GET k")));
  EXPECT_TRUE(OnlyReads(RequestForTest("XINFO STREAM s")));
  EXPECT_FALSE(OnlyReads(RequestForTest("XGROUP DESTROY s g")));
  EXPECT_FALSE(OnlyReads(RequestForTest("INCR k")));
  EXPECT_FALSE(OnlyReads(RequestForTest("NO-SUCH-COMMAND k")));
}

TEST(CommandEffect, LooksAtTheArgumentThatDecides) {
  EXPECT_EQ(EffectOfLine("XREAD COUNT 1 STREAMS s 0"), CommandEffect::kNone);
  EXPECT_EQ(EffectOfLine("XREAD COUNT 1 block 5 STREAMS s 0"), CommandEffect::kBlocks);
  EXPECT_EQ(EffectOfLine("CLIENT REPLY OFF"), CommandEffect::kReplies);
  EXPECT_EQ(EffectOfLine("CLIENT SETNAME reply"), CommandEffect::kNone);
  EXPECT_EQ(EffectOfLine("CLIENT"), CommandEffect::kNone);
  EXPECT_EQ(EffectOfLine("CLIENT tracking ON"), CommandEffect::kState);
  EXPECT_EQ(EffectOfLine("CLIENT CACHING YES"), CommandEffect::kState);
  EXPECT_EQ(EffectOfLine("CLIENT NO-EVICT ON"), CommandEffect::kState);
  EXPECT_EQ(EffectOfLine("CLIENT NO-TOUCH ON"), CommandEffect::kState);
  EXPECT_EQ(EffectOfLine("SCRIPT DEBUG YES"), CommandEffect::kReplies);
  EXPECT_EQ(EffectOfLine("SCRIPT EXISTS debug"), CommandEffect::kNone);
}

TEST(CommandEffect, KnowsCommandsOfNewerServers) {
  EXPECT_EQ(EffectOfLine("WAITAOF 1 0 250"), CommandEffect::kBlocks);
  EXPECT_EQ(BlockLimit(RequestForTest("WAITAOF 1 0 250")), absl::Milliseconds(250));
}

TEST(CommandEffect, ASharedConnectionRefusesWhatWouldChangeItForAll) {
  EXPECT_EQ(RefusalText(RequestForTest("watch key"), Sharing::kShared),
            "WATCH changes the connection, which this client shares among coroutines: use a "
            "store::Batch, or a dedicated or blocking client");
  EXPECT_EQ(RefusalText(RequestForTest("SELECT 1"), Sharing::kDedicated), "");
}

TEST(CommandEffect, ASharedConnectionRefusesWhatBlocks) {
  EXPECT_EQ(RefusalText(RequestForTest("BLPOP key 1"), Sharing::kShared),
            "BLPOP may block, and with it what shares its connection: send it by itself");
  EXPECT_EQ(RefusalText(RequestForTest("BLPOP key 1"), Sharing::kDedicated), "");
}

TEST(CommandEffect, NothingBlocksInATransaction) {
  const RequestForTest transaction(Kind::kTransaction, {"INCR n", "BLPOP key 1"});
  EXPECT_EQ(RefusalText(transaction, Sharing::kShared), "");
  const RequestForTest pipeline(Kind::kPipeline, {"INCR n", "BLPOP key 1"});
  EXPECT_NE(RefusalText(pipeline, Sharing::kShared), "");
}

TEST(CommandEffect, EveryConnectionRefusesWhatBreaksTheOrderOfReplies) {
  for (const Sharing sharing : {Sharing::kShared, Sharing::kDedicated, Sharing::kRouted}) {
    EXPECT_EQ(RefusalText(RequestForTest("MONITOR"), sharing),
              "MONITOR is not answered by one reply, so no client of this kind can send it");
    EXPECT_NE(RefusalText(RequestForTest(Kind::kTransaction, {"subscribe c"}), sharing), "");
  }
}

TEST(CommandEffect, ARoutedConnectionTakesWhatTheClusterClientPutsTogether) {
  const RequestForTest asking(Kind::kPipeline, {"ASKING", "MULTI", "BLPOP key 1", "EXEC"});
  EXPECT_EQ(RefusalText(asking, Sharing::kRouted), "");
}

TEST(CommandEffect, FindsARefusedCommandAnywhereInABatch) {
  const RequestForTest batch(Kind::kPipeline, {"GET a", "GET b", "MULTI"});
  EXPECT_EQ(RefusalText(batch, Sharing::kShared).substr(0, 5), "MULTI");
}

TEST(CommandEffect, ReturnsTheTimeoutOfABlockingCommand) {
  struct Row {
    std::string_view line;
    absl::Duration limit;
  };
  for (const Row& row :
       {Row{"BLPOP a b 0.5", absl::Milliseconds(500)}, Row{"BRPOPLPUSH a b 2", absl::Seconds(2)},
        Row{"blmove a b LEFT LEFT 3", absl::Seconds(3)},
        Row{"BLMPOP 4 1 key LEFT", absl::Seconds(4)},
        Row{"BZMPOP 0 1 key MIN", absl::InfiniteDuration()},
        Row{"BZPOPMIN key 0", absl::InfiniteDuration()}, Row{"WAIT 1 250", absl::Milliseconds(250)},
        Row{"XREAD COUNT 1 block 40 STREAMS s 0", absl::Milliseconds(40)},
        Row{"XREADGROUP GROUP g c BLOCK 0 STREAMS s >", absl::InfiniteDuration()},
        Row{"XREAD STREAMS s 0", absl::ZeroDuration()}, Row{"BLPOP key soon", absl::ZeroDuration()},
        Row{"BLPOP key -1", absl::ZeroDuration()}, Row{"BLPOP", absl::ZeroDuration()},
        Row{"XREAD BLOCK", absl::ZeroDuration()}, Row{"GET 5", absl::ZeroDuration()}}) {
    RequestForTest request(row.line);
    EXPECT_EQ(BlockLimit(request), row.limit) << row.line;
  }
}

TEST(CommandEffect, AddsTheLimitsOfABatchExceptInTransactions) {
  RequestForTest pipeline(store::Request::Kind::kPipeline, {"BLPOP a 1", "GET a", "BLPOP b 2"});
  EXPECT_TRUE(MayBlock(pipeline));
  EXPECT_EQ(BlockLimit(pipeline), absl::Seconds(3));
  RequestForTest transaction(store::Request::Kind::kTransaction, {"BLPOP a 1"});
  EXPECT_FALSE(MayBlock(transaction));
  EXPECT_EQ(BlockLimit(transaction), absl::ZeroDuration());
}

TEST(CommandEffect, LimitsTheTimeOfARequest) {
  const absl::Duration second = absl::Seconds(1), never = absl::InfiniteDuration();
  EXPECT_EQ(TimeLimit(RequestForTest("GET a"), second, never), second);
  EXPECT_EQ(TimeLimit(RequestForTest("GET a"), second, second / 2), second);
  EXPECT_EQ(TimeLimit(RequestForTest("BLPOP a 3"), second, never), 4 * second);
  EXPECT_EQ(TimeLimit(RequestForTest("BLPOP a 3"), second, 2 * second), 2 * second);
  EXPECT_EQ(TimeLimit(RequestForTest("BLPOP a 0"), second, never), never);
  EXPECT_EQ(TimeLimit(RequestForTest("BLPOP a 3"), never, never), never);
}

TEST(CommandEffect, APooledConnectionMayBlockButKeepsItsState) {
  RequestForTest pop("BLPOP a 1"), watch("WATCH a"), subscribe("SUBSCRIBE a");
  EXPECT_FALSE(Refusal(pop, Sharing::kPooled).has_value());
  EXPECT_TRUE(Refusal(watch, Sharing::kPooled).has_value());
  EXPECT_TRUE(Refusal(subscribe, Sharing::kPooled).has_value());
}

}  // namespace
}  // namespace redouble::inline v0_1::redis
