#include "redouble/backends/redis/fsm/cluster/slot_map.h"

#include <gtest/gtest.h>

#include <string>

#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/store/errors.h"

namespace redouble::inline v0_1::redis {
namespace {

using base::IsOk;
using store::Reply;

const TcpAddress kAsked{"10.0.0.9", 7000};

Reply Node(Reply host, int64_t port) {
  return Reply::Array(
      {std::move(host), Reply::Integer(port), Reply::Bulk("id"), Reply::EmptyArray()});
}

Reply Range(int64_t first, int64_t last, std::vector<Reply> nodes) {
  std::vector<Reply> row = {Reply::Integer(first), Reply::Integer(last)};
  for (Reply& node : nodes) row.push_back(std::move(node));
  return Reply::Array(std::move(row));
}

Reply TwoShards() {
  return Reply::Array({Range(0, 8191, {Node(Reply::Bulk("a"), 1), Node(Reply::Bulk("b"), 2)}),
                       Range(8192, 16383, {Node(Reply::Bulk("c"), 3)})});
}

TEST(SlotMap, ReturnsTheMasterOfEachSlot) {
  const absl::StatusOr<SlotMap> map = SlotMap::FromReply(TwoShards(), kAsked);
  ASSERT_THAT(map, IsOk());
  EXPECT_EQ(*map->MasterOf(0), (TcpAddress{"a", 1}));
  EXPECT_EQ(*map->MasterOf(8191), (TcpAddress{"a", 1}));
  EXPECT_EQ(*map->MasterOf(8192), (TcpAddress{"c", 3}));
  EXPECT_EQ(*map->MasterOf(16383), (TcpAddress{"c", 3}));
  EXPECT_EQ(map->assigned_slots(), 16384);
  EXPECT_EQ(map->Masters(), (std::vector<TcpAddress>{{"a", 1}, {"c", 3}}));
  EXPECT_EQ(map->replicas(), (std::vector<TcpAddress>{{"b", 2}}));
}

TEST(SlotMap, ReturnsNoMasterForSlotsThatTheReplyOmits) {
  const auto map =
      SlotMap::FromReply(Reply::Array({Range(5, 5, {Node(Reply::Bulk("a"), 1)})}), kAsked);
  ASSERT_THAT(map, IsOk());
  EXPECT_EQ(map->MasterOf(4), nullptr);
  EXPECT_NE(map->MasterOf(5), nullptr);
  EXPECT_EQ(map->assigned_slots(), 1);
}

TEST(SlotMap, TakesTheAskedHostForANodeThatDoesNotKnowItsOwn) {
  for (Reply host : {Reply::Nil(), Reply::Bulk(""), Reply::Bulk("?")}) {
    const auto map =
        SlotMap::FromReply(Reply::Array({Range(0, 16383, {Node(std::move(host), 7001)})}), kAsked);
    ASSERT_THAT(map, IsOk());
    EXPECT_EQ(*map->MasterOf(1), (TcpAddress{"10.0.0.9", 7001}));
  }
}

TEST(SlotMap, LetsTheLaterOfTwoRangesWin) {
  const auto map = SlotMap::FromReply(Reply::Array({Range(0, 10, {Node(Reply::Bulk("a"), 1)}),
                                                    Range(5, 10, {Node(Reply::Bulk("b"), 2)})}),
                                      kAsked);
  ASSERT_THAT(map, IsOk());
  EXPECT_EQ(map->MasterOf(4)->host, "a");
  EXPECT_EQ(map->MasterOf(5)->host, "b");
}

TEST(SlotMap, MovesASlotToAKnownOrANewNode) {
  SlotMap map = SlotMap::FromReply(TwoShards(), kAsked).value();
  map.Move(7, {"c", 3});
  EXPECT_EQ(map.MasterOf(7)->host, "c");
  map.Move(7, {"d", 4});
  EXPECT_EQ(map.MasterOf(7)->host, "d");
  EXPECT_EQ(map.MasterOf(8)->host, "a");
  EXPECT_EQ(map.Masters(), (std::vector<TcpAddress>{{"a", 1}, {"d", 4}, {"c", 3}}));
}

TEST(SlotMap, NamesNoMasterThatServesNothing) {
  SlotMap map;
  EXPECT_TRUE(map.Masters().empty());
  map.Move(3, {"a", 1});
  map.Move(3, {"b", 2});
  EXPECT_EQ(map.Masters(), (std::vector<TcpAddress>{{"b", 2}}));
}

TEST(SlotMap, ReturnsTheServersErrorAsAStatus) {
  const auto map =
      SlotMap::FromReply(Reply::Error("ERR This instance has cluster support disabled"), kAsked);
  EXPECT_EQ(map.status().message(), "ERR This instance has cluster support disabled");
  EXPECT_EQ(store::ErrorKindOf(map.status()), store::ErrorKind::kServer);
}

TEST(SlotMap, RefusesWhatIsNoMap) {
  const Reply node = Node(Reply::Bulk("a"), 1);
  const Reply unreadable[] = {
      Reply::Integer(1),
      Reply::Array({Reply::Integer(1)}),
      Reply::Array({Reply::Array({Reply::Integer(0), Reply::Integer(1)})}),
      Reply::Array({Range(-1, 5, {node})}),
      Reply::Array({Range(0, 16384, {node})}),
      Reply::Array({Range(6, 5, {node})}),
      Reply::Array({Range(0, 5, {Reply::Bulk("a")})}),
      Reply::Array({Range(0, 5, {Reply::Array({Reply::Bulk("a")})})}),
      Reply::Array({Range(0, 5, {Node(Reply::Integer(1), 1)})}),
      Reply::Array({Range(0, 5, {Node(Reply::Bulk("a"), 0)})}),
      Reply::Array({Range(0, 5, {Node(Reply::Bulk("a"), 65536)})}),
      Reply::Array({Range(0, 5, {node, Node(Reply::Bulk("a"), 0)})}),
      Reply::Array({Reply::Array({Reply::Bulk("0"), Reply::Integer(5), node})}),
  };
  for (const Reply& reply : unreadable) {
    EXPECT_EQ(store::ErrorKindOf(SlotMap::FromReply(reply, kAsked).status()),
              store::ErrorKind::kProtocol)
        << reply;
  }
}

}  // namespace
}  // namespace redouble::inline v0_1::redis
