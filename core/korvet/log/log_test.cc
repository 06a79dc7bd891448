#include "redouble/core/korvet/log/log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
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
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using tests::InterceptedStore;

constexpr std::string_view kStream = "korvet:stream:orders:0";

std::vector<int64_t> OffsetsOf(const FetchedPartition& partition) {
  std::vector<int64_t> offsets;
  for (const LogRecord& record : partition.records) offsets.push_back(record.offset);
  return offsets;
}

template <typename Backend>
class LogTest : public TopicTest<Backend> {
 protected:
  absl::StatusOr<std::vector<FetchedPartition>> FetchAll(
      const Topic& topic, const std::vector<FetchPosition>& positions, FetchRequest request = {}) {
    Log log(this->store(), this->clock_, this->keys_, topic);
    request.positions = positions;
    return this->Run(log.Fetch(request));
  }
  FetchedPartition Fetch(const Topic& topic, int64_t offset, FetchRequest request = {}) {
    return FetchAll(topic, {{0, offset}}, request).value().front();
  }
  LogBounds Bounds(const Topic& topic) {
    Log log(this->store(), this->clock_, this->keys_, topic);
    return this->Run(log.Bounds(0)).value();
  }
  absl::StatusOr<ListedOffset> List(const Topic& topic, int64_t timestamp_ms) {
    Log log(this->store(), this->clock_, this->keys_, topic);
    return this->Run(log.ListOffset(0, timestamp_ms));
  }
  int64_t Sweep(const Topic& topic, SweepOptions options = {}) {
    Log log(this->store(), this->clock_, this->keys_, topic);
    return this->Run(log.Sweep(options)).value();
  }
};
TYPED_TEST_SUITE(LogTest, tests::LayoutBackends, tests::BackendNames);

TYPED_TEST(LogTest, IsEmptyWithoutWrites) {
  const Topic topic = this->MakeTopic();
  EXPECT_EQ(this->Bounds(topic), LogBounds());
  const FetchedPartition fetched = this->Fetch(topic, 0);
  EXPECT_THAT(fetched.status, IsOk());
  EXPECT_THAT(fetched.records, IsEmpty());
  EXPECT_EQ(fetched.next_offset, 0);
  EXPECT_EQ(ErrorCodeOf(this->Fetch(topic, 1).status), ErrorCode::kOffsetOutOfRange);
}

TYPED_TEST(LogTest, GivesRecordsFromAnOffsetOn) {
  const Topic topic = this->MakeTopic();
  this->WriteMany(topic, 5);
  const int64_t late = this->Write(topic, 0, 1234567890999);
  FetchRequest two;
  two.max_records = 2;
  const FetchedPartition fetched = this->Fetch(topic, kFirstOffset + 2, two);
  EXPECT_THAT(OffsetsOf(fetched), ElementsAre(kFirstOffset + 2, kFirstOffset + 3));
  EXPECT_EQ(fetched.next_offset, kFirstOffset + 4);
  EXPECT_EQ(fetched.records[0].record.value, "v2");
  EXPECT_EQ(fetched.records[0].append_time_ms, static_cast<int64_t>(kFirstMs));
  EXPECT_EQ(fetched.bounds.start, 0);
  EXPECT_EQ(fetched.bounds.end, late + 1);

  EXPECT_THAT(OffsetsOf(this->Fetch(topic, kFirstOffset + 5)), ElementsAre(late))
      << "an offset between entries gives the next one";
  EXPECT_EQ(OffsetsOf(this->Fetch(topic, 0)).size(), 6u) << "0 is in a log that was never cut";
}

TYPED_TEST(LogTest, EndsOneBehindTheLastOffset) {
  const Topic topic = this->MakeTopic();
  const int64_t last = this->Write(topic, 0);
  EXPECT_THAT(this->Fetch(topic, last + 1).status, IsOk());
  EXPECT_THAT(this->Fetch(topic, last + 1).records, IsEmpty());
  const FetchedPartition past = this->Fetch(topic, last + 2);
  EXPECT_EQ(ErrorCodeOf(past.status), ErrorCode::kOffsetOutOfRange);
  EXPECT_EQ(past.bounds.end, last + 1) << "the bounds say where the log is";
  EXPECT_EQ(ErrorCodeOf(this->Fetch(topic, -1).status), ErrorCode::kOffsetOutOfRange);
}

TYPED_TEST(LogTest, KeepsItsEndWhateverIsRemoved) {
  const Topic topic = this->MakeTopic();
  this->WriteMany(topic, 3);
  this->Ask({"XDEL", kStream, "1234567890123-2"});
  EXPECT_EQ(this->Bounds(topic).end, kFirstOffset + 3);
  EXPECT_EQ(this->Bounds(topic).start, kFirstOffset) << "something was removed, so not 0";
  this->Ask({"XTRIM", kStream, "MAXLEN", "0"});
  EXPECT_EQ(this->Bounds(topic).end, kFirstOffset + 3);
  EXPECT_EQ(this->Bounds(topic).start, kFirstOffset + 3) << "an empty log begins at its end";
  EXPECT_EQ(ErrorCodeOf(this->Fetch(topic, kFirstOffset + 2).status), ErrorCode::kOffsetOutOfRange);
  EXPECT_THAT(this->Fetch(topic, kFirstOffset + 3).status, IsOk());
}

TYPED_TEST(LogTest, KnowsFromASubscriptionsTopicThatItIsAnotherOne) {
  const Topic topic = this->MakeTopic();
  this->Write(topic, 0);
  ASSERT_THAT(this->DeleteTopic(), IsOk());
  EXPECT_EQ(ErrorCodeOf(this->FetchAll(topic, {{0, kFirstOffset}}).status()),
            ErrorCode::kUnknownTopicOrPartition);
  const Topic next = this->MakeTopic();
  this->Write(next, 7);
  EXPECT_EQ(ErrorCodeOf(this->FetchAll(topic, {{0, kFirstOffset}}).status()),
            ErrorCode::kInconsistentTopicId)
      << "the offset would be a legal one of the new log";
}

TYPED_TEST(LogTest, FetchesSeveralPartitionsInOneTransaction) {
  const Topic topic = this->MakeTopic();
  this->Write(topic, 0, kFirstMs, 0);
  this->Write(topic, 1, kFirstMs, 2);
  InterceptedStore store(this->store());
  Log log(store, this->clock_, this->keys_, topic);
  const std::vector<FetchPosition> positions = {{2, 0}, {-1, 0}, {0, kFirstOffset}};
  FetchRequest request;
  request.positions = positions;
  const auto fetched = this->Run(log.Fetch(request)).value();
  if (this->in_cluster_layout()) {
    // One transaction for each partition.
    EXPECT_EQ(store.requests(), 2u);
    EXPECT_THAT(store.log(),
                ElementsAre("MULTI", "HMGET korvet:topic-copy:{orders:2} id partitions compression",
                            "XINFO stream korvet:stream:{orders:2}",
                            "XRANGE korvet:stream:{orders:2} 0-0 + COUNT 100", "EXEC", "MULTI",
                            "HMGET korvet:topic-copy:{orders:0} id partitions compression",
                            "XINFO stream korvet:stream:{orders:0}",
                            "XRANGE korvet:stream:{orders:0} 1234567890123-0 + COUNT 100", "EXEC"));
  } else {
    EXPECT_EQ(store.requests(), 1u);
    EXPECT_THAT(store.log(),
                ElementsAre("MULTI", "HMGET korvet:topic:orders id partitions compression",
                            "XINFO stream korvet:stream:orders:2",
                            "XRANGE korvet:stream:orders:2 0-0 + COUNT 100",
                            "XINFO stream korvet:stream:orders:0",
                            "XRANGE korvet:stream:orders:0 1234567890123-0 + COUNT 100", "EXEC"));
  }
  EXPECT_THAT(OffsetsOf(fetched[0]), ElementsAre(kFirstOffset + 1));
  EXPECT_EQ(ErrorCodeOf(fetched[1].status), ErrorCode::kUnknownTopicOrPartition);
  EXPECT_THAT(OffsetsOf(fetched[2]), ElementsAre(kFirstOffset));
}

TYPED_TEST(LogTest, ReadsOnPageByPage) {
  const Topic topic = this->MakeTopic();
  std::vector<NewRecord> records(250);
  Producer producer(this->store(), this->clock_, this->keys_, topic);
  const Appended appended = this->Run(producer.Append(0, records)).value();
  InterceptedStore store(this->store());
  Log log(store, this->clock_, this->keys_, topic);
  const std::vector<FetchPosition> positions = {{0, 0}};
  FetchRequest request;
  request.positions = positions;
  const FetchedPartition fetched = this->Run(log.Fetch(request)).value().front();
  EXPECT_EQ(OffsetsOf(fetched), appended.offsets);
  EXPECT_EQ(store.requests(), 3u);
  request.max_records = 201;
  EXPECT_EQ(this->Run(log.Fetch(request)).value().front().records.size(), 201u);
}

// Records of a topic that took the name are not a continuation.
TYPED_TEST(LogTest, DoesNotReadOnIntoATopicOfTheSameName) {
  for (const bool recreated : {true, false}) {
    const Topic topic = this->MakeTopic();
    this->WriteMany(topic, 150);
    const std::unique_ptr<store::Store> other = this->Connect();
    InterceptedStore store(this->store());
    store.on_request = [&](size_t index) -> std::optional<absl::StatusOr<Reply>> {
      if (index != 1) return std::nullopt;
      EXPECT_THAT(this->DeleteTopic(), IsOk());
      if (recreated) this->WriteMany(this->MakeTopic(), 150);
      return std::nullopt;
    };
    Log log(store, this->clock_, this->keys_, topic);
    const std::vector<FetchPosition> positions = {{0, 0}};
    FetchRequest request;
    request.positions = positions;
    EXPECT_EQ(ErrorCodeOf(this->Run(log.Fetch(request)).status()),
              recreated ? ErrorCode::kInconsistentTopicId : ErrorCode::kUnknownTopicOrPartition);
  }
}

TYPED_TEST(LogTest, ReturnsTheCompressionOfTheTopic) {
  const Topic topic = this->MakeTopic();
  this->Write(topic, 0);
  Log log(this->store(), this->clock_, this->keys_, topic);
  const std::vector<FetchPosition> positions = {{0, 0}};
  FetchRequest request;
  request.positions = positions;
  EXPECT_EQ(this->Run(log.Fetch(request)).value().front().compression, Compression::kNone);
  this->EditTopic("HSET", {"compression", "zstd"});
  EXPECT_EQ(this->Run(log.Fetch(request)).value().front().compression, Compression::kZstd);
  this->EditTopic("HDEL", {"compression"});
  EXPECT_EQ(this->Run(log.Fetch(request)).value().front().compression, Compression::kNone);
  this->EditTopic("HSET", {"compression", "brotli"});
  EXPECT_EQ(ErrorCodeOf(this->Run(log.Fetch(request)).status()), ErrorCode::kUnknownServerError);
}

TYPED_TEST(LogTest, SeesAddedPartitions) {
  const Topic topic = this->MakeTopic();
  Topics topics(this->store(), this->rng_, this->keys_);
  ASSERT_THAT(this->Run(topics.AddPartitions({.topic = "orders", .total = 4})), IsOk());
  Topic now = topic;
  now.partitions = 4;
  this->Write(now, 0, kFirstMs, 3);
  EXPECT_EQ(this->FetchAll(topic, {{3, 0}}).value()[0].records.size(), 1u);
  Log log(this->store(), this->clock_, this->keys_, topic);
  EXPECT_EQ(this->Run(log.Bounds(3)).value().end, kFirstOffset + 1);
  Log other(this->store(), this->clock_, this->keys_, topic);
  EXPECT_EQ(this->Run(other.ListOffset(3, kLatestTimestamp)).value().offset, kFirstOffset + 1);
}

TYPED_TEST(LogTest, SweepsByTheRetentionOfTheTopicAndAllItsPartitions) {
  const Topic topic = this->MakeTopic({{"retentionTime", "1500"}});
  this->Write(topic, 0);
  const ConfigEntry forever[] = {{"retention.ms", "-1"}};
  Topics topics(this->store(), this->rng_, this->keys_);
  ASSERT_THAT(this->Run(topics.AlterConfig({.topic = "orders", .config = forever})), IsOk());
  EXPECT_EQ(this->Sweep(topic), 0);
  const ConfigEntry soon[] = {{"retention.ms", "1"}};
  ASSERT_THAT(this->Run(topics.AlterConfig({.topic = "orders", .config = soon})), IsOk());
  ASSERT_THAT(this->Run(topics.AddPartitions({.topic = "orders", .total = 4})), IsOk());
  Topic now = topic;
  now.partitions = 4;
  this->Write(now, 0, kFirstMs, 3);
  EXPECT_EQ(this->Sweep(topic), 2);
  ASSERT_THAT(this->DeleteTopic(), IsOk());
  Log log(this->store(), this->clock_, this->keys_, topic);
  EXPECT_EQ(ErrorCodeOf(this->Run(log.Sweep()).status()), ErrorCode::kUnknownTopicOrPartition);
}

TYPED_TEST(LogTest, MeasuresTheAverageSizeOfARecord) {
  const Topic topic = this->MakeTopic();
  Log log(this->store(), this->clock_, this->keys_, topic);
  EXPECT_THAT(this->Run(log.MeasureMessageBytes()), IsOkAndHolds(::testing::Eq(std::nullopt)));
  Producer producer(this->store(), this->clock_, this->keys_, topic);
  std::vector<NewRecord> records(3);
  records[0].value = std::string(1000, 'x');  // Not among the two newest.
  records[1].value = std::string(10, 'x');
  records[2].key = "12345";
  ASSERT_THAT(this->Run(producer.Append(0, records)), IsOk());
  records.resize(1);
  ASSERT_THAT(this->Run(producer.Append(2, records)), IsOk());
  this->Ask({"XADD", "korvet:stream:orders:1", "*", "value", "a", "value", "no record"});
  EXPECT_THAT(this->Run(log.MeasureMessageBytes(2)), IsOkAndHolds(339));  // 1015 bytes in three.
  EXPECT_THAT(this->Run(log.MeasureMessageBytes(1)), IsOkAndHolds(503));  // 1005 bytes in two.
}

TYPED_TEST(LogTest, StopsAtAPageBeforeWhichTheLogWasCut) {
  const Topic topic = this->MakeTopic();
  std::vector<NewRecord> records(250);
  Producer producer(this->store(), this->clock_, this->keys_, topic);
  const Appended appended = this->Run(producer.Append(0, records)).value();
  InterceptedStore store(this->store());
  store.on_request = [&](size_t index) -> std::optional<absl::StatusOr<Reply>> {
    if (index == 1) this->Ask({"XTRIM", kStream, "MAXLEN", "=", "10"});
    return std::nullopt;
  };
  Log log(store, this->clock_, this->keys_, topic);
  const std::vector<FetchPosition> positions = {{0, 0}};
  FetchRequest request;
  request.positions = positions;
  const FetchedPartition fetched = this->Run(log.Fetch(request)).value().front();
  EXPECT_THAT(fetched.status, IsOk());
  EXPECT_EQ(fetched.records.size(), 100u);
  const FetchedPartition next = this->Fetch(topic, fetched.next_offset);
  EXPECT_EQ(ErrorCodeOf(next.status), ErrorCode::kOffsetOutOfRange);
  EXPECT_EQ(next.bounds.start, appended.offsets[240]);
}

TYPED_TEST(LogTest, GivesTheFirstRecordHoweverLarge) {
  const Topic topic = this->MakeTopic();
  this->WriteMany(topic, 3, 0);
  this->WriteMany(topic, 3, 1);
  const auto offsets = [&](int64_t of_all, int64_t of_each) {
    FetchRequest request;
    request.max_bytes = of_all;
    const auto fetched = this->FetchAll(topic, {{0, 0, of_each}, {1, 0, of_each}}, request).value();
    return std::pair(fetched[0].records.size(), fetched[1].records.size());
  };
  EXPECT_EQ(offsets(1000, 1000), std::pair(size_t{3}, size_t{3}));
  EXPECT_EQ(offsets(0, 1000), std::pair(size_t{1}, size_t{0}));
  EXPECT_EQ(offsets(1000, 0), std::pair(size_t{1}, size_t{0}));
  EXPECT_EQ(offsets(1000, 4), std::pair(size_t{2}, size_t{2})) << "two bytes each";
  EXPECT_EQ(offsets(6, 4), std::pair(size_t{2}, size_t{1}));
}

TYPED_TEST(LogTest, FailsAPartitionAtAnIdWithoutAnOffset) {
  const Topic topic = this->MakeTopic();
  this->Write(topic, 0);
  this->Ask({"XADD", kStream, "1234567890123-1024", "value", "foreign"});
  const FetchedPartition fetched = this->Fetch(topic, 0);
  EXPECT_EQ(ErrorCodeOf(fetched.status), ErrorCode::kUnknownServerError);
  EXPECT_THAT(std::string(fetched.status.message()), HasSubstr("1234567890123-1024"));
  this->Write(topic, 0, kFirstMs + 1);
  EXPECT_THAT(OffsetsOf(this->Fetch(topic, 0)), ElementsAre(kFirstOffset))
      << "what is before it can be read";
  EXPECT_EQ(ErrorCodeOf(this->Fetch(topic, kFirstOffset + 1).status),
            ErrorCode::kUnknownServerError)
      << "and nothing is skipped";
}

TYPED_TEST(LogTest, FailsAPartitionAtWhatIsNoRecordAndNoStream) {
  const Topic topic = this->MakeTopic();
  this->Ask({"XADD", kStream, "1-0", "key", "a", "key", "b"});
  EXPECT_EQ(ErrorCodeOf(this->Fetch(topic, 0).status), ErrorCode::kCorruptMessage);
  this->Ask({"SET", kStream, "no stream"});
  EXPECT_EQ(ErrorCodeOf(this->Fetch(topic, 0).status), ErrorCode::kUnknownServerError);
}

TYPED_TEST(LogTest, HasNoEndBehindTheGreatestOffset) {
  const Topic topic = this->MakeTopic();
  this->Ask({"XADD", kStream, "9007199254740991-1023", "value", "v"});
  EXPECT_EQ(ErrorCodeOf(this->Fetch(topic, 0).status), ErrorCode::kUnknownServerError);
}

TYPED_TEST(LogTest, ListsOffsetsByTimestamp) {
  const Topic topic = this->MakeTopic();
  EXPECT_THAT(this->List(topic, kEarliestTimestamp), IsOkAndHolds((ListedOffset{0, -1})));
  EXPECT_THAT(this->List(topic, kLatestTimestamp), IsOkAndHolds((ListedOffset{0, -1})));
  EXPECT_THAT(this->List(topic, kMaxTimestamp), IsOkAndHolds(ListedOffset()));
  EXPECT_THAT(this->List(topic, 0), IsOkAndHolds(ListedOffset()));

  this->WriteMany(topic, 2);
  const int64_t late = this->Write(topic, 3, 1234567890999);
  const auto first_ms = static_cast<int64_t>(kFirstMs);
  EXPECT_THAT(this->List(topic, kEarliestTimestamp),
              IsOkAndHolds((ListedOffset{kFirstOffset, first_ms})));
  EXPECT_THAT(this->List(topic, kEarliestLocalTimestamp),
              IsOkAndHolds((ListedOffset{kFirstOffset, first_ms})));
  EXPECT_THAT(this->List(topic, kLatestTimestamp), IsOkAndHolds((ListedOffset{late + 1, -1})));
  EXPECT_THAT(this->List(topic, kMaxTimestamp), IsOkAndHolds((ListedOffset{late, 1234567890999})));
  EXPECT_THAT(this->List(topic, 0), IsOkAndHolds((ListedOffset{kFirstOffset, first_ms})));
  EXPECT_THAT(this->List(topic, first_ms), IsOkAndHolds((ListedOffset{kFirstOffset, first_ms})));
  EXPECT_THAT(this->List(topic, first_ms + 1), IsOkAndHolds((ListedOffset{late, 1234567890999})));
  EXPECT_THAT(this->List(topic, 1234567891000), IsOkAndHolds(ListedOffset()));
  EXPECT_THAT(this->List(topic, std::numeric_limits<int64_t>::max()), IsOkAndHolds(ListedOffset()));
  for (const int64_t odd : {int64_t{-5}, std::numeric_limits<int64_t>::min()}) {
    EXPECT_EQ(ErrorCodeOf(this->List(topic, odd).status()), ErrorCode::kInvalidRequest);
  }
  this->Ask({"XTRIM", kStream, "MAXLEN", "0"});
  EXPECT_THAT(this->List(topic, kEarliestTimestamp), IsOkAndHolds((ListedOffset{late + 1, -1})));
}

TYPED_TEST(LogTest, SweepsByAgeAndBySize) {
  const Topic topic = this->MakeTopic(
      {{"retentionTime", "1500"}, {"retentionBytes", "3000"}, {"messageBytes", "1000"}});
  this->WriteMany(topic, 5);
  for (uint64_t i = 0; i < 5; ++i) this->Write(topic, i, 1234567891000);
  SweepOptions options;
  options.now_ms = 1234567892000;
  options.by_size = false;
  EXPECT_EQ(this->Sweep(topic, options), 5);
  options.by_size = true;
  options.trimming = Trimming::kApproximate;
  EXPECT_EQ(this->Sweep(topic, options), 0) << "whole nodes only";
  options.trimming = Trimming::kExact;
  EXPECT_EQ(this->Sweep(topic, options), 2);
  EXPECT_EQ(this->Sweep(topic, options), 0);
  EXPECT_EQ(this->Sweep(topic), 3) << "by Redis's own time all is old";
  EXPECT_EQ(this->Bounds(topic).start, this->Bounds(topic).end);
}

TYPED_TEST(LogTest, SweepsOnlyThePartitionsNamed) {
  const Topic topic = this->MakeTopic({{"retentionBytes", "0"}, {"retentionTime", "-1"}});
  this->WriteMany(topic, 2, 0);
  this->WriteMany(topic, 2, 1);
  const std::vector<int32_t> one = {1};
  SweepOptions options;
  options.partitions = one;
  EXPECT_EQ(this->Sweep(topic, options), 1);
  EXPECT_EQ(this->Sweep(topic), 1);
}

TYPED_TEST(LogTest, RefusesPartitionsThatAreNotThere) {
  Log log(this->store(), this->clock_, this->keys_, this->MakeTopic());
  EXPECT_EQ(ErrorCodeOf(this->Run(log.Bounds(3)).status()), ErrorCode::kUnknownTopicOrPartition);
  EXPECT_EQ(ErrorCodeOf(this->Run(log.ListOffset(-1, 0)).status()),
            ErrorCode::kUnknownTopicOrPartition);
  const std::vector<int32_t> three = {3};
  SweepOptions options;
  options.partitions = three;
  EXPECT_EQ(ErrorCodeOf(this->Run(log.Sweep(options)).status()),
            ErrorCode::kUnknownTopicOrPartition);
}

TYPED_TEST(LogTest, PassesOnFailuresOfRedis) {
  const Topic topic = this->MakeTopic();
  const std::vector<FetchPosition> positions = {{0, 0}};
  FetchRequest request;
  request.positions = positions;
  InterceptedStore store(this->store());
  store.on_request = [&](size_t) { return absl::StatusOr<Reply>(store::NotSentError("down")); };
  Log log(store, this->clock_, this->keys_, topic);
  const absl::Status failures[] = {
      this->Run(log.Fetch(request)).status(), this->Run(log.Bounds(0)).status(),
      this->Run(log.ListOffset(0, -2)).status(), this->Run(log.Sweep()).status()};
  for (const absl::Status& failure : failures) {
    EXPECT_EQ(ErrorCodeOf(failure), ErrorCode::kKafkaStorageError) << failure;
  }
}

TYPED_TEST(LogTest, DoesNotWaitForWhatIsThereOrCannotCome) {
  const Topic topic = this->MakeTopic();
  this->Write(topic, 0);
  FetchRequest request;
  request.min_bytes = 1000;
  request.max_wait = absl::ZeroDuration();
  EXPECT_EQ(this->Fetch(topic, 0, request).records.size(), 1u);
  request.max_wait = absl::Seconds(5);
  request.max_records = 1;
  EXPECT_EQ(this->Fetch(topic, 0, request).records.size(), 1u) << "no more would be given";
  EXPECT_EQ(ErrorCodeOf(this->Fetch(topic, -1, request).status), ErrorCode::kOffsetOutOfRange);
}

}  // namespace
}  // namespace redouble::inline v0_1::korvet
