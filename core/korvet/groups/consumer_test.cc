#include "redouble/core/korvet/groups/consumer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "redouble/core/base/status/status_matchers.h"
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
using ::testing::StartsWith;
using tests::InterceptedStore;

std::vector<int64_t> OffsetsOf(const std::vector<ConsumedRecord>& records) {
  std::vector<int64_t> offsets;
  for (const ConsumedRecord& record : records) offsets.push_back(record.record.offset);
  return offsets;
}

template <typename Backend>
class ConsumerTest : public TopicTest<Backend> {
 protected:
  void SetUp() override {
    TopicTest<Backend>::SetUp();
    if (this->IsSkipped()) return;
    topic_ = this->MakeTopic();
    group_.emplace(this->store(), this->keys_, topic_, "my-group");
  }

  // Options of a member that sends a heartbeat with each poll.
  static ConsumerOptions Options() {
    ConsumerOptions options;
    options.client_id = "c";
    options.heartbeat_interval = absl::ZeroDuration();
    return options;
  }
  // A consumer that has subscribed to the topic.
  std::unique_ptr<Consumer> Make(store::Store& store, ConsumerOptions options = Options()) {
    auto consumer = std::make_unique<Consumer>(store, this->clock_, this->rng_, this->keys_,
                                               "my-group", std::move(options));
    EXPECT_THAT(this->Run(consumer->Subscribe({"orders"})), IsOk());
    return consumer;
  }
  std::unique_ptr<Consumer> New(int64_t max_records = 100,
                                UnreadablePolicy unreadable = UnreadablePolicy::kPark) {
    ConsumerOptions options = Options();
    options.max_records = max_records;
    options.unreadable = unreadable;
    return Make(this->store(), std::move(options));
  }
  std::vector<ConsumedRecord> Poll(Consumer& consumer) {
    return this->Run(consumer.Poll()).value();
  }
  // Lets the members poll until nothing moves; they get no records.
  void Settle(std::vector<Consumer*> consumers) {
    for (int i = 0; i < 3; ++i) {
      for (Consumer* const consumer : consumers) EXPECT_THAT(Poll(*consumer), IsEmpty());
    }
  }
  static std::vector<AssignedPartition> Orders(const std::vector<int32_t>& numbers) {
    std::vector<AssignedPartition> partitions;
    for (const int32_t number : numbers) partitions.push_back({"orders", number});
    return partitions;
  }
  void Wait(absl::Duration time) {
    this->Advance(time);
    this->clock_.AdvanceTo(this->now());
  }

  Topic topic_;
  std::optional<ConsumerGroup> group_;
};
TYPED_TEST_SUITE(ConsumerTest, tests::LayoutBackends, tests::BackendNames);

TYPED_TEST(ConsumerTest, ReadsAllPartitionsWhenItIsAlone) {
  this->WriteMany(this->topic_, 2, 0);
  this->WriteMany(this->topic_, 1, 2);
  const auto consumer = this->New();
  EXPECT_THAT(OffsetsOf(this->Poll(*consumer)),
              ElementsAre(kFirstOffset, kFirstOffset + 1, kFirstOffset));
  EXPECT_THAT(consumer->member_id(), StartsWith("c-"));
  EXPECT_EQ(consumer->partitions(), this->Orders({0, 1, 2}));
  EXPECT_THAT(this->Poll(*consumer), IsEmpty());
  ASSERT_THAT(this->Run(consumer->Commit()), IsOk());
  EXPECT_THAT(this->Run(this->group_->Committed(0)), IsOkAndHolds(kFirstOffset + 2));
  EXPECT_THAT(this->Run(this->group_->Committed(2)), IsOkAndHolds(kFirstOffset + 1));
}

TYPED_TEST(ConsumerTest, SharesThePartitionsWithOthers) {
  const auto first = this->New();
  const auto second = this->New();
  this->Poll(*first);
  EXPECT_THAT(this->Poll(*second), IsEmpty()) << "the first has not heard of it yet";
  EXPECT_THAT(second->partitions(), IsEmpty());
  this->Poll(*first);
  this->Poll(*second);
  EXPECT_EQ(first->partitions(), this->Orders({0, 1}));
  EXPECT_EQ(second->partitions(), this->Orders({2}));
  EXPECT_NE(first->member_id(), second->member_id());
  this->WriteMany(this->topic_, 1, 0);
  this->WriteMany(this->topic_, 1, 2);
  EXPECT_EQ(this->Poll(*first).size(), 1u);
  EXPECT_EQ(this->Poll(*second).size(), 1u);
}

TYPED_TEST(ConsumerTest, SendsAHeartbeatInEachInterval) {
  tests::InterceptedStore store(this->store());
  const auto consumer = this->Make(store, {.heartbeat_interval = absl::Seconds(3)});
  this->Poll(*consumer);
  const auto requests = [&] {
    const size_t before = store.requests();
    this->Poll(*consumer);
    return store.requests() - before;
  };
  EXPECT_EQ(requests(), 1u) << "XREADGROUP alone";
  this->Wait(absl::Milliseconds(2999));
  EXPECT_EQ(requests(), 1u);
  this->Wait(absl::Milliseconds(1));
  EXPECT_EQ(requests(), 2u);
}

TYPED_TEST(ConsumerTest, ReadsSeveralTopicsByOneCommand) {
  Topics topics(this->store(), this->rng_, this->keys_);
  ASSERT_THAT(this->Run(topics.Create({.name = "payments"})), IsOk());
  const Topic payments = this->Run(topics.Describe("payments")).value();
  tests::InterceptedStore store(this->store());
  const auto consumer = this->Make(store, {});
  ASSERT_THAT(this->Run(consumer->Subscribe({"payments", "orders"})), IsOk());
  this->Poll(*consumer);
  this->WriteMany(this->topic_, 1, 2);
  this->WriteMany(payments, 1);
  const size_t before = store.requests();
  const std::vector<ConsumedRecord> records = this->Poll(*consumer);
  EXPECT_EQ(store.requests(), before + 1);
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].topic, "orders");
  EXPECT_EQ(records[1].topic, "payments");
  ASSERT_THAT(this->Run(consumer->Commit()), IsOk());
  EXPECT_EQ(store.requests(), before + 3) << "one script, which was not in the cache";
  EXPECT_EQ(this->Run(this->group_->Lag(2)).value(), GroupLag());

  ASSERT_THAT(this->Run(consumer->Subscribe({"payments"})), IsOk());
  this->Poll(*consumer);
  EXPECT_EQ(consumer->partitions(), (std::vector<AssignedPartition>{{"payments", 0}}));
}

TYPED_TEST(ConsumerTest, TellsWhichPartitionsComeAndGo) {
  std::vector<std::string> told;
  const auto tell = [&told](std::string what) {
    return [&told, what](std::span<const AssignedPartition> partitions) -> base::Task<void> {
      for (const AssignedPartition& one : partitions) {
        told.push_back(what + std::to_string(one.partition));
      }
      co_return;
    };
  };
  ConsumerOptions options = this->Options();
  options.on_assigned = tell("+");
  options.on_revoked = tell("-");
  options.on_lost = tell("?");
  const auto first = this->Make(this->store(), options);
  this->Poll(*first);
  EXPECT_THAT(std::exchange(told, {}), ElementsAre("+0", "+1", "+2"));
  const auto second = this->New();
  this->Poll(*second);
  this->Poll(*first);
  EXPECT_THAT(std::exchange(told, {}), ElementsAre("-2"));
  this->Wait(absl::Seconds(45));
  this->Poll(*first);
  EXPECT_THAT(std::exchange(told, {}), ElementsAre("?0", "?1", "+0", "+1", "+2"));
  ASSERT_THAT(this->Run(first->Close()), IsOk());
  EXPECT_THAT(told, ElementsAre("-0", "-1", "-2"));
}

// The partition is still the member's while the callback runs.
TYPED_TEST(ConsumerTest, MayCommitBeforeItGivesAPartitionUp) {
  this->WriteMany(this->topic_, 1, 2);
  Consumer* member = nullptr;
  absl::Status committed = absl::UnknownError("not called");
  ConsumerOptions options = this->Options();
  options.on_revoked = [&](std::span<const AssignedPartition>) -> base::Task<void> {
    committed = co_await member->Commit();
  };
  const auto first = this->Make(this->store(), options);
  member = first.get();
  EXPECT_EQ(this->Poll(*first).size(), 1u);
  const auto second = this->New();
  this->Poll(*second);
  this->Poll(*first);
  EXPECT_THAT(committed, IsOk());
  EXPECT_THAT(this->Poll(*second), IsEmpty()) << "nothing is delivered again";
  EXPECT_EQ(second->partitions(), this->Orders({2}));
}

TYPED_TEST(ConsumerTest, ReadsOnFromThePartitionsThatItKeeps) {
  const auto first = this->New();
  const auto second = this->New();
  this->Poll(*first);
  this->Poll(*second);
  this->WriteMany(this->topic_, 1, 0);
  EXPECT_EQ(this->Poll(*first).size(), 1u) << "in the poll that gives the other partition up";
  EXPECT_EQ(first->partitions(), this->Orders({0, 1}));
}

TYPED_TEST(ConsumerTest, ReadsAssignedPartitionsWithoutAGroup) {
  this->WriteMany(this->topic_, 2, 1);
  this->WriteMany(this->topic_, 1, 2);
  Consumer consumer(this->store(), this->clock_, this->rng_, this->keys_, "my-group");
  EXPECT_EQ(ErrorCodeOf(this->Run(consumer.Poll()).status()), ErrorCode::kInvalidRequest);
  EXPECT_EQ(ErrorCodeOf(this->Run(consumer.Assign(this->Orders({3})))),
            ErrorCode::kUnknownTopicOrPartition);
  ASSERT_THAT(this->Run(consumer.Assign(this->Orders({1}))), IsOk());
  EXPECT_EQ(ErrorCodeOf(this->Run(consumer.Subscribe({"orders"}))), ErrorCode::kInvalidRequest);
  EXPECT_EQ(this->Poll(consumer).size(), 2u);
  ASSERT_THAT(this->Run(consumer.Commit()), IsOk());
  EXPECT_THAT(this->Run(this->group_->Committed(1)), IsOkAndHolds(kFirstOffset + 2));
  EXPECT_EQ(this->Ask({"EXISTS", "korvet:group:my-group"}), Reply::Integer(0));
  ASSERT_THAT(this->Run(consumer.Close()), IsOk());
  const auto subscribed = this->New();
  EXPECT_EQ(ErrorCodeOf(this->Run(subscribed->Assign(this->Orders({1})))),
            ErrorCode::kInvalidRequest);
  EXPECT_EQ(ErrorCodeOf(this->Run(subscribed->Subscribe({"payments"}))),
            ErrorCode::kUnknownTopicOrPartition);
}

TYPED_TEST(ConsumerTest, DeliversAgainWhatADeadMemberHadNotCommitted) {
  this->WriteMany(this->topic_, 4);
  {
    const auto dies = this->New(2);
    EXPECT_EQ(this->Poll(*dies).size(), 2u);
    ASSERT_THAT(this->Run(dies->Commit()), IsOk());
    EXPECT_EQ(this->Poll(*dies).size(), 2u);
  }
  this->Wait(absl::Seconds(5));
  const auto lives = this->New();
  EXPECT_THAT(this->Poll(*lives), IsEmpty()) << "the dead one is a member still";
  this->Wait(absl::Seconds(40));
  const std::vector<ConsumedRecord> records = this->Poll(*lives);
  EXPECT_THAT(OffsetsOf(records), ElementsAre(kFirstOffset + 2, kFirstOffset + 3));
  EXPECT_TRUE(records[0].claimed);
}

TYPED_TEST(ConsumerTest, KeepsItsPlaceInAPartitionThatStays) {
  this->WriteMany(this->topic_, 3);
  const auto first = this->New(2);
  this->Poll(*first);
  const auto second = this->New();
  this->Poll(*second);
  EXPECT_THAT(OffsetsOf(this->Poll(*first)), ElementsAre(kFirstOffset + 2)) << "nothing twice";
}

TYPED_TEST(ConsumerTest, LeavesAtOnceWhenItIsClosed) {
  this->WriteMany(this->topic_, 1);
  const auto first = this->New();
  EXPECT_THAT(this->Run(first->Close()), IsOk()) << "it never joined";
  this->Poll(*first);
  const std::string id = first->member_id();
  ASSERT_THAT(this->Run(first->Close()), IsOk());
  EXPECT_THAT(first->partitions(), IsEmpty());
  const auto second = this->New();
  EXPECT_EQ(this->Poll(*second).size(), 1u);
  EXPECT_EQ(this->Poll(*first).size(), 0u) << "it can come back";
  EXPECT_NE(first->member_id(), id);
}

TYPED_TEST(ConsumerTest, DoesNotCommitWhatMayHaveAnotherReader) {
  this->WriteMany(this->topic_, 1);
  const auto first = this->New();
  EXPECT_EQ(ErrorCodeOf(this->Run(first->Commit())), ErrorCode::kUnknownMemberId);
  EXPECT_EQ(this->Poll(*first).size(), 1u);
  this->Wait(absl::Seconds(45));
  const auto second = this->New();
  EXPECT_EQ(this->Poll(*second).size(), 1u);
  EXPECT_EQ(ErrorCodeOf(this->Run(first->Commit())), ErrorCode::kUnknownMemberId);
  EXPECT_THAT(this->Run(this->group_->Committed(0)), IsOkAndHolds(kFirstOffset));
  this->Poll(*first);
  ASSERT_THAT(this->Run(second->Commit()), IsOk());
}

// No partition has moved until its owner has given it up.
TYPED_TEST(ConsumerTest, CommitsDuringARebalance) {
  this->WriteMany(this->topic_, 1);
  this->WriteMany(this->topic_, 1, 2);
  const auto first = this->New();
  EXPECT_EQ(this->Poll(*first).size(), 2u);
  const auto second = this->New();
  EXPECT_THAT(this->Poll(*second), IsEmpty());
  ASSERT_THAT(this->Run(first->Commit()), IsOk());
  EXPECT_THAT(this->Run(this->group_->Committed(2)), IsOkAndHolds(kFirstOffset + 1));
  this->Poll(*first);
  EXPECT_THAT(this->Poll(*second), IsEmpty()) << "nothing is delivered again";
  EXPECT_EQ(second->partitions(), this->Orders({2}));
}

TYPED_TEST(ConsumerTest, DeliversAgainWhatWasNotCommittedBeforeThePartitionMoved) {
  this->WriteMany(this->topic_, 1, 2);
  const auto first = this->New();
  EXPECT_EQ(this->Poll(*first).size(), 1u);
  const auto second = this->New();
  this->Poll(*second);
  this->Poll(*first);
  ASSERT_THAT(this->Run(first->Commit()), IsOk()) << "of what it still has";
  const std::vector<ConsumedRecord> records = this->Poll(*second);
  ASSERT_EQ(records.size(), 1u);
  EXPECT_TRUE(records[0].claimed);
}

TYPED_TEST(ConsumerTest, ReadsPartitionsThatWereAdded) {
  const auto consumer = this->New();
  Consumer& first = *consumer;
  this->Poll(first);
  Topics topics(this->store(), this->rng_, this->keys_);
  ASSERT_THAT(this->Run(topics.AddPartitions({.topic = "orders", .total = 5})), IsOk());
  Topic now = this->topic_;
  now.partitions = 5;
  this->WriteMany(now, 1, 4);
  EXPECT_THAT(this->Poll(first), IsEmpty());
  for (int i = 0; i < 8; ++i) {
    this->Wait(absl::Seconds(37));
    ASSERT_THAT(this->Poll(first), IsEmpty()) << "before the metadata are five minutes old";
  }
  this->Wait(absl::Seconds(4));
  EXPECT_EQ(this->Poll(first).size(), 1u);
  EXPECT_EQ(first.partitions(), this->Orders({0, 1, 2, 3, 4}));
}

TYPED_TEST(ConsumerTest, SharesPartitionsThatWereAdded) {
  ConsumerOptions options = this->Options();
  options.metadata_max_age = absl::ZeroDuration();
  const auto first = this->Make(this->store(), options);
  const auto second = this->Make(this->store(), options);
  this->Settle({first.get(), second.get()});
  Topics topics(this->store(), this->rng_, this->keys_);
  ASSERT_THAT(this->Run(topics.AddPartitions({.topic = "orders", .total = 6})), IsOk());
  this->Settle({first.get(), second.get()});
  EXPECT_EQ(first->partitions().size(), 3u);
  EXPECT_EQ(second->partitions().size(), 3u);
}

// An entry that a foreign program wrote does not keep the group from the records.
TYPED_TEST(ConsumerTest, ParksAnEntryThatIsNotARecord) {
  this->Ask({"XADD", "korvet:stream:orders:0", "1-1024", "value", "foreign"});
  this->Write(this->topic_, 0);
  this->WriteMany(this->topic_, 1, 1);
  const auto member = this->New();
  Consumer& consumer = *member;
  EXPECT_THAT(OffsetsOf(this->Poll(consumer)), ElementsAre(kFirstOffset, kFirstOffset));
  ASSERT_EQ(consumer.unreadable().size(), 1u);
  EXPECT_EQ(consumer.unreadable()[0].id, (store::StreamId{1, 1024}));
  ASSERT_THAT(this->Run(consumer.Commit()), IsOk());
  EXPECT_THAT(this->Poll(consumer), IsEmpty());
  EXPECT_THAT(consumer.unreadable(), IsEmpty());
  EXPECT_EQ(this->Run(this->group_->Lag(0)).value(), (GroupLag{0, 1})) << "it stays pending";
  EXPECT_EQ(this->Run(this->group_->Progress(0)).value(),
            (GroupProgress{std::nullopt, {0, 1}, kFirstOffset + 1}));
  this->Wait(absl::Seconds(44));
  this->Poll(consumer);
  this->Wait(absl::Seconds(1));
  EXPECT_THAT(this->Poll(consumer), IsEmpty());
  EXPECT_EQ(consumer.unreadable().size(), 1u)
      << "it is reported again by the claim of idle entries";
}

TYPED_TEST(ConsumerTest, SkipsAnEntryThatIsNotARecord) {
  this->Ask({"XADD", "korvet:stream:orders:0", "1-1024", "value", "foreign"});
  this->Write(this->topic_, 0);
  {
    const auto leaves = this->New();
    EXPECT_THAT(OffsetsOf(this->Poll(*leaves)), ElementsAre(kFirstOffset));
    EXPECT_EQ(leaves->unreadable().size(), 1u);
    ASSERT_THAT(this->Run(leaves->Close()), IsOk());
  }
  InterceptedStore store(this->store());
  store.on_request = [&](size_t) -> std::optional<absl::StatusOr<Reply>> {
    if (store.log().back().starts_with("XACK")) return store::NotSentError("down");
    return std::nullopt;
  };
  ConsumerOptions options = this->Options();
  options.unreadable = UnreadablePolicy::kSkip;
  const auto member = this->Make(store, options);
  Consumer& consumer = *member;
  EXPECT_THAT(OffsetsOf(this->Poll(consumer)), ElementsAre(kFirstOffset))
      << "the record is returned although the acknowledgement failed";
  EXPECT_EQ(consumer.unreadable().size(), 1u);
  store.on_request = nullptr;
  const auto next = this->New(100, UnreadablePolicy::kSkip);
  ASSERT_THAT(this->Run(consumer.Close()), IsOk());
  EXPECT_THAT(OffsetsOf(this->Poll(*next)), ElementsAre(kFirstOffset));
  EXPECT_EQ(next->unreadable().size(), 1u);
  ASSERT_THAT(this->Run(next->Commit()), IsOk());
  EXPECT_EQ(this->Run(this->group_->Lag(0)).value(), GroupLag());
}

TYPED_TEST(ConsumerTest, DeliversWhatAPollTookWhoseAnswerWasLost) {
  this->WriteMany(this->topic_, 2);
  InterceptedStore store(this->store());
  ConsumerGroup group(store, this->keys_, this->topic_, "my-group");
  ASSERT_THAT(this->Run(group.Create(std::vector<int32_t>{0, 1, 2}, {})), IsOk());
  const auto member = this->Make(store);
  Consumer& consumer = *member;
  // After the script of the join, which Redis does not know, and the claims of three partitions.
  const size_t poll = store.requests() + 5;
  store.on_request = [&](size_t index) -> std::optional<absl::StatusOr<Reply>> {
    if (index != poll) return std::nullopt;
    this->Ask({"XREADGROUP", "GROUP", "my-group", "consumer-1", "STREAMS", "korvet:stream:orders:0",
               ">"});
    return absl::StatusOr<Reply>(store::OutcomeUnknownError("lost"));
  };
  EXPECT_EQ(ErrorCodeOf(this->Run(consumer.Poll()).status()), ErrorCode::kRequestTimedOut);
  const auto records = this->Run(consumer.Poll()).value();
  EXPECT_THAT(OffsetsOf(records), ElementsAre(kFirstOffset, kFirstOffset + 1));
}

TYPED_TEST(ConsumerTest, ClaimsInTimeWhatALateReadOfADeadMemberTook) {
  this->WriteMany(this->topic_, 2);
  const auto member = this->New(1);
  Consumer& consumer = *member;
  EXPECT_EQ(this->Poll(consumer).size(), 1u);
  this->Ask({"XREADGROUP", "GROUP", "my-group", "dead", "STREAMS", "korvet:stream:orders:0", ">"});
  this->Write(this->topic_, 2);
  EXPECT_THAT(OffsetsOf(this->Poll(consumer)), ElementsAre(kFirstOffset + 2));
  ASSERT_THAT(this->Run(consumer.Commit()), IsOk());
  EXPECT_THAT(this->Run(this->group_->Committed(0)), IsOkAndHolds(kFirstOffset + 1))
      << "what was not given here is not committed";
  this->Wait(absl::Seconds(44));
  EXPECT_THAT(this->Poll(consumer), IsEmpty());
  this->Wait(absl::Seconds(1));
  const auto records = this->Poll(consumer);
  EXPECT_THAT(OffsetsOf(records), ElementsAre(kFirstOffset + 1));
  EXPECT_TRUE(records[0].claimed);
}

TYPED_TEST(ConsumerTest, PassesOnFailures) {
  InterceptedStore store(this->store());
  const auto consumer = this->Make(store);
  store.on_request = [](size_t) { return absl::StatusOr<Reply>(store::NotSentError("down")); };
  EXPECT_EQ(ErrorCodeOf(this->Run(consumer->Poll()).status()), ErrorCode::kCoordinatorNotAvailable);
  EXPECT_EQ(ErrorCodeOf(this->Run(consumer->Subscribe({"other"}))),
            ErrorCode::kCoordinatorNotAvailable);
  store.on_request = nullptr;
  Consumer nobody(store, this->clock_, this->rng_, this->keys_, "");
  ASSERT_THAT(this->Run(nobody.Subscribe({"orders"})), IsOk());
  EXPECT_EQ(ErrorCodeOf(this->Run(nobody.Poll()).status()), ErrorCode::kInvalidGroupId);
}

// The reply to a heartbeat is lost at each place; the next poll takes up where it was.
TYPED_TEST(ConsumerTest, GoesOnAfterALostHeartbeat) {
  InterceptedStore store(this->store());
  const auto consumer = this->Make(store);
  size_t lost = 0;
  store.on_request = [&](size_t index) -> std::optional<absl::StatusOr<Reply>> {
    if (index != lost) return std::nullopt;
    return absl::StatusOr<Reply>(store::OutcomeUnknownError("lost"));
  };
  lost = store.requests();
  EXPECT_EQ(ErrorCodeOf(this->Run(consumer->Poll()).status()), ErrorCode::kRequestTimedOut);
  this->Poll(*consumer);
  lost = store.requests();
  EXPECT_EQ(ErrorCodeOf(this->Run(consumer->Poll()).status()), ErrorCode::kRequestTimedOut);
  this->WriteMany(this->topic_, 1, 1);
  EXPECT_EQ(this->Poll(*consumer).size(), 1u);
  EXPECT_EQ(consumer->partitions(), this->Orders({0, 1, 2}));
}

TYPED_TEST(ConsumerTest, CommitsNothingTwiceAndForgetsNothingThatFailed) {
  this->WriteMany(this->topic_, 1);
  InterceptedStore store(this->store());
  ConsumerGroup group(store, this->keys_, this->topic_, "my-group");
  const auto member = this->Make(store);
  Consumer& consumer = *member;
  ASSERT_EQ(this->Run(consumer.Poll()).value().size(), 1u);
  bool down = true;
  store.on_request = [&](size_t) -> std::optional<absl::StatusOr<Reply>> {
    if (down) return absl::StatusOr<Reply>(store::NotSentError("down"));
    return std::nullopt;
  };
  EXPECT_EQ(ErrorCodeOf(this->Run(consumer.Commit())), ErrorCode::kCoordinatorNotAvailable);
  down = false;
  ASSERT_THAT(this->Run(consumer.Commit()), IsOk());
  EXPECT_THAT(this->Run(group.Committed(0)), IsOkAndHolds(kFirstOffset + 1));
  const size_t before = store.requests();
  ASSERT_THAT(this->Run(consumer.Commit()), IsOk());
  EXPECT_EQ(store.requests(), before);
}

}  // namespace
}  // namespace redouble::inline v0_1::korvet
