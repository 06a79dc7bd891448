#include "redouble/core/korvet/groups/consumer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/store/errors.h"
#include "redouble/tests/support/intercepted_store.h"
#include "redouble/tests/support/korvet_topic.h"

namespace redouble::korvet {
namespace {

using base::IsOk;
using base::IsOkAndHolds;
using store::Reply;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
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

  Consumer New(int64_t max_records = 100, UnreadablePolicy unreadable = UnreadablePolicy::kPark) {
    ConsumerOptions options;
    options.client_id = "c";
    options.max_records = max_records;
    options.unreadable = unreadable;
    return Consumer(*group_, coordinator_, this->clock_, options);
  }
  std::vector<ConsumedRecord> Poll(Consumer& consumer) {
    return this->Run(consumer.Poll()).value();
  }
  void Wait(absl::Duration time) {
    this->Advance(time);
    this->clock_.AdvanceTo(this->now());
  }

  Topic topic_;
  std::optional<ConsumerGroup> group_;
  Coordinator coordinator_{
      this->clock_, {.session_timeout = absl::Seconds(45), .rebalance_timeout = absl::Seconds(60)}};
};
TYPED_TEST_SUITE(ConsumerTest, tests::Backends, tests::BackendNames);

TYPED_TEST(ConsumerTest, ReadsAllPartitionsWhenItIsAlone) {
  this->WriteMany(this->topic_, 2, 0);
  this->WriteMany(this->topic_, 1, 2);
  Consumer consumer = this->New();
  EXPECT_THAT(OffsetsOf(this->Poll(consumer)),
              ElementsAre(kFirstOffset, kFirstOffset + 1, kFirstOffset));
  EXPECT_EQ(consumer.member_id(), "c-1");
  EXPECT_THAT(consumer.partitions(), ElementsAre(0, 1, 2));
  EXPECT_THAT(this->Poll(consumer), IsEmpty());
  ASSERT_THAT(this->Run(consumer.Commit()), IsOk());
  EXPECT_THAT(this->Run(this->group_->Committed(0)), IsOkAndHolds(kFirstOffset + 2));
  EXPECT_THAT(this->Run(this->group_->Committed(2)), IsOkAndHolds(kFirstOffset + 1));
}

TYPED_TEST(ConsumerTest, SharesThePartitionsWithOthers) {
  Consumer first = this->New();
  Consumer second = this->New();
  this->Poll(first);
  EXPECT_THAT(this->Poll(second), IsEmpty()) << "the first has not heard of it yet";
  this->Poll(first);
  this->Poll(second);
  EXPECT_THAT(first.partitions(), ElementsAre(0, 1));
  EXPECT_THAT(second.partitions(), ElementsAre(2));
  this->WriteMany(this->topic_, 1, 0);
  this->WriteMany(this->topic_, 1, 2);
  EXPECT_EQ(this->Poll(first).size(), 1u);
  EXPECT_EQ(this->Poll(second).size(), 1u);
}

TYPED_TEST(ConsumerTest, DeliversAgainWhatADeadMemberHadNotCommitted) {
  this->WriteMany(this->topic_, 4);
  {
    Consumer dies = this->New(2);
    EXPECT_EQ(this->Poll(dies).size(), 2u);
    ASSERT_THAT(this->Run(dies.Commit()), IsOk());
    EXPECT_EQ(this->Poll(dies).size(), 2u);
  }
  Consumer lives = this->New();
  EXPECT_THAT(this->Poll(lives), IsEmpty()) << "the dead one is a member still";
  this->Wait(absl::Seconds(45));
  const std::vector<ConsumedRecord> records = this->Poll(lives);
  EXPECT_THAT(OffsetsOf(records), ElementsAre(kFirstOffset + 2, kFirstOffset + 3));
  EXPECT_TRUE(records[0].claimed);
}

TYPED_TEST(ConsumerTest, KeepsItsPlaceInAPartitionThatStays) {
  this->WriteMany(this->topic_, 3);
  Consumer first = this->New(2);
  this->Poll(first);
  Consumer second = this->New();
  this->Poll(second);
  EXPECT_THAT(OffsetsOf(this->Poll(first)), ElementsAre(kFirstOffset + 2)) << "nothing twice";
}

TYPED_TEST(ConsumerTest, LeavesAtOnceWhenItIsClosed) {
  this->WriteMany(this->topic_, 1);
  Consumer first = this->New();
  EXPECT_THAT(first.Close(), IsOk()) << "it never joined";
  this->Poll(first);
  ASSERT_THAT(first.Close(), IsOk());
  EXPECT_THAT(first.partitions(), IsEmpty());
  Consumer second = this->New();
  EXPECT_EQ(this->Poll(second).size(), 1u);
  EXPECT_EQ(this->Poll(first).size(), 0u) << "it can come back";
  EXPECT_EQ(first.member_id(), "c-3");
}

TYPED_TEST(ConsumerTest, DoesNotCommitWhatMayHaveAnotherReader) {
  this->WriteMany(this->topic_, 1);
  Consumer first = this->New();
  EXPECT_EQ(ErrorCodeOf(this->Run(first.Commit())), ErrorCode::kUnknownMemberId);
  this->Poll(first);
  Consumer second = this->New();
  this->Poll(second);
  this->Wait(absl::Seconds(45));
  EXPECT_EQ(ErrorCodeOf(this->Run(first.Commit())), ErrorCode::kUnknownMemberId);
  EXPECT_THAT(this->Run(this->group_->Committed(0)), IsOkAndHolds(kFirstOffset));
  this->Poll(second);
  this->Poll(first);
  EXPECT_EQ(first.member_id(), "c-4") << "both were given up, and come as others";
}

// No partition has moved until the rebalance has ended.
TYPED_TEST(ConsumerTest, CommitsDuringARebalance) {
  this->WriteMany(this->topic_, 1);
  this->WriteMany(this->topic_, 1, 2);
  Consumer first = this->New();
  EXPECT_EQ(this->Poll(first).size(), 2u);
  Consumer second = this->New();
  EXPECT_THAT(this->Poll(second), IsEmpty());
  ASSERT_THAT(this->Run(first.Commit()), IsOk());
  EXPECT_THAT(this->Run(this->group_->Committed(2)), IsOkAndHolds(kFirstOffset + 1));
  this->Poll(first);
  EXPECT_THAT(this->Poll(second), IsEmpty()) << "nothing is delivered again";
  EXPECT_THAT(second.partitions(), ElementsAre(2));
}

TYPED_TEST(ConsumerTest, DoesNotCommitInAGenerationThatHasEnded) {
  this->WriteMany(this->topic_, 1, 2);
  Consumer first = this->New();
  EXPECT_EQ(this->Poll(first).size(), 1u);
  Consumer second = this->New();
  this->Poll(second);
  Coordinator& coordinator = this->coordinator_;
  const std::string id = first.member_id();
  ASSERT_THAT(
      coordinator.Join({.group = "my-group", .member_id = id, .subscriptions = {{"orders", 3}}}),
      IsOk());
  EXPECT_EQ(ErrorCodeOf(this->Run(first.Commit())), ErrorCode::kIllegalGeneration);
  EXPECT_EQ(this->Poll(second).size(), 1u) << "the record of the partition that has moved";
}

TYPED_TEST(ConsumerTest, ReadsPartitionsThatWereAdded) {
  Consumer first = this->New();
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
  EXPECT_THAT(first.partitions(), ElementsAre(0, 1, 2, 3, 4));
}

TYPED_TEST(ConsumerTest, SharesPartitionsThatWereAdded) {
  ConsumerOptions options;
  options.client_id = "c";
  options.metadata_max_age = absl::ZeroDuration();
  // Each process has its own view of the topic.
  ConsumerGroup group(this->store(), this->keys_, this->topic_, "my-group");
  Consumer first(group, this->coordinator_, this->clock_, options);
  Consumer second(*this->group_, this->coordinator_, this->clock_, options);
  for (int i = 0; i < 2; ++i) {
    this->Poll(first);
    this->Poll(second);
  }
  Topics topics(this->store(), this->rng_, this->keys_);
  ASSERT_THAT(this->Run(topics.AddPartitions({.topic = "orders", .total = 6})), IsOk());
  for (int i = 0; i < 2; ++i) {
    this->Poll(first);
    this->Poll(second);
  }
  EXPECT_THAT(first.partitions(), ElementsAre(0, 1, 2));
  EXPECT_THAT(second.partitions(), ElementsAre(3, 4, 5));
}

// An entry that a foreign program wrote does not keep the group from the records.
TYPED_TEST(ConsumerTest, ParksAnEntryThatIsNotARecord) {
  this->Ask({"XADD", "korvet:stream:orders:0", "1-1024", "value", "foreign"});
  this->Write(this->topic_, 0);
  this->WriteMany(this->topic_, 1, 1);
  Consumer consumer = this->New();
  EXPECT_THAT(OffsetsOf(this->Poll(consumer)), ElementsAre(kFirstOffset, kFirstOffset));
  ASSERT_EQ(consumer.unreadable().size(), 1u);
  EXPECT_EQ(consumer.unreadable()[0].id, (store::StreamId{1, 1024}));
  ASSERT_THAT(this->Run(consumer.Commit()), IsOk());
  EXPECT_THAT(this->Poll(consumer), IsEmpty());
  EXPECT_THAT(consumer.unreadable(), IsEmpty());
  EXPECT_EQ(this->Run(this->group_->Lag(0)).value(), (GroupLag{0, 1})) << "it stays pending";
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
    Consumer dies = this->New();
    EXPECT_THAT(OffsetsOf(this->Poll(dies)), ElementsAre(kFirstOffset));
    EXPECT_EQ(dies.unreadable().size(), 1u);
    ASSERT_THAT(dies.Close(), IsOk());
  }
  InterceptedStore store(this->store());
  store.on_request = [&](size_t) -> std::optional<absl::StatusOr<Reply>> {
    if (store.log().back().starts_with("XACK")) return store::NotSentError("down");
    return std::nullopt;
  };
  ConsumerGroup group(store, this->keys_, this->topic_, "my-group");
  Consumer consumer(group, this->coordinator_, this->clock_,
                    {.unreadable = UnreadablePolicy::kSkip});
  EXPECT_THAT(OffsetsOf(this->Poll(consumer)), ElementsAre(kFirstOffset))
      << "the record is returned although the acknowledgement failed";
  EXPECT_EQ(consumer.unreadable().size(), 1u);
  store.on_request = nullptr;
  Consumer next = this->New(100, UnreadablePolicy::kSkip);
  ASSERT_THAT(consumer.Close(), IsOk());
  EXPECT_THAT(OffsetsOf(this->Poll(next)), ElementsAre(kFirstOffset));
  EXPECT_EQ(next.unreadable().size(), 1u);
  ASSERT_THAT(this->Run(next.Commit()), IsOk());
  EXPECT_EQ(this->Run(this->group_->Lag(0)).value(), GroupLag());
}

TYPED_TEST(ConsumerTest, DeliversWhatAPollTookWhoseAnswerWasLost) {
  this->WriteMany(this->topic_, 2);
  InterceptedStore store(this->store());
  ConsumerGroup group(store, this->keys_, this->topic_, "my-group");
  ASSERT_THAT(this->Run(group.Create(std::vector<int32_t>{0, 1, 2}, {})), IsOk());
  Consumer consumer(group, this->coordinator_, this->clock_);
  const size_t poll = store.requests() + 3;  // After the claims of three partitions.
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
  Consumer consumer = this->New(1);
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
  store.on_request = [](size_t) { return absl::StatusOr<Reply>(store::NotSentError("down")); };
  ConsumerGroup group(store, this->keys_, this->topic_, "my-group");
  Consumer consumer(group, this->coordinator_, this->clock_);
  EXPECT_EQ(ErrorCodeOf(this->Run(consumer.Poll()).status()), ErrorCode::kCoordinatorNotAvailable);
  ConsumerGroup nameless(store, this->keys_, this->topic_, "");
  Consumer nobody(nameless, this->coordinator_, this->clock_);
  EXPECT_EQ(ErrorCodeOf(this->Run(nobody.Poll()).status()), ErrorCode::kInvalidGroupId);
}

TYPED_TEST(ConsumerTest, CommitsNothingTwiceAndForgetsNothingThatFailed) {
  this->WriteMany(this->topic_, 1);
  InterceptedStore store(this->store());
  ConsumerGroup group(store, this->keys_, this->topic_, "my-group");
  Consumer consumer(group, this->coordinator_, this->clock_);
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
}  // namespace redouble::korvet
