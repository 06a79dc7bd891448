#include "redouble/backends/redis/fsm/cluster/spelled_transaction.h"

#include <gtest/gtest.h>

namespace redouble::inline v0_1::redis {
namespace {

using store::Command;
using store::CommandId;
using store::Reply;

const Reply kAbort = Reply::Error("EXECABORT Transaction discarded because of previous errors.");

bool IsMoved(const Reply& reply) { return reply.is_error() && reply.text().starts_with("MOVED "); }

TEST(SpelledTransaction, PutsTheCommandsBetweenMultiAndExec) {
  std::vector<Command> commands;
  commands.emplace_back(CommandId::kIncr).Add("n");
  commands.push_back(Command::Named("my.module"));
  const std::vector<Command> spelled = SpellOut(commands);
  ASSERT_EQ(spelled.size(), 4u);
  EXPECT_EQ(spelled[0].id(), CommandId::kMulti);
  EXPECT_EQ(spelled[1].name(), commands[0].name());
  EXPECT_EQ(spelled[1].arguments()[0], "n");
  EXPECT_EQ(spelled[2].name(), "my.module");
  EXPECT_EQ(spelled[3].id(), CommandId::kExec);
}

TEST(SpelledTransaction, HasTheReplyOfExec) {
  const Reply done = Reply::Array({Reply::Error("MOVED inside")});
  EXPECT_EQ(ResultOfSpelled({Reply::Ok(), Reply::Error("MOVED early"), done}, IsMoved), done);
  EXPECT_EQ(ResultOfSpelled({Reply::Ok(), Reply::Nil()}, IsMoved), Reply::Nil());
}

TEST(SpelledTransaction, HasTheCauseIfExecFailed) {
  const Reply moved = Reply::Error("MOVED 1 h:1");
  EXPECT_EQ(ResultOfSpelled({Reply::Ok(), Reply::Error("ERR x"), moved, kAbort}, IsMoved), moved);
  EXPECT_EQ(ResultOfSpelled({Reply::Ok(), Reply::Error("ERR x"), kAbort}, IsMoved), kAbort);
}

}  // namespace
}  // namespace redouble::inline v0_1::redis
