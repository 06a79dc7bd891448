#include "redouble/sim/check/history.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/typed/keys.h"
#include "redouble/sim/world/world.h"

namespace redouble::inline v0_1::sim {
namespace {

using base::Task;

// The history of an actor that sends a command with one key, one without keys, and an unknown one.
std::vector<HistoryOperation> HistoryOf(std::vector<FaultRule> faults) {
  History history;
  World world({.faults = std::move(faults)});
  world.Spawn("a", [&](Actor& actor) -> Task<void> {
    HistoryStore store(actor.store(), history, actor.name());
    const store::Command incr(store::CommandId::kIncrBy, {"n", "5"});
    const store::Command any = store::Command::Named("NOSUCH", {});
    (void)co_await store.Execute(incr);
    (void)co_await store::Ping(store);
    (void)co_await store.Execute(any);
  });
  world.Run();
  return history.operations();
}

TEST(HistoryStore, WritesDownCommandsOfOneKey) {
  const std::vector<HistoryOperation> operations = HistoryOf({});
  ASSERT_EQ(operations.size(), 1u);
  EXPECT_EQ(operations[0].client, "a");
  EXPECT_EQ(operations[0].key, "n");
  EXPECT_EQ(operations[0].words, (std::vector<std::string>{"INCRBY", "5"}));
  EXPECT_EQ(operations[0].begun, 0);
  EXPECT_EQ(operations[0].ended, 1);
  EXPECT_EQ(operations[0].reply, store::Reply::Integer(5));
}

TEST(HistoryStore, LeavesACommandOpenWhoseOutcomeIsUnknown) {
  const std::vector<HistoryOperation> operations =
      HistoryOf({{.fault = Fault::kDropReply, .nth = 1}});
  ASSERT_EQ(operations.size(), 1u);
  EXPECT_FALSE(operations[0].ended.has_value());
  EXPECT_FALSE(operations[0].reply.has_value());
}

TEST(HistoryStore, ForgetsWhatWasNotSentOrWasRefused) {
  EXPECT_TRUE(HistoryOf({{.fault = Fault::kDisconnect, .nth = 1}}).empty());
  EXPECT_TRUE(HistoryOf({{.fault = Fault::kErrorReply, .nth = 1}}).empty());
}

TEST(History, NumbersBeginningsAndEnds) {
  History history;
  const size_t first = history.Begin("a", "k", {"GET"});
  const size_t second = history.Begin("b", "k", {"GET"});
  history.End(second, store::Reply::Nil());
  history.End(first, store::Reply::Nil());
  const std::vector<HistoryOperation> operations = history.operations();
  EXPECT_EQ(operations[0].begun, 0);
  EXPECT_EQ(operations[0].ended, 3);
  EXPECT_EQ(operations[1].begun, 1);
  EXPECT_EQ(operations[1].ended, 2);
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
