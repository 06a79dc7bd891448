#include "redouble/core/store/resp/resp2_form.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace redouble::inline v0_1::store {
namespace {

Reply Pair(const std::string& name, const std::string& score) {
  return Reply::Array({Reply::Bulk(name), Reply::Double(score)});
}

Reply Applied(CommandId command, Reply reply) {
  Resp2Form form;
  form.Apply(command, reply);
  return reply;
}

const Reply& FlatPairs() {
  static const Reply flat =
      Reply::Array({Reply::Bulk("a"), Reply::Bulk("1"), Reply::Bulk("b"), Reply::Bulk("2.5")});
  return flat;
}

TEST(Resp2Form, FlattensMembersWithScores) {
  for (const CommandId command :
       {CommandId::kZRange, CommandId::kZRevRangeByScore, CommandId::kZUnion, CommandId::kZPopMax,
        CommandId::kZRandMember, CommandId::kHRandField}) {
    const Reply reply = Applied(command, Reply::Array({Pair("a", "1"), Pair("b", "2.5")}));
    EXPECT_EQ(reply, FlatPairs());
    EXPECT_EQ(reply.shape(), Reply::Shape::kPairs);
  }
}

TEST(Resp2Form, LeavesRepliesWithoutScores) {
  const Reply members = Reply::Array({Reply::Bulk("a"), Reply::Bulk("b")});
  EXPECT_EQ(Applied(CommandId::kZRange, members), members);
  EXPECT_EQ(Applied(CommandId::kZRange, Reply::EmptyArray()), Reply::EmptyArray());
  EXPECT_EQ(Applied(CommandId::kHRandField, Reply::Nil()), Reply::Nil());
  EXPECT_EQ(Applied(CommandId::kZPopMin, Reply::Error("ERR x")), Reply::Error("ERR x"));
}

// ZMPOP has its pairs in an array in both protocols.
TEST(Resp2Form, LeavesOtherCommands) {
  const Reply pairs = Reply::Array({Pair("a", "1")});
  EXPECT_EQ(Applied(CommandId::kZMPop, pairs), pairs);
  EXPECT_EQ(Applied(CommandId::kUnknown, pairs), pairs);
  const Reply map = Reply::Map({Reply::Bulk("f"), Reply::Bulk("v")});
  EXPECT_EQ(Applied(CommandId::kHGetAll, map), map);
}

TEST(Resp2Form, PairsTheStreamsOfXRead) {
  const Reply entries = Reply::Array({Reply::Bulk("1-1")});
  EXPECT_EQ(Applied(CommandId::kXRead, Reply::Map({Reply::Bulk("s"), entries})),
            Reply::Array({Reply::Array({Reply::Bulk("s"), entries})}));
  // A server may answer in RESP2.
  const Reply resp2 = Reply::Array({Reply::Array({Reply::Bulk("s"), entries})});
  EXPECT_EQ(Applied(CommandId::kXReadGroup, resp2), resp2);
}

TEST(Resp2Form, FollowsTransactions) {
  Resp2Form form;
  Reply reply = Reply::Ok();
  form.Apply(CommandId::kMulti, reply);
  const std::vector<CommandId> commands = {CommandId::kZRange, CommandId::kGet,
                                           CommandId::kZPopMin};
  for (const CommandId command : commands) {
    reply = Reply::Status("QUEUED");
    form.Apply(command, reply);
  }
  reply = Reply::Error("ERR wrong number of arguments");
  form.Apply(CommandId::kSet, reply);  // Not queued.
  const Reply pairs = Reply::Array({Pair("a", "1"), Pair("b", "2.5")});
  reply = Reply::Array({pairs, pairs, pairs});
  form.Apply(CommandId::kExec, reply);
  EXPECT_EQ(reply, Reply::Array({FlatPairs(), pairs, FlatPairs()}));
  reply = pairs;
  form.Apply(CommandId::kZRange, reply);
  EXPECT_EQ(reply, FlatPairs());
}

TEST(Resp2Form, ForgetsATransactionThatWasDiscardedOrLost) {
  for (const bool is_lost : {false, true}) {
    Resp2Form form;
    Reply reply = Reply::Ok();
    form.Apply(CommandId::kMulti, reply);
    reply = Reply::Status("QUEUED");
    form.Apply(CommandId::kGet, reply);
    reply = Reply::Ok();
    if (is_lost) {
      form.Reset();
    } else {
      form.Apply(CommandId::kDiscard, reply);
    }
    reply = Reply::Array({Pair("a", "1"), Pair("b", "2.5")});
    form.Apply(CommandId::kZDiff, reply);
    EXPECT_EQ(reply, FlatPairs());
  }
}

}  // namespace
}  // namespace redouble::inline v0_1::store
