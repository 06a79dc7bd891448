#include "redouble/backends/redis/fsm/cluster/cluster_route.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "redouble/core/base/hash/crc.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/store/errors.h"

namespace redouble::inline v0_1::redis {
namespace {

using base::IsOk;
using base::StatusIs;
using store::Command;
using store::Reply;
using Kind = Route::Kind;

Command Of(const std::vector<std::string_view>& words) {
  return Command::Named(words[0], std::span(words).subspan(1));
}

Route RouteOfWords(const std::vector<std::string_view>& words) {
  const absl::StatusOr<Route> route = RouteOf(Of(words));
  EXPECT_THAT(route, IsOk());
  return route.value_or(Route());
}

Route SlotOf(std::string_view key) { return {Kind::kSlot, base::KeySlot(key)}; }

void ExpectRefusal(const absl::Status& status, const std::string& message) {
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_EQ(store::ErrorKindOf(status), store::ErrorKind::kNotSent);
  EXPECT_EQ(status.message(), message);
}

TEST(ClusterRoute, FollowsTheKeys) {
  EXPECT_EQ(RouteOfWords({"GET", "a"}), SlotOf("a"));
  EXPECT_EQ(RouteOfWords({"mset", "{t}a", "1", "{t}b", "2"}), SlotOf("t"));
  EXPECT_EQ(RouteOfWords({"EVAL", "return 1", "2", "{t}a", "{t}b", "x"}), SlotOf("t"));
  EXPECT_EQ(RouteOfWords({"XREADGROUP", "GROUP", "g", "c", "STREAMS", "{t}a", "{t}b", ">", ">"}),
            SlotOf("t"));
  EXPECT_EQ(RouteOfWords({"SORT", "{t}l", "STORE", "{t}d"}), SlotOf("t"));
}

TEST(ClusterRoute, FollowsTheKeysOfSubcommands) {
  EXPECT_EQ(RouteOfWords({"XGROUP", "CREATE", "s", "g", "$"}), SlotOf("s"));
  EXPECT_EQ(RouteOf(Command(store::CommandId::kXGroupCreate, {"s", "g", "$"})).value(),
            SlotOf("s"));
  EXPECT_EQ(RouteOfWords({"OBJECT", "encoding", "k"}), SlotOf("k"));
}

TEST(ClusterRoute, FollowsShardChannels) {
  EXPECT_EQ(RouteOfWords({"SPUBLISH", "c", "x"}), SlotOf("c"));
}

TEST(ClusterRoute, RefusesKeysOfSeveralSlotsWithoutNamingThem) {
  ExpectRefusal(RouteOf(Of({"del", "a", "b"})).status(),
                "the keys of DEL belong to different slots of the cluster (15495 and 3300), which "
                "no node can serve together: give them a common hash tag, as in {tag}name");
}

TEST(ClusterRoute, SendsCommandsOfEveryNodeToAllMasters) {
  for (const std::vector<std::string_view>& words :
       std::vector<std::vector<std::string_view>>{{"DBSIZE"},
                                                  {"KEYS", "*"},
                                                  {"FLUSHALL"},
                                                  {"SCRIPT", "LOAD", "return 1"},
                                                  {"script", "exists", "sha"},
                                                  {"FUNCTION", "FLUSH"},
                                                  {"CONFIG", "SET", "hz", "10"}}) {
    EXPECT_EQ(RouteOfWords(words).kind, Kind::kAllMasters) << words[0];
  }
  EXPECT_EQ(RouteOfWords({"SCAN", "0"}).kind, Kind::kScan);
}

TEST(ClusterRoute, SendsOtherCommandsWithoutKeysWhereTheirFirstArgumentBelongs) {
  EXPECT_EQ(RouteOfWords({"PING"}), (Route{Kind::kNoKeys, 0}));
  EXPECT_EQ(RouteOfWords({"RANDOMKEY"}), (Route{Kind::kNoKeys, 0}));
  EXPECT_EQ(RouteOfWords({"PUBLISH", "c", "x"}), (Route{Kind::kNoKeys, base::KeySlot("c")}));
  EXPECT_EQ(RouteOfWords({"JSON.GET", "doc", "$"}), (Route{Kind::kNoKeys, base::KeySlot("doc")}));
  EXPECT_EQ(RouteOfWords({"EVAL", "return 1", "0"}).kind, Kind::kNoKeys);
}

TEST(ClusterRoute, LeavesWrongArgumentsToTheNode) {
  EXPECT_EQ(RouteOfWords({"GET"}).kind, Kind::kNoKeys);
  EXPECT_EQ(RouteOfWords({"EVAL", "return 1", "x", "k"}).kind, Kind::kNoKeys);
  EXPECT_EQ(RouteOfWords({"XGROUP", "NOSUCH"}).kind, Kind::kNoKeys);
}

absl::StatusOr<Route> OfTransaction(const std::vector<std::vector<std::string_view>>& lines) {
  std::vector<Command> commands;
  for (const auto& words : lines) commands.push_back(Of(words));
  return RouteOfTransaction(commands);
}

TEST(ClusterRoute, TakesATransactionOfOneSlot) {
  EXPECT_EQ(OfTransaction({{"INCR", "{t}a"}, {"EXPIRE", "{t}b", "1"}}).value(), SlotOf("t"));
  EXPECT_EQ(OfTransaction({{"PUBLISH", "c", "x"}, {"SET", "k", "v"}, {"PING"}}).value(),
            SlotOf("k"));
  EXPECT_EQ(OfTransaction({{"PING"}}).value().kind, Kind::kNoKeys);
  EXPECT_EQ(OfTransaction({}).value().kind, Kind::kNoKeys);
}

TEST(ClusterRoute, RefusesATransactionOfSeveralSlots) {
  ExpectRefusal(OfTransaction({{"SET", "a", "1"}, {"SET", "b", "2"}}).status(),
                "the keys of a transaction belong to different slots of the cluster (15495 and "
                "3300), which no node can serve together: give them a common hash tag, as in "
                "{tag}name");
  EXPECT_THAT(OfTransaction({{"PING"}, {"DEL", "a", "b"}}),
              StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST(ClusterRoute, RefusesATransactionThatConcernsAllNodes) {
  ExpectRefusal(OfTransaction({{"SET", "a", "1"}, {"dbsize"}}).status(),
                "DBSIZE concerns all nodes of the cluster and cannot be part of a transaction, "
                "which one node runs");
  EXPECT_FALSE(OfTransaction({{"SCAN", "0"}}).ok());
}

TEST(MergeReplies, AddsUp) {
  EXPECT_EQ(MergeReplies(Of({"DBSIZE"}), {Reply::Integer(2), Reply::Integer(40)}),
            Reply::Integer(42));
}

TEST(MergeReplies, TakesTheLeast) {
  EXPECT_EQ(MergeReplies(Of({"WAIT", "1", "1"}), {Reply::Integer(2), Reply::Integer(1)}),
            Reply::Integer(1));
}

TEST(MergeReplies, JoinsLists) {
  EXPECT_EQ(MergeReplies(Of({"KEYS", "*"}), {Reply::Array({Reply::Bulk("a")}), Reply::EmptyArray(),
                                             Reply::Array({Reply::Bulk("b")})}),
            Reply::Array({Reply::Bulk("a"), Reply::Bulk("b")}));
}

TEST(MergeReplies, ReportsAScriptThatAllMastersHave) {
  EXPECT_EQ(MergeReplies(Of({"SCRIPT", "EXISTS", "x", "y"}),
                         {Reply::Array({Reply::Integer(1), Reply::Integer(1)}),
                          Reply::Array({Reply::Integer(1), Reply::Integer(0)})}),
            Reply::Array({Reply::Integer(1), Reply::Integer(0)}));
}

TEST(MergeReplies, SucceedsWhenAllSucceed) {
  EXPECT_EQ(MergeReplies(Of({"FLUSHALL"}), {Reply::Ok(), Reply::Ok()}), Reply::Ok());
  EXPECT_EQ(MergeReplies(Of({"FLUSHALL"}), {Reply::Ok(), Reply::Error("ERR no")}),
            Reply::Error("ERR no"));
  EXPECT_EQ(MergeReplies(Of({"DBSIZE"}), {Reply::Error("LOADING"), Reply::Integer(1)}),
            Reply::Error("LOADING"));
}

TEST(MergeReplies, SucceedsWhenOneHadAScriptToKill) {
  const Reply none = Reply::Error("NOTBUSY No scripts in execution right now.");
  EXPECT_EQ(MergeReplies(Of({"SCRIPT", "KILL"}), {none, Reply::Ok()}), Reply::Ok());
  EXPECT_EQ(MergeReplies(Of({"SCRIPT", "KILL"}), {none, none}), none);
}

Reply Page(std::string_view cursor) {
  return Reply::Array({Reply::Bulk(cursor), Reply::Array({Reply::Bulk("k")})});
}

TEST(ScanCursor, VisitsOneMasterAfterTheOther) {
  const auto position = [](std::string_view cursor) {
    return ReadScanCursor(Of({"SCAN", cursor}), 3);
  };
  EXPECT_EQ(position("0"), (ScanPosition{0, 0}));
  EXPECT_EQ(WithClusterCursor(Page("17"), 0, 3), Page("51"));
  EXPECT_EQ(position("51"), (ScanPosition{0, 17}));
  EXPECT_EQ(WithClusterCursor(Page("0"), 0, 3), Page("1"));
  EXPECT_EQ(position("1"), (ScanPosition{1, 0}));
  EXPECT_EQ(WithClusterCursor(Page("5"), 1, 3), Page("16"));
  EXPECT_EQ(position("16"), (ScanPosition{1, 5}));
  EXPECT_EQ(WithClusterCursor(Page("0"), 2, 3), Page("0"));
}

TEST(ScanCursor, IsRedissOwnWithOneMaster) {
  EXPECT_EQ(WithClusterCursor(Page("17"), 0, 1), Page("17"));
  EXPECT_EQ(ReadScanCursor(Of({"SCAN", "17"}), 1), (ScanPosition{0, 17}));
}

TEST(ScanCursor, ThatIsNoNumberIsLeftToRedis) {
  EXPECT_EQ(ReadScanCursor(Of({"SCAN", "x"}), 3), std::nullopt);
  EXPECT_EQ(ReadScanCursor(Of({"SCAN"}), 3), std::nullopt);
}

TEST(ScanCursor, LeavesOtherRepliesAlone) {
  EXPECT_EQ(WithClusterCursor(Reply::Error("ERR syntax error"), 0, 3),
            Reply::Error("ERR syntax error"));
  EXPECT_EQ(WithClusterCursor(Page("x"), 0, 3), Page("x"));
}

TEST(ScanCursor, ThatDoesNotFitIsAnError) {
  EXPECT_EQ(WithClusterCursor(Page("18446744073709551615"), 1, 3),
            Reply::Error("ERR the cursor is too large to be one of a cluster"));
}

}  // namespace
}  // namespace redouble::inline v0_1::redis
