#include "redouble/core/korvet/groups/coordinator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "redouble/core/base/random/rng.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/korvet/errors.h"
#include "redouble/core/store/errors.h"
#include "redouble/tests/support/intercepted_store.h"
#include "redouble/tests/support/korvet_topic.h"

namespace redouble::inline v0_1::korvet {
namespace {

using base::IsOk;
using base::IsOkAndHolds;
using store::Reply;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using State = CoordinatedGroup::State;
using Partitions = std::vector<AssignedPartition>;

constexpr char kGroup[] = "my-group";

Partitions Of(const std::string& topic, const std::vector<int32_t>& numbers) {
  Partitions partitions;
  for (const int32_t number : numbers) partitions.push_back({topic, number});
  return partitions;
}

// A member as a process has it: it counts its calls and knows its partitions.
struct Member {
  std::string name;
  std::vector<Subscription> subscriptions = {{"t", 4}};
  Partitions owned = {};
  int64_t calls = 0;
};

template <typename Backend>
class CoordinatorTest : public KorvetTest<Backend> {
 protected:
  Coordinator Make(store::Store& store, Assignor assignor = Assignor::kCooperativeSticky) {
    return Coordinator(store, this->keys_,
                       {.session_timeout = absl::Seconds(10), .assignor = assignor});
  }
  static MemberHeartbeat Request(Member& member) {
    return {.group = kGroup,
            .member = member.name,
            .call = ++member.calls,
            .subscriptions = member.subscriptions,
            .owned = member.owned};
  }
  absl::StatusOr<GroupMembership> Join(Member& member) {
    return Adopt(member, this->Run(Make(this->store(), assignor_).Join(Request(member))));
  }
  absl::StatusOr<GroupMembership> Beat(Member& member) {
    return Adopt(member, this->Run(Make(this->store(), assignor_).Heartbeat(Request(member))));
  }
  ErrorCode BeatError(Member& member) { return ErrorCodeOf(Beat(member).status()); }
  // Sends heartbeats until nothing moves any more.
  void Settle(std::vector<Member*> members) {
    for (size_t i = 0; i < 3; ++i) {
      for (Member* const member : members) ASSERT_THAT(Beat(*member), IsOk());
    }
  }
  CoordinatedGroup Describe() { return this->Run(Make(this->store()).Describe(kGroup)).value(); }
  // The targets of members that join one after the other.
  Assignment Assigned(Assignor assignor,
                      const std::map<std::string, std::vector<Subscription>>& subscriptions) {
    assignor_ = assignor;
    for (const auto& [name, topics] : subscriptions) {
      Member member = {.name = name, .subscriptions = topics};
      EXPECT_THAT(Join(member), IsOk());
    }
    return Describe().target;
  }

  Assignor assignor_ = Assignor::kCooperativeSticky;

 private:
  static absl::StatusOr<GroupMembership> Adopt(Member& member,
                                               absl::StatusOr<GroupMembership> membership) {
    if (membership.ok()) member.owned = membership->partitions;
    return membership;
  }
};
TYPED_TEST_SUITE(CoordinatorTest, tests::LayoutBackends, tests::BackendNames);

TYPED_TEST(CoordinatorTest, GivesTheFirstMemberEverything) {
  Member a = {.name = "a"};
  EXPECT_THAT(this->Join(a), IsOkAndHolds(GroupMembership{1, Of("t", {0, 1, 2, 3}), false}));
  EXPECT_THAT(this->Beat(a), IsOkAndHolds(GroupMembership{1, Of("t", {0, 1, 2, 3}), false}));
  const CoordinatedGroup group = this->Describe();
  EXPECT_EQ(group.state, State::kStable);
  EXPECT_EQ(group.assignment, (Assignment{{"a", Of("t", {0, 1, 2, 3})}}));
  EXPECT_EQ(group.target, group.assignment);
}

TYPED_TEST(CoordinatorTest, WritesTheDocumentedKeys) {
  Member a = {.name = "a", .subscriptions = {{"t", 1}, {"u", 2}}};
  Member b = {.name = "b", .subscriptions = {{"u", 2}}};
  ASSERT_THAT(this->Join(a), IsOk());
  ASSERT_THAT(this->Join(b), IsOk());
  EXPECT_EQ(this->Ask({"HMGET", "korvet:group:my-group", "epoch", "assignor", "time"}),
            Reply::Array({Reply::Bulk("2"), Reply::Bulk("cooperative-sticky"),
                          Reply::Bulk("1778335382000")}));
  EXPECT_EQ(this->Ask({"HGET", "korvet:group-members:my-group", "a"}),
            Reply::Bulk("1778335392000 10000 1 t=1 u=2"));
  EXPECT_EQ(this->Ask({"HGET", "korvet:group-partitions:my-group", "t:0"}), Reply::Bulk("a a"));
  EXPECT_EQ(this->Ask({"HGET", "korvet:group-partitions:my-group", "u:1"}), Reply::Bulk("a b"));
  EXPECT_EQ(this->Ask({"HLEN", "korvet:group-partitions:my-group"}), Reply::Integer(3));
}

TYPED_TEST(CoordinatorTest, MovesAPartitionOnlyAfterItsOwnerHasGivenItUp) {
  Member a = {.name = "a"};
  Member b = {.name = "b"};
  ASSERT_THAT(this->Join(a), IsOk());
  EXPECT_THAT(this->Join(b), IsOkAndHolds(GroupMembership{2, {}, true}));
  EXPECT_EQ(this->Describe().state, State::kReconciling);
  const Partitions before = a.owned;
  EXPECT_THAT(this->Beat(a), IsOkAndHolds(GroupMembership{2, Of("t", {0, 1}), false}));
  a.owned = before;  // It is still busy with its records.
  EXPECT_THAT(this->Beat(b), IsOkAndHolds(GroupMembership{2, {}, true}));
  ASSERT_THAT(this->Beat(a), IsOk());
  EXPECT_THAT(this->Beat(b), IsOkAndHolds(GroupMembership{2, {}, true})) << "not told yet";
  ASSERT_THAT(this->Beat(a), IsOk());
  EXPECT_THAT(this->Beat(b), IsOkAndHolds(GroupMembership{2, Of("t", {2, 3}), false}));
  EXPECT_EQ(this->Describe().state, State::kStable);
}

TYPED_TEST(CoordinatorTest, AnswersARepeatedCallByTheStateThatTheFirstOneLeft) {
  Member a = {.name = "a"};
  ASSERT_THAT(this->Join(a), IsOk());
  a.owned = {};  // The reply was lost.
  EXPECT_THAT(this->Join(a), IsOkAndHolds(GroupMembership{1, Of("t", {0, 1, 2, 3}), false}));
  Member b = {.name = "b"};
  ASSERT_THAT(this->Join(b), IsOk());
  this->Settle({&a, &b});
  b.owned = {};
  EXPECT_THAT(this->Beat(b), IsOkAndHolds(GroupMembership{2, Of("t", {2, 3}), false}));
}

TYPED_TEST(CoordinatorTest, IgnoresALateCopyOfAnEarlierCall) {
  Member a = {.name = "a"};
  Member b = {.name = "b"};
  ASSERT_THAT(this->Join(a), IsOk());
  ASSERT_THAT(this->Join(b), IsOk());
  Member copy = a;
  copy.owned = Of("t", {0, 1});
  ASSERT_THAT(this->Beat(a), IsOk());
  ASSERT_THAT(this->Beat(a), IsOk());
  EXPECT_EQ(this->BeatError(copy), ErrorCode::kIllegalGeneration);
  EXPECT_EQ(ErrorCodeOf(this->Run(this->Make(this->store()).Leave(this->Request(copy)))),
            ErrorCode::kIllegalGeneration);
  EXPECT_EQ(this->Describe().assignment.size(), 2u);
}

TYPED_TEST(CoordinatorTest, FreesThePartitionsOfAMemberThatIsSilent) {
  Member a = {.name = "a"};
  Member b = {.name = "b"};
  ASSERT_THAT(this->Join(a), IsOk());
  ASSERT_THAT(this->Join(b), IsOk());
  this->Settle({&a, &b});
  this->Advance(absl::Milliseconds(9999));
  ASSERT_THAT(this->Beat(b), IsOk());
  EXPECT_EQ(this->Describe().assignment.size(), 2u);
  this->Advance(absl::Milliseconds(1));
  EXPECT_EQ(this->Describe().assignment.size(), 1u) << "its session has ended";
  EXPECT_THAT(this->Beat(b), IsOkAndHolds(GroupMembership{3, Of("t", {0, 1, 2, 3}), false}));
  EXPECT_EQ(this->BeatError(a), ErrorCode::kUnknownMemberId);
}

TYPED_TEST(CoordinatorTest, RemovesACallerWhoseOwnSessionHasEnded) {
  Member a = {.name = "a"};
  ASSERT_THAT(this->Join(a), IsOk());
  this->Advance(absl::Seconds(10));
  EXPECT_EQ(this->BeatError(a), ErrorCode::kUnknownMemberId);
  EXPECT_EQ(this->Describe().state, State::kEmpty);
  Member again = {.name = "a2"};
  EXPECT_THAT(this->Join(again), IsOkAndHolds(GroupMembership{3, Of("t", {0, 1, 2, 3}), false}));
}

TYPED_TEST(CoordinatorTest, MovesTheDeadlinesWithAClockThatWasSetBack) {
  Member a = {.name = "a"};
  ASSERT_THAT(this->Join(a), IsOk());
  const int64_t now = absl::ToUnixMillis(this->now());
  const int64_t ahead = now + 3'600'000;
  this->Ask({"HSET", "korvet:group:my-group", "time", std::to_string(ahead)});
  this->Ask({"HSET", "korvet:group-members:my-group", "a",
             std::to_string(ahead + 4000) + " 10000 1 t=4"});
  Member b = {.name = "b"};
  ASSERT_THAT(this->Join(b), IsOk());
  this->Advance(absl::Milliseconds(3999));
  ASSERT_THAT(this->Beat(b), IsOk());
  EXPECT_EQ(this->Describe().assignment.size(), 2u);
  this->Advance(absl::Milliseconds(1));
  EXPECT_EQ(this->Describe().assignment.size(), 1u);
}

TYPED_TEST(CoordinatorTest, LetsAMemberLeaveOnce) {
  Member a = {.name = "a"};
  Member b = {.name = "b"};
  ASSERT_THAT(this->Join(a), IsOk());
  ASSERT_THAT(this->Join(b), IsOk());
  Coordinator coordinator = this->Make(this->store());
  ASSERT_THAT(this->Run(coordinator.Leave(this->Request(a))), IsOk());
  EXPECT_EQ(ErrorCodeOf(this->Run(coordinator.Leave(this->Request(a)))),
            ErrorCode::kUnknownMemberId);
  EXPECT_THAT(this->Beat(b), IsOkAndHolds(GroupMembership{3, Of("t", {0, 1, 2, 3}), false}));
  ASSERT_THAT(this->Run(coordinator.Leave(this->Request(b))), IsOk());
  EXPECT_EQ(this->Describe(), (CoordinatedGroup{State::kEmpty, 4, {}, {}}));
  EXPECT_EQ(this->Ask({"EXISTS", "korvet:group-members:my-group"}), Reply::Integer(0));
}

TYPED_TEST(CoordinatorTest, FollowsSubscriptionsThatChange) {
  Member a = {.name = "a"};
  ASSERT_THAT(this->Join(a), IsOk());
  a.subscriptions = {{"t", 6}};
  EXPECT_THAT(this->Beat(a), IsOkAndHolds(GroupMembership{2, Of("t", {0, 1, 2, 3, 4, 5}), false}));
  a.subscriptions = {{"u", 1}};
  EXPECT_THAT(this->Beat(a), IsOkAndHolds(GroupMembership{3, Of("u", {0}), false}));
  ASSERT_THAT(this->Beat(a), IsOk());
  EXPECT_EQ(this->Ask({"HLEN", "korvet:group-partitions:my-group"}), Reply::Integer(1));
}

TYPED_TEST(CoordinatorTest, RefusesAnotherAssignorWhileThereAreMembers) {
  Member a = {.name = "a"};
  ASSERT_THAT(this->Join(a), IsOk());
  this->assignor_ = Assignor::kRange;
  Member b = {.name = "b"};
  EXPECT_EQ(ErrorCodeOf(this->Join(b).status()), ErrorCode::kInconsistentGroupProtocol);
  this->Advance(absl::Seconds(10));
  EXPECT_THAT(this->Join(b), IsOk());
}

TYPED_TEST(CoordinatorTest, AssignsByRange) {
  const std::vector<Subscription> both = {{"t", 7}, {"u", 1}};
  const Assignment target =
      this->Assigned(Assignor::kRange, {{"a", both}, {"b", both}, {"c", {{"t", 7}}}, {"d", {}}});
  EXPECT_EQ(target.at("a"), (Partitions{{"t", 0}, {"t", 1}, {"t", 2}, {"u", 0}}));
  EXPECT_EQ(target.at("b"), Of("t", {3, 4}));
  EXPECT_EQ(target.at("c"), Of("t", {5, 6}));
  EXPECT_THAT(target.at("d"), IsEmpty());
}

TYPED_TEST(CoordinatorTest, AssignsARangeOfFewerPartitionsThanMembers) {
  const std::vector<Subscription> one = {{"t", 2}};
  const Assignment target = this->Assigned(Assignor::kRange, {{"a", one}, {"b", one}, {"c", one}});
  EXPECT_EQ(target.at("a"), Of("t", {0}));
  EXPECT_EQ(target.at("b"), Of("t", {1}));
  EXPECT_THAT(target.at("c"), IsEmpty());
}

TYPED_TEST(CoordinatorTest, AssignsRoundRobin) {
  const std::vector<Subscription> both = {{"t", 3}, {"u", 2}};
  const Assignment target =
      this->Assigned(Assignor::kRoundRobin, {{"a", both}, {"b", both}, {"c", {{"u", 2}}}});
  EXPECT_EQ(target.at("a"), (Partitions{{"t", 0}, {"t", 2}}));
  EXPECT_EQ(target.at("b"), (Partitions{{"t", 1}, {"u", 0}}));
  EXPECT_EQ(target.at("c"), (Partitions{{"u", 1}}));
}

TYPED_TEST(CoordinatorTest, AssignsStickily) {
  Member a = {.name = "a", .subscriptions = {{"t", 6}}};
  Member b = {.name = "b", .subscriptions = {{"t", 6}}};
  Member c = {.name = "c", .subscriptions = {{"t", 6}}};
  ASSERT_THAT(this->Join(a), IsOk());
  ASSERT_THAT(this->Join(b), IsOk());
  this->Settle({&a, &b});
  EXPECT_EQ(a.owned, Of("t", {0, 1, 2}));
  ASSERT_THAT(this->Join(c), IsOk());
  this->Settle({&a, &b, &c});
  EXPECT_EQ(a.owned, Of("t", {0, 1}));
  EXPECT_EQ(b.owned, Of("t", {3, 4}));
  EXPECT_EQ(c.owned, Of("t", {2, 5}));
  ASSERT_THAT(this->Run(this->Make(this->store()).Leave(this->Request(a))), IsOk());
  this->Settle({&b, &c});
  EXPECT_EQ(b.owned, Of("t", {1, 3, 4}));
  EXPECT_EQ(c.owned, Of("t", {0, 2, 5}));
}

// Random groups: members come, go and fall silent; each partition has one owner, and ends at one of
// the members that subscribed to its topic.
TYPED_TEST(CoordinatorTest, GivesEveryPartitionToOneOfItsSubscribers) {
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    SCOPED_TRACE(seed);
    base::Rng rng(seed);
    this->Ask({"FLUSHALL"});
    this->assignor_ = static_cast<Assignor>(seed % 3);
    std::vector<Member> members;
    for (int step = 0; step < 30; ++step) {
      if (members.empty() || rng.Chance(0.3)) {
        Member& added = members.emplace_back();
        added.name = "m" + std::to_string(step);
        added.subscriptions = {{"t", 5}};
        if (rng.Chance(0.5)) added.subscriptions.push_back({"u", 3});
        ASSERT_THAT(this->Join(added), IsOk());
      } else if (rng.Chance(0.2)) {
        members.erase(members.begin() + rng.Below(members.size()));  // It crashes.
        this->Advance(absl::Seconds(4));
      } else {
        Member& member = members[rng.Below(members.size())];
        if (this->BeatError(member) == ErrorCode::kUnknownMemberId) {
          member = {.name = member.name + "x", .subscriptions = member.subscriptions};
          ASSERT_THAT(this->Join(member), IsOk());
        }
      }
      std::set<AssignedPartition> owned;
      for (const auto& [name, partitions] : this->Describe().assignment) {
        for (const AssignedPartition& one : partitions) ASSERT_TRUE(owned.insert(one).second);
      }
    }
    this->Advance(absl::Seconds(10));  // All others are gone.
    Member last = {.name = "last", .subscriptions = {{"t", 5}, {"u", 3}}};
    ASSERT_THAT(this->Join(last), IsOk());
    EXPECT_EQ(last.owned.size(), 8u);
  }
}

TYPED_TEST(CoordinatorTest, CommitsWhatAMemberOwnsAllOrNothing) {
  Member a = {.name = "a"};
  ASSERT_THAT(this->Join(a), IsOk());
  std::vector<OwnedCommit> commits;
  for (const int32_t partition : {0, 1}) {
    const std::string key = "korvet:stream:t:" + std::to_string(partition);
    this->Ask({"XADD", key, "1-1", "f", "v"});
    this->Ask({"XGROUP", "CREATE", key, kGroup, "0"});
    this->Ask({"XREADGROUP", "GROUP", kGroup, "a", "STREAMS", key, ">"});
    commits.push_back({{"t", partition}, {{1, 1}}});
  }
  Coordinator coordinator = this->Make(this->store());
  EXPECT_EQ(ErrorCodeOf(this->Run(coordinator.Commit(kGroup, "b", commits)).status()),
            ErrorCode::kUnknownMemberId);
  Member b = {.name = "b"};
  ASSERT_THAT(this->Join(b), IsOk());
  EXPECT_EQ(ErrorCodeOf(this->Run(coordinator.Commit(kGroup, "b", commits)).status()),
            ErrorCode::kIllegalGeneration);
  EXPECT_THAT(this->Run(coordinator.Commit(kGroup, "a", commits)), IsOkAndHolds(2));
  EXPECT_THAT(this->Run(coordinator.Commit(kGroup, "a", commits)), IsOkAndHolds(0)) << "repeated";
  EXPECT_THAT(this->Run(coordinator.Commit(kGroup, "a", {})), IsOkAndHolds(0));
}

TYPED_TEST(CoordinatorTest, CommitsManyIdsByOneScript) {
  Member a = {.name = "a"};
  ASSERT_THAT(this->Join(a), IsOk());
  const std::string key = "korvet:stream:t:0";
  OwnedCommit commit = {{"t", 0}, {}};
  for (uint64_t i = 1; i <= 2500; ++i) {
    this->Ask({"XADD", key, "1-" + std::to_string(i), "f", "v"});
    commit.ids.push_back({1, i});
  }
  this->Ask({"XGROUP", "CREATE", key, kGroup, "0"});
  this->Ask({"XREADGROUP", "GROUP", kGroup, "a", "STREAMS", key, ">"});
  EXPECT_THAT(this->Run(this->Make(this->store()).Commit(kGroup, "a", std::span(&commit, 1))),
              IsOkAndHolds(2500));
}

TYPED_TEST(CoordinatorTest, TakesOneRoundTripForEachCall) {
  tests::InterceptedStore store(this->store());
  Coordinator coordinator = this->Make(store);
  Member a = {.name = "a"};
  ASSERT_THAT(this->Run(coordinator.Join(this->Request(a))), IsOk());
  const size_t loaded = store.requests();
  ASSERT_THAT(this->Run(coordinator.Heartbeat(this->Request(a))), IsOk());
  EXPECT_EQ(store.requests(), loaded + 1);
  ASSERT_THAT(this->Run(coordinator.Describe(kGroup)), IsOk());
  EXPECT_EQ(store.requests(), loaded + 2);
  ASSERT_THAT(this->Run(coordinator.Leave(this->Request(a))), IsOk());
  EXPECT_EQ(store.requests(), loaded + 3);
  ASSERT_THAT(this->Run(coordinator.Delete(kGroup)), IsOk());
  EXPECT_EQ(store.requests(), loaded + 5);
}

TYPED_TEST(CoordinatorTest, DeletesAGroupWithoutMembers) {
  Coordinator coordinator = this->Make(this->store());
  EXPECT_EQ(ErrorCodeOf(this->Run(coordinator.Delete(kGroup))), ErrorCode::kGroupIdNotFound);
  Member a = {.name = "a"};
  ASSERT_THAT(this->Join(a), IsOk());
  EXPECT_EQ(ErrorCodeOf(this->Run(coordinator.Delete(kGroup))), ErrorCode::kNonEmptyGroup);
  this->Advance(absl::Seconds(10));
  ASSERT_THAT(this->Run(coordinator.Delete(kGroup)), IsOk());
  EXPECT_EQ(this->Ask({"DBSIZE"}), Reply::Integer(0));
}

TYPED_TEST(CoordinatorTest, ChecksARequestBeforeAnythingIsSent) {
  tests::InterceptedStore store(this->store());
  Coordinator coordinator = this->Make(store);
  Member a = {.name = "a"};
  MemberHeartbeat nameless = this->Request(a);
  nameless.group.clear();
  EXPECT_EQ(ErrorCodeOf(this->Run(coordinator.Join(nameless)).status()),
            ErrorCode::kInvalidGroupId);
  for (const std::string_view name : {"", "a b", "a\n"}) {
    Member bad = {.name = std::string(name)};
    EXPECT_EQ(ErrorCodeOf(this->Run(coordinator.Join(this->Request(bad))).status()),
              ErrorCode::kInvalidRequest);
  }
  EXPECT_EQ(store.requests(), 0u);
}

TYPED_TEST(CoordinatorTest, NamesAValueThatItCannotRead) {
  Member a = {.name = "a"};
  const auto expect_unreadable = [&](std::string_view key, std::string_view field) {
    this->Ask({"FLUSHALL"});
    this->Ask({"HSET", key, field, "soon"});
    EXPECT_EQ(ErrorCodeOf(this->Join(a).status()), ErrorCode::kUnknownServerError) << key;
    EXPECT_EQ(this->Ask({"DBSIZE"}), Reply::Integer(1)) << "it writes nothing";
  };
  expect_unreadable("korvet:group-members:my-group", "x");
  expect_unreadable("korvet:group-partitions:my-group", "t:0");
  expect_unreadable("korvet:group:my-group", "epoch");
}

TYPED_TEST(CoordinatorTest, CallsItselfUnavailableWhileRedisIs) {
  tests::InterceptedStore store(this->store());
  store.on_request = [](size_t) { return absl::StatusOr<Reply>(store::NotSentError("down")); };
  Coordinator coordinator = this->Make(store);
  Member a = {.name = "a"};
  EXPECT_EQ(ErrorCodeOf(this->Run(coordinator.Join(this->Request(a))).status()),
            ErrorCode::kCoordinatorNotAvailable);
  EXPECT_EQ(ErrorCodeOf(this->Run(coordinator.Describe(kGroup)).status()),
            ErrorCode::kCoordinatorNotAvailable);
}

TEST(Assignor, HasTheNameOfKafka) {
  for (const std::string_view name : {"cooperative-sticky", "range", "roundrobin"}) {
    ASSERT_TRUE(FindAssignor(name)) << name;
    EXPECT_EQ(AssignorName(*FindAssignor(name)), name);
  }
  EXPECT_EQ(FindAssignor("sticky"), std::nullopt);
}

}  // namespace
}  // namespace redouble::inline v0_1::korvet
