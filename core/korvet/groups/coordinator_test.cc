#include "redouble/core/korvet/groups/coordinator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/time/virtual_clock.h"
#include "redouble/core/korvet/errors.h"

namespace redouble::korvet {
namespace {

using base::IsOk;
using base::IsOkAndHolds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using State = CoordinatedGroup::State;

constexpr std::string_view kGroup = "my-group";

std::vector<AssignedPartition> Partitions(std::string topic, std::vector<int32_t> numbers) {
  std::vector<AssignedPartition> partitions;
  for (const int32_t number : numbers) partitions.push_back({topic, number});
  return partitions;
}

TEST(Assignment, ByRangeGivesNeighboursAndTheRestToTheFirst) {
  const Subscriptions members = {{"a", {{"t", 7}}}, {"b", {{"t", 7}}}, {"c", {{"t", 7}}}};
  const Assignment assignment = Assign(Assignor::kRange, members);
  EXPECT_EQ(assignment.at("a"), Partitions("t", {0, 1, 2}));
  EXPECT_EQ(assignment.at("b"), Partitions("t", {3, 4}));
  EXPECT_EQ(assignment.at("c"), Partitions("t", {5, 6}));
}

TEST(Assignment, ByRangeBeginsAnewWithEachTopic) {
  const Subscriptions members = {{"a", {{"t", 1}, {"u", 1}}}, {"b", {{"t", 1}, {"u", 1}}}};
  const Assignment assignment = Assign(Assignor::kRange, members);
  EXPECT_EQ(assignment.at("a"), (std::vector<AssignedPartition>{{"t", 0}, {"u", 0}}));
  EXPECT_THAT(assignment.at("b"), IsEmpty());
}

TEST(Assignment, ByRoundRobinDealsOverAllTopics) {
  const Subscriptions members = {{"a", {{"t", 3}, {"u", 2}}}, {"b", {{"t", 3}, {"u", 2}}}};
  const Assignment assignment = Assign(Assignor::kRoundRobin, members);
  EXPECT_EQ(assignment.at("a"), (std::vector<AssignedPartition>{{"t", 0}, {"t", 2}, {"u", 1}}));
  EXPECT_EQ(assignment.at("b"), (std::vector<AssignedPartition>{{"t", 1}, {"u", 0}}));
}

TEST(Assignment, PassesOverMembersThatDidNotSubscribe) {
  const Subscriptions members = {{"a", {{"t", 2}}}, {"b", {{"u", 3}}}, {"c", {}}};
  for (const Assignor assignor : {Assignor::kRange, Assignor::kRoundRobin}) {
    const Assignment assignment = Assign(assignor, members);
    EXPECT_EQ(assignment.at("a"), Partitions("t", {0, 1}));
    EXPECT_EQ(assignment.at("b"), Partitions("u", {0, 1, 2}));
    EXPECT_THAT(assignment.at("c"), IsEmpty());
  }
  EXPECT_THAT(Assign(Assignor::kRoundRobin, {}), IsEmpty());
}

RC_GTEST_PROP(Assignment, GivesEveryPartitionToExactlyOneOfItsSubscribers, ()) {
  const auto assignor = *rc::gen::element(Assignor::kRange, Assignor::kRoundRobin);
  const std::map<std::string, int32_t> topics = {
      {"t", *rc::gen::inRange(1, 20)}, {"u", *rc::gen::inRange(1, 5)}, {"v", 1}};
  Subscriptions members;
  for (int i = 0; i < *rc::gen::inRange(1, 9); ++i) {
    for (const auto& [topic, partitions] : topics) {
      if (*rc::gen::arbitrary<bool>()) members[std::to_string(i)].push_back({topic, partitions});
    }
  }
  std::set<AssignedPartition> expected;
  for (const auto& [member, subscriptions] : members) {
    for (const Subscription& subscription : subscriptions) {
      for (int32_t p = 0; p < subscription.partitions; ++p)
        expected.insert({subscription.topic, p});
    }
  }
  std::set<AssignedPartition> given;
  for (const auto& [member, partitions] : Assign(assignor, members)) {
    RC_ASSERT(std::is_sorted(partitions.begin(), partitions.end()));
    for (const AssignedPartition& partition : partitions) {
      RC_ASSERT(given.insert(partition).second);
      RC_ASSERT(std::any_of(members[member].begin(), members[member].end(),
                            [&](const auto& one) { return one.topic == partition.topic; }));
    }
  }
  RC_ASSERT(given == expected);
}

RC_GTEST_PROP(Assignment, OfOneTopicDiffersByOnePartitionAtMost, ()) {
  const auto assignor = *rc::gen::element(Assignor::kRange, Assignor::kRoundRobin);
  const int32_t partitions = *rc::gen::inRange(1, 40);
  Subscriptions members;
  for (int i = *rc::gen::inRange(1, 12); i > 0; --i) {
    members[std::to_string(i)] = {{"t", partitions}};
  }
  size_t least = 100;
  size_t most = 0;
  for (const auto& [member, given] : Assign(assignor, members)) {
    least = std::min(least, given.size());
    most = std::max(most, given.size());
  }
  RC_ASSERT(most - least <= 1);
}

class CoordinatorTest : public ::testing::Test {
 protected:
  absl::StatusOr<std::string> Join(std::string_view member_id = {}, int32_t partitions = 4) {
    JoinRequest request;
    request.group = kGroup;
    request.member_id = member_id;
    request.client_id = "c";
    request.subscriptions = {{"t", partitions}};
    return coordinator_.Join(request);
  }
  absl::StatusOr<Membership> Sync(std::string_view member_id) {
    return coordinator_.Sync(kGroup, member_id);
  }
  ErrorCode Heartbeat(std::string_view member_id, int32_t generation) {
    return ErrorCodeOf(coordinator_.Heartbeat(kGroup, member_id, generation));
  }
  // Brings the group to generation 2 with two members.
  void TwoMembers() {
    ASSERT_THAT(Join(), IsOkAndHolds("c-1"));
    ASSERT_THAT(Join(), IsOkAndHolds("c-2"));
    ASSERT_THAT(Join("c-1"), IsOkAndHolds("c-1"));
  }

  base::VirtualClock clock_;
  Coordinator coordinator_{
      clock_, {.session_timeout = absl::Seconds(10), .rebalance_timeout = absl::Seconds(6)}};
};

TEST_F(CoordinatorTest, GivesTheFirstMemberEverything) {
  const std::string id = Join().value();
  EXPECT_EQ(id, "c-1");
  EXPECT_THAT(Sync(id), IsOkAndHolds((Membership{1, Partitions("t", {0, 1, 2, 3})})));
  EXPECT_EQ(Heartbeat(id, 1), ErrorCode::kNone);
}

TEST_F(CoordinatorTest, WaitsForAllMembersBeforeAPartitionChangesHands) {
  const std::string a = Join().value();
  const std::string b = Join().value();
  EXPECT_EQ(ErrorCodeOf(Sync(b).status()), ErrorCode::kRebalanceInProgress);
  EXPECT_EQ(Heartbeat(a, 1), ErrorCode::kRebalanceInProgress);
  EXPECT_EQ(ErrorCodeOf(Sync(a).status()), ErrorCode::kRebalanceInProgress);
  EXPECT_EQ(coordinator_.Describe(kGroup).value().state, State::kPreparingRebalance);
  ASSERT_THAT(Join(a), IsOk());
  EXPECT_THAT(Sync(a), IsOkAndHolds((Membership{2, Partitions("t", {0, 1})})));
  EXPECT_THAT(Sync(b), IsOkAndHolds((Membership{2, Partitions("t", {2, 3})})));
  EXPECT_EQ(Heartbeat(a, 1), ErrorCode::kIllegalGeneration);
  EXPECT_EQ(Heartbeat(a, 2), ErrorCode::kNone);
  const CoordinatedGroup group = coordinator_.Describe(kGroup).value();
  EXPECT_EQ(group.state, State::kStable);
  EXPECT_EQ(group.generation, 2);
  EXPECT_EQ(group.assignment.size(), 2u);
}

TEST_F(CoordinatorTest, AcceptsCommitsUntilTheRebalanceHasEnded) {
  const auto commit = [this](std::string_view id, int32_t generation) {
    return ErrorCodeOf(coordinator_.CheckCommit(kGroup, id, generation));
  };
  EXPECT_EQ(commit("c-1", 1), ErrorCode::kUnknownMemberId);
  ASSERT_THAT(Join(), IsOkAndHolds("c-1"));
  EXPECT_EQ(commit("c-1", 1), ErrorCode::kNone);
  ASSERT_THAT(Join(), IsOkAndHolds("c-2"));
  EXPECT_EQ(Heartbeat("c-1", 1), ErrorCode::kRebalanceInProgress);
  EXPECT_EQ(commit("c-1", 1), ErrorCode::kNone);
  ASSERT_THAT(Join("c-1"), IsOk());
  EXPECT_EQ(commit("c-1", 1), ErrorCode::kIllegalGeneration);
  EXPECT_EQ(commit("c-1", 2), ErrorCode::kNone);
  clock_.Advance(absl::Seconds(6));
  EXPECT_EQ(commit("c-1", 2), ErrorCode::kNone) << "it counts as a heartbeat";
  clock_.Advance(absl::Seconds(6));
  EXPECT_EQ(Heartbeat("c-2", 2), ErrorCode::kUnknownMemberId);
  EXPECT_EQ(commit("c-1", 2), ErrorCode::kNone);
}

TEST_F(CoordinatorTest, ChangesNothingWhenAMemberJoinsAgainForNoReason) {
  TwoMembers();
  ASSERT_THAT(Join("c-2"), IsOk());
  EXPECT_EQ(Sync("c-1").value().generation, 2);
}

TEST_F(CoordinatorTest, RebalancesWhenAMemberWantsSomethingElse) {
  TwoMembers();
  ASSERT_THAT(Join("c-2", 6), IsOk());
  EXPECT_EQ(Heartbeat("c-1", 2), ErrorCode::kRebalanceInProgress);
  ASSERT_THAT(Join("c-1", 6), IsOk());
  EXPECT_THAT(Sync("c-2"), IsOkAndHolds((Membership{3, Partitions("t", {3, 4, 5})})));
}

TEST_F(CoordinatorTest, GivesUpAMemberThatIsNotHeardOf) {
  TwoMembers();
  clock_.Advance(absl::Seconds(10) - absl::Milliseconds(1));
  EXPECT_EQ(Heartbeat("c-1", 2), ErrorCode::kNone);
  clock_.Advance(absl::Milliseconds(1));
  EXPECT_EQ(Heartbeat("c-1", 2), ErrorCode::kRebalanceInProgress) << "c-2 is gone";
  EXPECT_EQ(Heartbeat("c-2", 2), ErrorCode::kUnknownMemberId);
  EXPECT_EQ(ErrorCodeOf(Join("c-2").status()), ErrorCode::kUnknownMemberId);
  ASSERT_THAT(Join("c-1"), IsOk());
  EXPECT_THAT(Sync("c-1"), IsOkAndHolds((Membership{3, Partitions("t", {0, 1, 2, 3})})));
}

TEST_F(CoordinatorTest, GivesUpMembersThatDoNotJoinARebalance) {
  TwoMembers();
  const std::string c = Join().value();
  clock_.Advance(absl::Seconds(6) - absl::Milliseconds(1));
  EXPECT_EQ(Heartbeat("c-1", 2), ErrorCode::kRebalanceInProgress);
  EXPECT_EQ(ErrorCodeOf(Sync(c).status()), ErrorCode::kRebalanceInProgress);
  clock_.Advance(absl::Milliseconds(1));
  EXPECT_THAT(Sync(c), IsOkAndHolds((Membership{3, Partitions("t", {0, 1, 2, 3})})));
  EXPECT_EQ(Heartbeat("c-1", 2), ErrorCode::kUnknownMemberId);
}

TEST_F(CoordinatorTest, IsEmptyWhenTheLastMemberIsGone) {
  const std::string a = Join().value();
  clock_.Advance(absl::Seconds(10));
  EXPECT_EQ(coordinator_.Describe(kGroup).value().state, State::kEmpty);
  EXPECT_EQ(Heartbeat(a, 1), ErrorCode::kUnknownMemberId);
  EXPECT_THAT(Sync(Join().value()), IsOkAndHolds((Membership{3, Partitions("t", {0, 1, 2, 3})})))
      << "generations go on";
}

TEST_F(CoordinatorTest, LetsAMemberLeave) {
  TwoMembers();
  ASSERT_THAT(coordinator_.Leave(kGroup, "c-1"), IsOk());
  EXPECT_EQ(ErrorCodeOf(coordinator_.Leave(kGroup, "c-1")), ErrorCode::kUnknownMemberId);
  EXPECT_EQ(Heartbeat("c-2", 2), ErrorCode::kRebalanceInProgress);
  ASSERT_THAT(Join("c-2"), IsOk());
  EXPECT_EQ(Sync("c-2").value().partitions.size(), 4u);
  ASSERT_THAT(coordinator_.Leave(kGroup, "c-2"), IsOk());
  EXPECT_EQ(coordinator_.Describe(kGroup).value().state, State::kEmpty);
}

TEST_F(CoordinatorTest, EndsARebalanceWhenTheMissingMemberLeaves) {
  TwoMembers();
  const std::string c = Join().value();
  ASSERT_THAT(Join("c-1"), IsOk());
  ASSERT_THAT(coordinator_.Leave(kGroup, "c-2"), IsOk());
  EXPECT_EQ(Sync(c).value().generation, 3);
}

TEST_F(CoordinatorTest, DeletesAGroupWithoutMembers) {
  EXPECT_EQ(ErrorCodeOf(coordinator_.Delete(kGroup)), ErrorCode::kGroupIdNotFound);
  EXPECT_EQ(ErrorCodeOf(coordinator_.Describe(kGroup).status()), ErrorCode::kGroupIdNotFound);
  const std::string a = Join().value();
  EXPECT_EQ(ErrorCodeOf(coordinator_.Delete(kGroup)), ErrorCode::kNonEmptyGroup);
  ASSERT_THAT(coordinator_.Leave(kGroup, a), IsOk());
  EXPECT_THAT(coordinator_.Delete(kGroup), IsOk());
  EXPECT_EQ(ErrorCodeOf(Sync(a).status()), ErrorCode::kUnknownMemberId);
}

TEST_F(CoordinatorTest, RefusesAGroupWithoutAName) {
  EXPECT_EQ(ErrorCodeOf(coordinator_.Join({}).status()), ErrorCode::kInvalidGroupId);
}

TEST_F(CoordinatorTest, KeepsGroupsApart) {
  TwoMembers();
  JoinRequest other;
  other.group = "other";
  other.subscriptions = {{"t", 1}};
  const std::string id = coordinator_.Join(other).value();
  EXPECT_EQ(id, "consumer-3");
  EXPECT_EQ(coordinator_.Sync("other", id).value().generation, 1);
  EXPECT_EQ(Heartbeat("c-1", 2), ErrorCode::kNone);
  EXPECT_EQ(Heartbeat(id, 1), ErrorCode::kUnknownMemberId);
}

}  // namespace
}  // namespace redouble::korvet
