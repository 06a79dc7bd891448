#include "redouble/core/korvet/groups/consumer_group.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/korvet/groups/group_admin.h"
#include "redouble/core/store/errors.h"
#include "redouble/tests/support/intercepted_store.h"
#include "redouble/tests/support/korvet_topic.h"

namespace redouble::inline v0_1::korvet {
namespace {

using base::IsOk;
using base::IsOkAndHolds;
using store::Reply;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using tests::InterceptedStore;

constexpr std::string_view kStream = "korvet:stream:orders:0";
constexpr std::string_view kGroup = "my-group";

using Kind = GroupPosition::Kind;

GroupPosition At(int64_t offset) {
  GroupPosition position;
  position.kind = Kind::kOffset;
  position.offset = offset;
  return position;
}

GroupPosition From(Kind kind) {
  GroupPosition position;
  position.kind = kind;
  return position;
}

std::vector<int64_t> OffsetsOf(const std::vector<LogRecord>& records) {
  std::vector<int64_t> offsets;
  for (const LogRecord& record : records) offsets.push_back(record.offset);
  return offsets;
}

template <typename Backend>
class ConsumerGroupTest : public TopicTest<Backend> {
 protected:
  void SetUp() override {
    TopicTest<Backend>::SetUp();
    if (!this->IsSkipped()) topic_ = this->MakeTopic();
  }

  ConsumerGroup Group(GroupOptions options = {}) { return On(this->store(), options); }
  ConsumerGroup On(store::Store& store, GroupOptions options = {}) {
    return ConsumerGroup(store, this->keys_, topic_, std::string(kGroup), options);
  }
  absl::Status Create(GroupPosition position, GroupOptions options = {}) {
    ConsumerGroup group = Group(options);
    return this->Run(group.Create(zero_, position));
  }
  std::vector<int64_t> Poll(std::string_view member, int64_t count = 100) {
    ConsumerGroup group = Group();
    PollRequest request;
    request.member = member;
    request.partitions = zero_;
    request.max_records = count;
    return OffsetsOf(this->Run(group.Poll(request)).value());
  }
  absl::StatusOr<int64_t> Commit(int64_t offset,
                                 std::optional<std::string_view> only_of = std::nullopt) {
    GroupOptions options;
    CommitRequest request;
    request.offset = offset;
    if (only_of) {
      options.hardening.commit_own_entries = true;
      request.member = *only_of;
    }
    ConsumerGroup group = Group(options);
    return this->Run(group.Commit(request));
  }
  std::optional<int64_t> Committed() {
    ConsumerGroup group = Group();
    return this->Run(group.Committed(0)).value();
  }
  GroupLag Lag() {
    ConsumerGroup group = Group();
    return this->Run(group.Lag(0)).value();
  }
  absl::Status Seek(GroupPosition position) {
    ConsumerGroup group = Group();
    return this->Run(group.Seek(0, position));
  }
  PendingRecords Claim(std::string_view member, absl::Duration min_idle = absl::ZeroDuration()) {
    ConsumerGroup group = Group();
    ClaimRequest request;
    request.member = member;
    request.min_idle = min_idle;
    request.page = 2;
    return this->Run(group.Claim(request)).value();
  }
  PendingRecords Backlog(std::string_view member, int64_t offset = 0) {
    ConsumerGroup group = Group();
    BacklogRequest request;
    request.member = member;
    request.offset = offset;
    return this->Run(group.Backlog(request)).value();
  }

  const std::vector<int32_t> zero_ = {0};
  Topic topic_;
};
TYPED_TEST_SUITE(ConsumerGroupTest, tests::LayoutBackends, tests::BackendNames);

TYPED_TEST(ConsumerGroupTest, ReadsFromTheEarliestTheLatestOrAnOffset) {
  this->WriteMany(this->topic_, 4);
  ASSERT_THAT(this->Create(From(Kind::kEarliest)), IsOk());
  EXPECT_EQ(this->Poll("c1").size(), 4u);

  this->Ask({"XGROUP", "DESTROY", kStream, kGroup});
  ASSERT_THAT(this->Create(From(Kind::kLatest)), IsOk());
  EXPECT_THAT(this->Poll("c1"), IsEmpty());
  const int64_t next = this->Write(this->topic_, 0, kFirstMs + 1);
  EXPECT_THAT(this->Poll("c1"), ElementsAre(next));

  this->Ask({"XGROUP", "DESTROY", kStream, kGroup});
  ASSERT_THAT(this->Create(At(kFirstOffset + 2)), IsOk());
  EXPECT_THAT(this->Poll("c1", 2), ElementsAre(kFirstOffset + 2, kFirstOffset + 3));
}

TYPED_TEST(ConsumerGroupTest, CreatesGroupsOfAllPartitionsInOneRoundTripAsDocumented) {
  InterceptedStore store(this->store());
  ConsumerGroup group = this->On(store);
  const std::vector<int32_t> partitions = {0, 2};
  GroupPosition position = At(kFirstOffset);
  position.entries_read = 7;
  ASSERT_THAT(this->Run(group.Create(partitions, position)), IsOk());
  EXPECT_EQ(store.requests(), 1u);
  EXPECT_THAT(this->Documented(store.log()),
              ElementsAre("XGROUP create korvet:stream:orders:0 my-group "
                          "1234567890122-18446744073709551615 MKSTREAM ENTRIESREAD 7",
                          "XGROUP create korvet:stream:orders:2 my-group "
                          "1234567890122-18446744073709551615 MKSTREAM ENTRIESREAD 7"));
}

TYPED_TEST(ConsumerGroupTest, LeavesAGroupThatIsThereAsItIs) {
  this->WriteMany(this->topic_, 2);
  ASSERT_THAT(this->Create(From(Kind::kLatest)), IsOk());
  for (const bool guard : {false, true}) {
    GroupOptions options;
    options.hardening.guard_topic = guard;
    EXPECT_THAT(this->Create(From(Kind::kEarliest), options), IsOk()) << "BUSYGROUP is success";
  }
  EXPECT_THAT(this->Poll("c1"), IsEmpty());
}

TYPED_TEST(ConsumerGroupTest, BringsADeletedTopicsStreamBackUnlessItLooksFirst) {
  ASSERT_THAT(this->DeleteTopic(), IsOk());
  GroupOptions guarded;
  guarded.hardening.guard_topic = true;
  EXPECT_EQ(ErrorCodeOf(this->Create(At(0), guarded)), ErrorCode::kUnknownTopicOrPartition);
  EXPECT_EQ(this->KeyCount(), this->KeysOfDeleted(3));
  EXPECT_THAT(this->Create(At(0)), IsOk());
  EXPECT_EQ(this->KeyCount(), this->KeysOfDeleted(3) + 1) << "the documented command does";
  const Topic old = std::exchange(this->topic_, this->MakeTopic());
  ConsumerGroup group(this->store(), this->keys_, old, "other", guarded);
  EXPECT_EQ(ErrorCodeOf(this->Run(group.Create(this->zero_, At(0)))),
            ErrorCode::kInconsistentTopicId);
  GroupPosition position = At(0);
  position.entries_read = 0;
  EXPECT_THAT(this->Create(position, guarded), IsOk());
}

TYPED_TEST(ConsumerGroupTest, IsCreatedByTheFirstPoll) {
  this->WriteMany(this->topic_, 2);
  InterceptedStore store(this->store());
  ConsumerGroup group = this->On(store);
  const std::vector<int32_t> partitions = {0, 1};
  PollRequest request;
  request.member = "c1";
  request.partitions = partitions;
  EXPECT_EQ(this->Run(group.Poll(request)).value().size(), 2u);
  if (this->in_cluster_layout()) {
    const std::string read = "XREADGROUP GROUP my-group c1 COUNT 100 STREAMS korvet:stream:orders:";
    EXPECT_THAT(this->Documented(store.log()),
                ElementsAre(read + "0 >", read + "1 >",
                            "XGROUP create korvet:stream:orders:0 my-group 0 MKSTREAM",
                            "XGROUP create korvet:stream:orders:1 my-group 0 MKSTREAM",
                            read + "0 >", read + "1 >"));
    return;
  }
  EXPECT_THAT(store.log(),
              ElementsAre("XREADGROUP GROUP my-group c1 COUNT 100 STREAMS korvet:stream:orders:0 "
                          "korvet:stream:orders:1 > >",
                          "XGROUP create korvet:stream:orders:0 my-group 0 MKSTREAM",
                          "XGROUP create korvet:stream:orders:1 my-group 0 MKSTREAM",
                          "XREADGROUP GROUP my-group c1 COUNT 100 STREAMS korvet:stream:orders:0 "
                          "korvet:stream:orders:1 > >"));
}

TYPED_TEST(ConsumerGroupTest, GivesEachRecordToOneMember) {
  this->WriteMany(this->topic_, 5);
  EXPECT_EQ(this->Poll("c1", 2).size(), 2u);
  EXPECT_EQ(this->Poll("c2", 2).size(), 2u);
  EXPECT_THAT(this->Poll("c1"), ElementsAre(kFirstOffset + 4));
  EXPECT_THAT(this->Poll("c1"), IsEmpty());
}

TYPED_TEST(ConsumerGroupTest, CommitsAllThatIsBelowTheOffset) {
  this->WriteMany(this->topic_, 5);
  this->Poll("consumer-1", 3);
  EXPECT_THAT(this->Commit(kFirstOffset + 2), IsOkAndHolds(2));
  EXPECT_EQ(this->Committed(), kFirstOffset + 2);
  EXPECT_EQ(this->Lag(), (GroupLag{2, 1}));
  EXPECT_EQ(this->Lag().total(), 3);
  EXPECT_THAT(this->Commit(kFirstOffset + 2), IsOkAndHolds(0)) << "the second time nothing is left";
  EXPECT_THAT(this->Commit(kFirstOffset + 100), IsOkAndHolds(1)) << "only what was delivered";
  EXPECT_EQ(this->Committed(), kFirstOffset + 3);
  EXPECT_EQ(this->Poll("consumer-1").size(), 2u) << "a commit does not move the group";
}

TYPED_TEST(ConsumerGroupTest, CommitsInPagesOfAThousand) {
  Producer producer(this->store(), this->clock_, this->keys_, this->topic_);
  const std::vector<NewRecord> records(2001);
  const Appended appended = this->Run(producer.Append(0, records)).value();
  this->Poll("c1", 5000);
  EXPECT_THAT(this->Commit(appended.offsets.back() + 1), IsOkAndHolds(2001));
  EXPECT_EQ(this->Committed(), appended.offsets.back() + 1);
}

TYPED_TEST(ConsumerGroupTest, CommitsWithTheDocumentedCommands) {
  this->WriteMany(this->topic_, 3);
  this->Poll("c1");
  InterceptedStore store(this->store());
  ConsumerGroup group = this->On(store);
  CommitRequest request;
  request.offset = kFirstOffset + 2;
  ASSERT_THAT(this->Run(group.Commit(request)), IsOk());
  EXPECT_THAT(this->Documented(store.log()),
              ElementsAre("XPENDING korvet:stream:orders:0 my-group - 1234567890123-1 1000",
                          "XACK korvet:stream:orders:0 my-group 1234567890123-0 1234567890123-1"));
}

TYPED_TEST(ConsumerGroupTest, AcknowledgesWhatWasClaimedMeanwhileUnlessOnlyItsOwn) {
  this->WriteMany(this->topic_, 2);
  this->Poll("c1", 1);
  this->Poll("c2", 1);
  EXPECT_THAT(this->Commit(kFirstOffset + 2, "c1"), IsOkAndHolds(1));
  EXPECT_EQ(this->Committed(), kFirstOffset + 1) << "c2's record is pending still";
  EXPECT_THAT(this->Commit(kFirstOffset + 2, "c1"), IsOkAndHolds(0));
  EXPECT_THAT(this->Commit(kFirstOffset + 2), IsOkAndHolds(1))
      << "the documented commands do not check the owner";
}

TYPED_TEST(ConsumerGroupTest, AcknowledgesJustTheRecordsNamed) {
  this->WriteMany(this->topic_, 3);
  this->Poll("c1");
  ConsumerGroup group = this->Group();
  const std::vector<int64_t> offsets = {kFirstOffset, kFirstOffset + 2, kFirstOffset + 9};
  EXPECT_THAT(this->Run(group.Acknowledge(0, offsets)), IsOkAndHolds(2));
  EXPECT_EQ(this->Committed(), kFirstOffset + 1);
  EXPECT_THAT(this->Run(group.Acknowledge(0, {})), IsOkAndHolds(0));
  const std::vector<int64_t> negative = {-1};
  EXPECT_EQ(ErrorCodeOf(this->Run(group.Acknowledge(0, negative)).status()),
            ErrorCode::kOffsetOutOfRange);
}

TYPED_TEST(ConsumerGroupTest, HasNoCommittedPositionBeforeAnythingWasDelivered) {
  EXPECT_EQ(this->Committed(), std::nullopt) << "no stream";
  this->Write(this->topic_, 0);
  EXPECT_EQ(this->Committed(), std::nullopt) << "no group";
  ASSERT_THAT(this->Create(From(Kind::kEarliest)), IsOk());
  EXPECT_EQ(this->Committed(), std::nullopt) << "nothing delivered";
  ASSERT_THAT(this->Seek(From(Kind::kLatest)), IsOk());
  EXPECT_EQ(this->Committed(), kFirstOffset + 1) << "at the end, as if all had been read";
}

TYPED_TEST(ConsumerGroupTest, GoesOnAtTheFirstOfAMillisecondToWhichItWasSet) {
  this->WriteMany(this->topic_, 2);
  ASSERT_THAT(this->Create(At(kFirstOffset)), IsOk());
  EXPECT_EQ(this->Committed(), kFirstOffset);
  this->Ask({"XGROUP", "SETID", kStream, kGroup, "1234567890123-5000"});
  ConsumerGroup group = this->Group();
  EXPECT_EQ(ErrorCodeOf(this->Run(group.Committed(0)).status()), ErrorCode::kUnknownServerError)
      << "another client set it to an id without an offset";
}

TYPED_TEST(ConsumerGroupTest, CountsItsLagWhereRedisCannotTell) {
  this->WriteMany(this->topic_, 4);
  ASSERT_THAT(this->Create(At(kFirstOffset + 2)), IsOk());
  EXPECT_EQ(this->Lag(), (GroupLag{2, 0}));
  this->Poll("c1", 1);
  EXPECT_EQ(this->Lag(), (GroupLag{1, 1}));
  this->Write(this->topic_, 0, 1234567890999);
  EXPECT_EQ(this->Lag().total(), 3) << "whatever the difference of the offsets";
}

// Redis 7.0 counts undelivered entries that were trimmed in the lag of XINFO GROUPS.
TYPED_TEST(ConsumerGroupTest, DoesNotCountWhatRetentionTookBeforeItsDelivery) {
  this->WriteMany(this->topic_, 10);
  this->Poll("c1", 2);
  ASSERT_THAT(this->Commit(kFirstOffset + 2), IsOk());
  EXPECT_EQ(this->Lag(), (GroupLag{8, 0}));
  this->Ask({"XTRIM", kStream, "MAXLEN", "=", "3"});
  EXPECT_EQ(this->Lag(), (GroupLag{3, 0}));
  this->Poll("c1", 1);
  EXPECT_EQ(this->Lag(), (GroupLag{2, 1}));
  this->Ask({"XTRIM", kStream, "MAXLEN", "=", "0"});
  EXPECT_EQ(this->Lag(), (GroupLag{0, 0}));
}

TYPED_TEST(ConsumerGroupTest, ReportsAnEntryThatItCannotGiveAndGoesOn) {
  this->Ask({"XADD", kStream, "1-1024", "value", "foreign"});
  this->Write(this->topic_, 0);
  this->Ask({"XADD", kStream, "1234567890123-1", "value", "a", "value", "b"});
  this->Write(this->topic_, 2);
  ConsumerGroup group = this->Group();
  std::vector<UnreadableEntry> unreadable;
  PollRequest poll;
  poll.member = "c1";
  poll.partitions = this->zero_;
  poll.unreadable = &unreadable;
  EXPECT_THAT(OffsetsOf(this->Run(group.Poll(poll)).value()),
              ElementsAre(kFirstOffset, kFirstOffset + 2));
  ASSERT_EQ(unreadable.size(), 2u);
  EXPECT_EQ(unreadable[0].id, (store::StreamId{1, 1024}));
  EXPECT_EQ(ErrorCodeOf(unreadable[0].error), ErrorCode::kUnknownServerError);
  EXPECT_EQ(unreadable[1].partition, 0);
  EXPECT_EQ(ErrorCodeOf(unreadable[1].error), ErrorCode::kCorruptMessage);
  unreadable.clear();
  ClaimRequest claim;
  claim.member = "c2";
  claim.min_idle = absl::ZeroDuration();
  claim.unreadable = &unreadable;
  EXPECT_EQ(this->Run(group.Claim(claim)).value().records.size(), 2u);
  ASSERT_EQ(unreadable.size(), 2u);
  const std::vector<store::StreamId> ids = {unreadable[0].id, unreadable[1].id};
  EXPECT_THAT(this->Run(group.AcknowledgeIds(0, ids)), IsOkAndHolds(2));
}

TYPED_TEST(ConsumerGroupTest, CreatesItselfAtTheEarliestOfAddedPartitions) {
  GroupOptions options;
  options.start = From(Kind::kLatest);
  ConsumerGroup group = this->Group(options);
  ASSERT_THAT(this->Run(group.Refresh()), IsOk());
  EXPECT_EQ(this->KeyCount(), this->KeysOfTopic(3)) << "no partition was added";
  Topics topics(this->store(), this->rng_, this->keys_);
  ASSERT_THAT(this->Run(topics.AddPartitions({.topic = "orders", .total = 4})), IsOk());
  Topic now = this->topic_;
  now.partitions = 4;
  this->Write(now, 0, kFirstMs, 3);
  ASSERT_THAT(this->Run(group.Refresh()), IsOk());
  EXPECT_EQ(group.topic().partitions, 4);
  const std::vector<int32_t> added = {3};
  PollRequest poll;
  poll.member = "c1";
  poll.partitions = added;
  EXPECT_THAT(OffsetsOf(this->Run(group.Poll(poll)).value()), ElementsAre(kFirstOffset));
  ASSERT_THAT(this->DeleteTopic(), IsOk());
  EXPECT_EQ(ErrorCodeOf(this->Run(group.Refresh())), ErrorCode::kUnknownTopicOrPartition);
}

TYPED_TEST(ConsumerGroupTest, DoesNotCountWhatRetentionTookFromBeneathPendingEntries) {
  this->WriteMany(this->topic_, 5);
  this->Poll("c1", 3);
  this->Ask({"XTRIM", kStream, "MINID", "=", "1234567890123-1"});
  this->Ask({"XDEL", kStream, "1234567890123-2"});
  EXPECT_EQ(this->Lag(), (GroupLag{2, 1}));
  const PendingRecords backlog = this->Backlog("c1");
  EXPECT_THAT(OffsetsOf(backlog.records), ElementsAre(kFirstOffset + 1));
  EXPECT_EQ(backlog.lost, 2);
  const PendingRecords claimed = this->Claim("c2");
  EXPECT_THAT(OffsetsOf(claimed.records), ElementsAre(kFirstOffset + 1));
  EXPECT_EQ(claimed.lost, 2);
  EXPECT_EQ(this->Claim("c2").lost, 0) << "they are pending no more";
}

TYPED_TEST(ConsumerGroupTest, GivesAMemberItsBacklogAfterARestart) {
  this->WriteMany(this->topic_, 3);
  this->Poll("c1", 2);
  this->Poll("c2");
  EXPECT_THAT(OffsetsOf(this->Backlog("c1").records), ElementsAre(kFirstOffset, kFirstOffset + 1));
  EXPECT_THAT(OffsetsOf(this->Backlog("c1", kFirstOffset + 1).records),
              ElementsAre(kFirstOffset + 1));
  EXPECT_THAT(this->Backlog("c3").records, IsEmpty());
}

TYPED_TEST(ConsumerGroupTest, SeeksInsideTheLog) {
  this->WriteMany(this->topic_, 3);
  this->Poll("c1");
  ASSERT_THAT(this->Commit(kFirstOffset + 3), IsOk());
  ASSERT_THAT(this->Seek(At(kFirstOffset + 1)), IsOk());
  EXPECT_THAT(this->Poll("c2"), ElementsAre(kFirstOffset + 1, kFirstOffset + 2));
  ASSERT_THAT(this->Seek(From(Kind::kEarliest)), IsOk());
  EXPECT_EQ(this->Poll("c1").size(), 3u) << "what is pending is delivered again";
  EXPECT_EQ(ErrorCodeOf(this->Seek(At(kFirstOffset + 4))), ErrorCode::kOffsetOutOfRange);
  EXPECT_EQ(ErrorCodeOf(this->Seek(At(-1))), ErrorCode::kOffsetOutOfRange);
  GroupPosition end = At(kFirstOffset + 3);
  end.entries_read = 3;
  EXPECT_THAT(this->Seek(end), IsOk());
  EXPECT_EQ(this->Lag().undelivered, 0);
}

TYPED_TEST(ConsumerGroupTest, ClaimsWhatADeadMemberLeft) {
  this->WriteMany(this->topic_, 5);
  this->Poll("consumer-1");
  this->Advance(absl::Seconds(45));
  EXPECT_THAT(this->Claim("consumer-2", absl::Seconds(46)).records, IsEmpty());
  EXPECT_EQ(this->Claim("consumer-2", absl::Seconds(45)).records.size(), 5u) << "page by page";
  EXPECT_EQ(this->Ask({"XPENDING", kStream, kGroup, "-", "+", "1"}).elements()[0].elements()[3],
            Reply::Integer(2))
      << "it counts as a delivery";
  ConsumerGroup group = this->Group();
  EXPECT_THAT(this->Run(group.RemoveMember(0, "consumer-1")), IsOkAndHolds(0))
      << "nothing is lost with it";
  EXPECT_THAT(this->Run(group.RemoveMember(0, "consumer-2")), IsOkAndHolds(5)) << "now it is";
}

TYPED_TEST(ConsumerGroupTest, SaysThatThereIsNoGroup) {
  const auto expect_no_group = [&] {
    ConsumerGroup group = this->Group();
    ClaimRequest claim;
    claim.member = "c1";
    BacklogRequest backlog;
    backlog.member = "c1";
    const absl::Status failures[] = {this->Commit(kFirstOffset).status(),
                                     this->Commit(kFirstOffset, "c1").status(),
                                     this->Run(group.Lag(0)).status(),
                                     this->Run(group.Claim(claim)).status(),
                                     this->Run(group.Backlog(backlog)).status(),
                                     this->Seek(From(Kind::kEarliest)),
                                     this->Run(group.RemoveMember(0, "c1")).status()};
    for (const absl::Status& failure : failures) {
      EXPECT_EQ(ErrorCodeOf(failure), ErrorCode::kGroupIdNotFound) << failure;
    }
  };
  expect_no_group();
  this->Write(this->topic_, 0);
  expect_no_group();
}

TYPED_TEST(ConsumerGroupTest, ChecksARequestBeforeAnythingIsSent) {
  InterceptedStore store(this->store());
  ConsumerGroup nameless(store, this->keys_, this->topic_, "");
  EXPECT_EQ(ErrorCodeOf(this->Run(nameless.Committed(0)).status()), ErrorCode::kInvalidGroupId);
  ConsumerGroup group = this->On(store);
  const std::vector<int32_t> three = {3};
  PollRequest poll;
  poll.member = "c1";
  poll.partitions = three;
  EXPECT_EQ(ErrorCodeOf(this->Run(group.Poll(poll)).status()), ErrorCode::kUnknownTopicOrPartition);
  poll.member = "";
  EXPECT_EQ(ErrorCodeOf(this->Run(group.Poll(poll)).status()), ErrorCode::kUnknownMemberId);
  EXPECT_EQ(ErrorCodeOf(this->Run(group.Claim({})).status()), ErrorCode::kUnknownMemberId);
  EXPECT_EQ(ErrorCodeOf(this->Run(group.Backlog({})).status()), ErrorCode::kUnknownMemberId);
  EXPECT_EQ(ErrorCodeOf(this->Run(group.RemoveMember(0, "")).status()),
            ErrorCode::kUnknownMemberId);
  CommitRequest commit;
  const std::string metadata(4097, 'm');
  commit.metadata = metadata;
  EXPECT_EQ(ErrorCodeOf(this->Run(group.Commit(commit)).status()),
            ErrorCode::kOffsetMetadataTooLarge);
  commit.metadata = {};
  commit.offset = -1;
  EXPECT_EQ(ErrorCodeOf(this->Run(group.Commit(commit)).status()), ErrorCode::kOffsetOutOfRange);
  EXPECT_EQ(ErrorCodeOf(this->Run(group.Create(this->zero_, At(-1)))),
            ErrorCode::kOffsetOutOfRange);
  poll.member = "c1";
  poll.partitions = {};
  EXPECT_THAT(this->Run(group.Poll(poll)), IsOkAndHolds(IsEmpty()));
  EXPECT_EQ(store.requests(), 0u);
}

TYPED_TEST(ConsumerGroupTest, CallsTheCoordinatorUnavailableWhileRedisIs) {
  InterceptedStore store(this->store());
  store.on_request = [](size_t) { return absl::StatusOr<Reply>(store::NotSentError("down")); };
  ConsumerGroup group = this->On(store);
  GroupOptions guarded;
  guarded.hardening.guard_topic = true;
  ConsumerGroup hardened = this->On(store, guarded);
  GroupAdmin admin(store, this->keys_);
  PollRequest poll;
  poll.member = "c1";
  poll.partitions = this->zero_;
  ClaimRequest claim;
  claim.member = "c1";
  const std::vector<int64_t> offsets = {0};
  const absl::Status failures[] = {this->Run(group.Poll(poll)).status(),
                                   this->Run(group.Create(this->zero_, At(0))),
                                   this->Run(hardened.Create(this->zero_, At(0))),
                                   this->Run(group.Commit({})).status(),
                                   this->Run(group.Acknowledge(0, offsets)).status(),
                                   this->Run(group.Refresh()),
                                   this->Run(group.Committed(0)).status(),
                                   this->Run(group.Lag(0)).status(),
                                   this->Run(group.Seek(0, At(0))),
                                   this->Run(group.Claim(claim)).status(),
                                   this->Run(group.RemoveMember(0, "c1")).status(),
                                   this->Run(admin.List()).status(),
                                   this->Run(admin.Delete("g"))};
  for (const absl::Status& failure : failures) {
    EXPECT_EQ(ErrorCodeOf(failure), ErrorCode::kCoordinatorNotAvailable) << failure;
  }
}

TYPED_TEST(ConsumerGroupTest, NamesAnEntryThatItCannotGive) {
  this->Ask({"XADD", kStream, "1-1024", "value", "foreign"});
  ConsumerGroup group = this->Group();
  PollRequest poll;
  poll.member = "c1";
  poll.partitions = this->zero_;
  const absl::Status status = this->Run(group.Poll(poll)).status();
  EXPECT_EQ(ErrorCodeOf(status), ErrorCode::kUnknownServerError);
  EXPECT_THAT(std::string(status.message()), HasSubstr("1-1024"));
  this->Ask({"SET", kStream, "no stream"});
  EXPECT_EQ(ErrorCodeOf(this->Run(group.Poll(poll)).status()), ErrorCode::kUnknownServerError);
}

TYPED_TEST(ConsumerGroupTest, AreListedOverAllTopics) {
  GroupAdmin admin(this->store(), this->keys_);
  EXPECT_THAT(this->Run(admin.List()), IsOkAndHolds(IsEmpty()));
  Topics topics(this->store(), this->rng_, this->keys_);
  ASSERT_THAT(this->Run(topics.Create({.name = "a", .partitions = 2})), IsOk());
  this->Ask({"XGROUP", "CREATE", "korvet:stream:orders:0", "g2", "0", "MKSTREAM"});
  this->Ask({"XGROUP", "CREATE", "korvet:stream:orders:2", "g1", "0", "MKSTREAM"});
  this->Ask({"XGROUP", "CREATE", "korvet:stream:a:1", "g1", "0", "MKSTREAM"});
  InterceptedStore store(this->store());
  GroupAdmin counted(store, this->keys_);
  EXPECT_THAT(this->Run(counted.List()), IsOkAndHolds(ElementsAre("g1", "g2")));
  EXPECT_EQ(store.requests(), 3u);

  const GroupDescription description = this->Run(admin.Describe("g1")).value();
  EXPECT_EQ(description.state, GroupDescription::State::kEmpty);
  ASSERT_EQ(description.partitions.size(), 2u);
  EXPECT_EQ(description.partitions[0].topic, "a");
  EXPECT_EQ(description.partitions[0].partition, 1);
  EXPECT_EQ(description.partitions[1].topic, "orders");
  EXPECT_EQ(description.partitions[1].partition, 2);
}

TYPED_TEST(ConsumerGroupTest, AreDescribedAndDeletedWhenNothingIsPending) {
  GroupAdmin admin(this->store(), this->keys_);
  EXPECT_EQ(ErrorCodeOf(this->Run(admin.Describe(kGroup)).status()), ErrorCode::kGroupIdNotFound);
  EXPECT_EQ(ErrorCodeOf(this->Run(admin.Delete(kGroup))), ErrorCode::kGroupIdNotFound);
  EXPECT_EQ(ErrorCodeOf(this->Run(admin.Delete(""))), ErrorCode::kInvalidGroupId);
  this->WriteMany(this->topic_, 2);
  this->Poll("c1");
  const GroupDescription busy = this->Run(admin.Describe(kGroup)).value();
  EXPECT_EQ(busy.state, GroupDescription::State::kStable);
  EXPECT_THAT(busy.partitions[0].members, ElementsAre(GroupMemberDescription{"c1", 2}));
  EXPECT_EQ(busy.partitions[0].last_delivered_id, (store::StreamId{kFirstMs, 1}));
  EXPECT_EQ(ErrorCodeOf(this->Run(admin.Delete(kGroup))), ErrorCode::kNonEmptyGroup);
  ASSERT_THAT(this->Commit(kFirstOffset + 2), IsOk());
  EXPECT_THAT(this->Run(admin.Delete(kGroup)), IsOk());
  EXPECT_THAT(this->Run(admin.List()), IsOkAndHolds(IsEmpty()));
}

TYPED_TEST(ConsumerGroupTest, LeaveNoMembershipWhenTheirTopicIsGone) {
  const std::string state = this->keys_.Group(kGroup).value();
  const std::string members = this->keys_.GroupMembers(kGroup).value();
  const std::string partitions = this->keys_.GroupPartitions(kGroup).value();
  for (const bool by_script : {false, true}) {
    Hardening hardening;
    hardening.delete_idle_groups = by_script;
    GroupAdmin admin(this->store(), this->keys_, hardening);
    this->Ask({"HSET", state, "epoch", "3", "time", "0"});
    this->Ask({"HSET", members, "c-1", "9999999999999 45000 1 orders=3"});
    this->Ask({"HSET", partitions, "orders:0", "c-1 c-1"});
    EXPECT_EQ(ErrorCodeOf(this->Run(admin.Delete(kGroup))), ErrorCode::kNonEmptyGroup);
    this->Ask({"HSET", members, "c-1", "1 45000 1 orders=3"});
    EXPECT_THAT(this->Run(admin.Delete(kGroup)), IsOk());
    EXPECT_EQ(this->Ask({"EXISTS", state, members, partitions}), Reply::Integer(0));
    EXPECT_EQ(ErrorCodeOf(this->Run(admin.Delete(kGroup))), ErrorCode::kGroupIdNotFound);
  }
}

TYPED_TEST(ConsumerGroupTest, AreDeletedByOneScriptWhenNothingIsPending) {
  Hardening hardening;
  hardening.delete_idle_groups = true;
  GroupAdmin admin(this->store(), this->keys_, hardening);
  this->WriteMany(this->topic_, 2);
  this->Poll("c1");
  const absl::Status busy = this->Run(admin.Delete(kGroup));
  EXPECT_EQ(ErrorCodeOf(busy), ErrorCode::kNonEmptyGroup);
  EXPECT_THAT(std::string(busy.message()), HasSubstr("are pending"));
  ASSERT_THAT(this->Commit(kFirstOffset + 2), IsOk());
  EXPECT_THAT(this->Run(admin.Delete(kGroup)), IsOk());
  EXPECT_THAT(this->Run(admin.List()), IsOkAndHolds(IsEmpty()));
}

TYPED_TEST(ConsumerGroupTest, AreNotFoundInATopicThatCannotBeRead) {
  GroupAdmin admin(this->store(), this->keys_);
  this->EditTopic("HSET", {"partitions", "many"});
  EXPECT_EQ(ErrorCodeOf(this->Run(admin.List()).status()), ErrorCode::kUnknownServerError);
  this->EditTopic("HDEL", {"partitions"});
  EXPECT_THAT(this->Run(admin.List()), IsOkAndHolds(IsEmpty()))
      << "a half-made topic is not a topic";
}

}  // namespace
}  // namespace redouble::inline v0_1::korvet
