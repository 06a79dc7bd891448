#include "redouble/core/korvet/log/producer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/time/virtual_clock.h"
#include "redouble/core/store/errors.h"
#include "redouble/tests/support/intercepted_store.h"
#include "redouble/tests/support/korvet_topic.h"

namespace redouble::inline v0_1::korvet {
namespace {

using base::IsOk;
using store::Reply;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using tests::InterceptedStore;

constexpr std::string_view kStream = "korvet:stream:orders:0";

NewRecord Value(std::string value) {
  NewRecord record;
  record.value = std::move(value);
  return record;
}

NewRecord At(uint64_t ms, uint64_t sequence, std::string value = "v") {
  NewRecord record = Value(std::move(value));
  record.timestamp_ms = 1;
  record.id = store::StreamId{ms, sequence};
  return record;
}

template <typename Backend>
class ProducerTest : public TopicTest<Backend> {
 protected:
  absl::StatusOr<Appended> Append(const Topic& topic, std::vector<NewRecord> records,
                                  ProducerOptions options = {}, int32_t partition = 0) {
    Producer producer(this->store(), this->clock_, this->keys_, topic, options);
    return this->Run(producer.Append(partition, records));
  }
  ErrorCode CodeOf(const Topic& topic, std::vector<NewRecord> records,
                   ProducerOptions options = {}) {
    return ErrorCodeOf(Append(topic, std::move(records), options).status());
  }
  int64_t Length(std::string_view stream = kStream) {
    return this->Ask({"XLEN", stream}).integer();
  }
  std::string Entries(std::string_view stream = kStream) {
    return this->Ask({"XRANGE", stream, "-", "+"}).DebugString();
  }
  int64_t now_ms() { return absl::ToUnixMillis(this->now()); }
};
TYPED_TEST_SUITE(ProducerTest, tests::LayoutBackends, tests::BackendNames);

TYPED_TEST(ProducerTest, GivesABatchTheIdsOfRedissClockInOrder) {
  const Topic topic = this->MakeTopic();
  const Appended appended = this->Append(topic, {Value("a"), Value("b"), Value("c")}).value();
  const int64_t base = this->now_ms() << 10;
  EXPECT_THAT(appended.offsets, ElementsAre(base, base + 1, base + 2));
  EXPECT_EQ(appended.base_offset, base);
  EXPECT_EQ(appended.append_time_ms, this->now_ms());
  this->Advance(absl::Milliseconds(1));
  EXPECT_EQ(this->Append(topic, {Value("d")}).value().base_offset, base + 1024);
}

TYPED_TEST(ProducerTest, WritesTheDocumentedFieldsAndTheTime) {
  const Topic topic = this->MakeTopic();
  NewRecord record;
  record.key = "order-123";
  record.value = "";
  record.headers = {{"h", "1"}, {"h", std::nullopt}};
  record.timestamp_ms = -1;
  ASSERT_THAT(this->Append(topic, {record}), IsOk());
  const std::string now = std::to_string(this->now_ms());
  EXPECT_EQ(this->Entries(), "[[\"" + now +
                                 "-0\", [\"key\", \"order-123\", \"value\", \"\", \"timestamp\", "
                                 "\"" +
                                 now + "\", \"header.h\", \"1\", \"header.h\", \"\"]]]");
}

// The reply to the first append is lost. Another Producer repeats it.
TYPED_TEST(ProducerTest, WritesABatchWithAnIdOnceWhenHardened) {
  const Topic topic = this->MakeTopic();
  const ProducerOptions once{.hardening = {.write_batches_once = true}};
  const std::vector<NewRecord> records = {Value("a"), Value("b"), Value("c")};
  for (const ProducerOptions& options :
       {once,
        ProducerOptions{.max_records_per_write = 2, .hardening = {.write_batches_once = true}},
        ProducerOptions{.max_records_per_write = 2,
        .hardening = {.write_batches_once = true, .atomic_batches = true}}}) {
    this->Ask({"DEL", kStream, "korvet:batch:orders:0:b1"});
    std::vector<int64_t> first;
    for (int attempt = 0; attempt < 3; ++attempt) {
      this->Advance(absl::Milliseconds(5));
      Producer producer(this->store(), this->clock_, this->keys_, topic, options);
      const absl::StatusOr<Appended> appended = this->Run(producer.Append(0, records, "b1"));
      ASSERT_THAT(appended, IsOk());
      if (attempt == 0) first = appended->offsets;
      EXPECT_EQ(appended->offsets, first);
      EXPECT_EQ(appended->base_offset, first.front());
      EXPECT_EQ(this->Length(), 3);
    }
  }
  Producer producer(this->store(), this->clock_, this->keys_, topic, once);
  ASSERT_THAT(this->Run(producer.Append(0, records, "b2")), IsOk());
  EXPECT_EQ(this->Length(), 6) << "another id";
  ASSERT_THAT(this->Run(producer.Append(0, records)), IsOk());
  EXPECT_EQ(this->Length(), 9) << "no id";
  Producer documented(this->store(), this->clock_, this->keys_, topic);
  ASSERT_THAT(this->Run(documented.Append(0, records, "b2")), IsOk());
  EXPECT_EQ(this->Length(), 12) << "no option";
}

TYPED_TEST(ProducerTest, KeepsTheIdOfABatchForADayAndForOneTopic) {
  const Topic topic = this->MakeTopic();
  const ProducerOptions options{.hardening = {.write_batches_once = true}};
  const NewRecord record = Value("a");
  const auto append = [&](const Topic& to) {
    Producer producer(this->store(), this->clock_, this->keys_, to, options);
    return this->Run(producer.Append(0, std::span(&record, 1), "b1"));
  };
  ASSERT_THAT(append(topic), IsOk());
  this->Advance(absl::Hours(24) + absl::Seconds(1));
  ASSERT_THAT(append(topic), IsOk());
  EXPECT_EQ(this->Length(), 2);
  Topic other = topic;
  other.id = TopicId::Parse("VQ6EAOKbQdSnFkRmVUQAAA").value();
  EXPECT_THAT(append(other), ::testing::Not(IsOk()));
  ASSERT_THAT(append(topic), IsOk());
  EXPECT_EQ(this->Length(), 2) << "a refusal is no reply of the batch";
}

TYPED_TEST(ProducerTest, TakesOneRoundTripForABatchOnceRedisKnowsTheScript) {
  const Topic topic = this->MakeTopic();
  ASSERT_THAT(this->Append(topic, {Value("a")}), IsOk());
  InterceptedStore store(this->store());
  Producer producer(store, this->clock_, this->keys_, topic);
  const std::vector<NewRecord> records = {Value("b"), Value("c")};
  ASSERT_THAT(this->Run(producer.Append(0, records)), IsOk());
  EXPECT_EQ(store.requests(), 1u);
  EXPECT_THAT(store.log(), ElementsAre(StartsWith("EVALSHA ")));
}

TYPED_TEST(ProducerTest, GoesOnInTheNextMillisecondWhereTheSequenceWouldNotFit) {
  const Topic topic = this->MakeTopic();
  const std::vector<NewRecord> records(1026, Value("v"));
  const Appended appended = this->Append(topic, records).value();
  const int64_t base = this->now_ms() << 10;
  EXPECT_EQ(appended.offsets[1023], base + 1023);
  EXPECT_EQ(appended.offsets[1024], base + 1024);
  EXPECT_EQ(appended.offsets[1025], base + 1025);
  EXPECT_EQ(this->Append(topic, {Value("v")}).value().base_offset, base + 1026)
      << "the log is ahead of the clock, and goes on from there";
}

TYPED_TEST(ProducerTest, GoesOnBehindTheLastIdWhenTheClockIsBehindIt) {
  const Topic topic = this->MakeTopic();
  const uint64_t ahead = static_cast<uint64_t>(this->now_ms()) + 60'000;
  ASSERT_THAT(this->Append(topic, {At(ahead, 1023)}), IsOk());
  EXPECT_EQ(this->Append(topic, {Value("v")}).value().base_offset,
            static_cast<int64_t>((ahead + 1) << 10));
}

TYPED_TEST(ProducerTest, ContinuesAfterAForeignIdWhoseSequenceDoesNotFit) {
  const Topic topic = this->MakeTopic();
  const std::string id = std::to_string(this->now_ms()) + "-18446744073709551615";
  this->Ask({"XADD", kStream, id, "value", "foreign"});
  EXPECT_EQ(this->Append(topic, {Value("v")}).value().base_offset, (this->now_ms() + 1) << 10);
}

TYPED_TEST(ProducerTest, RefusesWhatHasNoOffsetAnyMore) {
  const Topic topic = this->MakeTopic();
  this->Ask({"XADD", kStream, "9007199254740991-1022", "value", "foreign"});
  ASSERT_THAT(this->Append(topic, {Value("v")}), IsOk()) << "the last of all offsets";
  const absl::Status status = this->Append(topic, {Value("v")}).status();
  EXPECT_EQ(ErrorCodeOf(status), ErrorCode::kUnknownServerError);
  EXPECT_THAT(std::string(status.message()), HasSubstr("behind 9007199254740991-1023"));
  EXPECT_EQ(this->Length(), 2);
}

TYPED_TEST(ProducerTest, UsesTheSequenceBitsOfTheTopic) {
  const Topic topic = this->MakeTopic({{"offsetSequenceBits", "16"}});
  const std::vector<NewRecord> records(1026, Value("v"));
  EXPECT_EQ(this->Append(topic, records).value().offsets.back(), (this->now_ms() << 16) + 1025);
}

TYPED_TEST(ProducerTest, DoesNotBringADeletedTopicBack) {
  const Topic topic = this->MakeTopic();
  ASSERT_THAT(this->DeleteTopic(), IsOk());
  EXPECT_EQ(this->CodeOf(topic, {Value("v")}), ErrorCode::kUnknownTopicOrPartition);
  this->MakeTopic();
  EXPECT_EQ(this->CodeOf(topic, {Value("v")}), ErrorCode::kInconsistentTopicId);
  this->EditTopic("HDEL", {"partitions"});
  EXPECT_EQ(this->CodeOf(topic, {Value("v")}), ErrorCode::kUnknownTopicOrPartition);
  EXPECT_EQ(this->Length(), 0);
}

TYPED_TEST(ProducerTest, KnowsATopicWhoseIdIsStoredAsAUuid) {
  const Topic topic = this->MakeTopic();
  std::string uuid = topic.id.ToUuid();
  for (char& c : uuid) c = static_cast<char>(std::toupper(c));
  this->EditTopic("HSET", {"id", uuid});
  EXPECT_THAT(this->Append(topic, {Value("v")}), IsOk());
}

TYPED_TEST(ProducerTest, CutsTheLogByAgeAndBySizeAsItWrites) {
  const Topic topic = this->MakeTopic(
      {{"retentionTime", "1500"}, {"retentionBytes", "2000"}, {"messageBytes", "1000"}});
  ASSERT_THAT(this->Append(topic, {Value("old")}), IsOk());
  this->Advance(absl::Milliseconds(1500));
  ASSERT_THAT(this->Append(topic, {Value("a")}), IsOk());
  EXPECT_EQ(this->Length(), 2) << "what is just as old as the retention time stays";
  this->Advance(absl::Milliseconds(1));
  ASSERT_THAT(this->Append(topic, {Value("b")}), IsOk());
  EXPECT_EQ(this->Length(), 2) << "the old one is gone by its age";
  ASSERT_THAT(this->Append(topic, {Value("c"), Value("d")}), IsOk());
  EXPECT_EQ(this->Length(), 2) << "only two fit";
  EXPECT_THAT(this->Entries(), HasSubstr("\"c\""));
  EXPECT_THAT(this->Entries(), HasSubstr("\"d\""));
}

TYPED_TEST(ProducerTest, DoesNotCutWhenToldSoAndCutsWholeNodesWhenApproximate) {
  const Topic topic = this->MakeTopic({{"retentionBytes", "0"}});
  for (const Trimming trimming : {Trimming::kNone, Trimming::kApproximate}) {
    ProducerOptions options;
    options.trimming = trimming;
    ASSERT_THAT(this->Append(topic, {Value("a"), Value("b")}, options), IsOk());
  }
  EXPECT_EQ(this->Length(), 4);
  ASSERT_THAT(this->Append(topic, {Value("c")}), IsOk());
  EXPECT_EQ(this->Length(), 1);
}

// docs/systems/korvet.md 4.5: the next append uses the new retention, whichever producer sends it.
TYPED_TEST(ProducerTest, FollowsTheRetentionOfTheTopic) {
  const Topic topic = this->MakeTopic({{"retentionTime", "1500"}});
  Producer producer(this->store(), this->clock_, this->keys_, topic);
  const std::vector<NewRecord> records = {Value("v")};
  ASSERT_THAT(this->Run(producer.Append(0, records)), IsOk());
  const ConfigEntry forever[] = {{"retention.ms", "-1"}};
  Topics topics(this->store(), this->rng_, this->keys_);
  ASSERT_THAT(this->Run(topics.AlterConfig({.topic = "orders", .config = forever})), IsOk());
  this->Advance(absl::Hours(1));
  ASSERT_THAT(this->Run(producer.Append(0, records)), IsOk());
  EXPECT_EQ(this->Length(), 2) << "the first record is to be kept";
  // Records with given ids as well.
  const uint64_t later = static_cast<uint64_t>(this->now_ms()) + 1;
  this->clock_.AdvanceTo(this->now());
  Producer old(this->store(), this->clock_, this->keys_, topic);
  const std::vector<NewRecord> given = {At(later, 0)};
  ASSERT_THAT(this->Run(old.Append(0, given)), IsOk());
  EXPECT_EQ(this->Length(), 3);

  const ConfigEntry by_size[] = {{"retention.bytes", "2500"}, {"messageBytes", "1000"}};
  ASSERT_THAT(this->Run(topics.AlterConfig({.topic = "orders", .config = by_size})), IsOk());
  ASSERT_THAT(this->Run(producer.Append(0, records)), IsOk());
  EXPECT_EQ(this->Length(), 2);
  const ConfigEntry huge[] = {{"retention.bytes", "9223372036854775807"}, {"messageBytes", "1"}};
  ASSERT_THAT(this->Run(topics.AlterConfig({.topic = "orders", .config = huge})), IsOk());
  ASSERT_THAT(this->Run(producer.Append(0, records)), IsOk());
  EXPECT_EQ(this->Length(), 3);
}

TYPED_TEST(ProducerTest, UsesTheDefaultOfAMissingOptionAndRefusesAnUnreadableOne) {
  const Topic topic = this->MakeTopic();
  ASSERT_THAT(this->Append(topic, {Value("old")}), IsOk());
  this->EditTopic("HDEL", {"retentionTime", "retentionBytes", "messageBytes"});
  this->Advance(absl::Hours(24 * 7 + 1));
  ASSERT_THAT(this->Append(topic, {Value("new")}), IsOk());
  EXPECT_EQ(this->Length(), 1) << "seven days is the default";
  for (const auto& [field, value] :
       {std::pair("retentionTime", "soon"), std::pair("retentionBytes", "-2"),
        std::pair("messageBytes", "0")}) {
    this->EditTopic("HSET", {field, value});
    const absl::Status status = this->Append(topic, {Value("v")}).status();
    EXPECT_EQ(ErrorCodeOf(status), ErrorCode::kUnknownServerError) << field;
    EXPECT_THAT(std::string(status.message()), HasSubstr(field));
    this->EditTopic("HDEL", {field});
  }
  EXPECT_EQ(this->Length(), 1);
}

TYPED_TEST(ProducerTest, SeesAddedPartitions) {
  Producer producer(this->store(), this->clock_, this->keys_, this->MakeTopic());
  Topics topics(this->store(), this->rng_, this->keys_);
  const std::vector<NewRecord> records = {Value("v")};
  ASSERT_THAT(this->Run(topics.AddPartitions({.topic = "orders", .total = 5})), IsOk());
  EXPECT_THAT(this->Run(producer.Append(4, records)), IsOk());
  ASSERT_THAT(this->Run(topics.AddPartitions({.topic = "orders", .total = 6})), IsOk());
  EXPECT_THAT(this->Run(producer.Append(0, records)), IsOk());
  EXPECT_EQ(producer.topic().partitions, 6) << "each append learns the number";
  std::vector<NewRecord> keyless(6, Value("v"));
  const auto sent = this->Run(producer.Send(keyless)).value();
  EXPECT_EQ(sent[5]->partition, 5);
  ASSERT_THAT(this->Run(topics.AddPartitions({.topic = "orders", .total = 7})), IsOk());
  keyless[0].partition = 6;
  EXPECT_EQ(this->Run(producer.Send(keyless)).value()[0]->partition, 6);
}

// Lua's unpack takes no more than 8000 values. A batch is written completely or not at all.
TYPED_TEST(ProducerTest, RefusesARecordWithTooManyHeadersBeforeTheOthersAreWritten) {
  const Topic topic = this->MakeTopic({{"retentionTime", "1500"}});
  NewRecord large = Value("v");  // Its value and its timestamp are fields, too.
  large.headers.assign(3989, {"h", "x"});
  EXPECT_EQ(this->CodeOf(topic, {Value("a"), large}), ErrorCode::kMessageTooLarge);
  EXPECT_EQ(this->Length(), 0);
  EXPECT_EQ(this->CodeOf(topic, {Value("a"), large}, {.max_records_per_write = 1}),
            ErrorCode::kMessageTooLarge);
  EXPECT_EQ(this->Length(), 0);
  large.headers.pop_back();
  ASSERT_THAT(this->Append(topic, {large, Value("a"), large}), IsOk());
  EXPECT_EQ(this->Length(), 3);
}

TYPED_TEST(ProducerTest, LearnsTheValueTypeFromTheFirstValue) {
  Topic topic = this->MakeTopic();
  NewRecord tombstone;
  tombstone.key = "k";
  ASSERT_THAT(this->Append(topic, {tombstone}), IsOk());
  EXPECT_EQ(this->Ask({"HGET", "korvet:topic:orders", "valueType"}), Reply::Nil());
  ASSERT_THAT(this->Append(topic, {tombstone, Value(" {\"a\": 1}")}), IsOk());
  EXPECT_EQ(this->Ask({"HGET", "korvet:topic:orders", "valueType"}), Reply::Bulk("JSON"));
  EXPECT_THAT(this->Append(topic, {Value("[1]"), Value("5"), tombstone}), IsOk())
      << "any JSON will do from then on";
  const absl::Status status = this->Append(topic, {Value("5"), Value("{")}).status();
  EXPECT_EQ(ErrorCodeOf(status), ErrorCode::kInvalidRecord);
  EXPECT_THAT(std::string(status.message()), HasSubstr("record 2 of the batch"));
  EXPECT_EQ(this->Length(), 6) << "nothing of the refused batch is written";

  topic = this->MakeTopic();
  ASSERT_THAT(this->Append(topic, {Value("5")}), IsOk());
  EXPECT_EQ(this->Ask({"HGET", "korvet:topic:orders", "valueType"}), Reply::Bulk("BYTES"));
  EXPECT_THAT(this->Append(topic, {Value("{"), Value(std::string("\xff\0", 2))}), IsOk());
}

TYPED_TEST(ProducerTest, RemembersTheValueTypeThatItLearnt) {
  Producer producer(this->store(), this->clock_, this->keys_, this->MakeTopic());
  const std::vector<NewRecord> records = {Value("bytes")};
  EXPECT_EQ(producer.topic().config.value_type, std::nullopt);
  ASSERT_THAT(this->Run(producer.Append(0, records)), IsOk());
  EXPECT_EQ(producer.topic().config.value_type, ValueType::kBytes);
}

TYPED_TEST(ProducerTest, RefusesABatchThatWouldMakeTheTopicJsonAndIsNot) {
  const Topic topic = this->MakeTopic();
  EXPECT_EQ(this->CodeOf(topic, {Value("{}"), Value("x")}), ErrorCode::kInvalidRecord);
  EXPECT_EQ(this->Ask({"HGET", "korvet:topic:orders", "valueType"}), Reply::Nil());
}

TYPED_TEST(ProducerTest, ChecksARequestBeforeAnythingIsSent) {
  const Topic topic = this->MakeTopic();
  ProducerOptions options;
  options.acks = 2;
  EXPECT_EQ(this->CodeOf(topic, {Value("v")}, options), ErrorCode::kInvalidRequiredAcks);
  options.acks = 1;
  options.codec = "brotli";
  EXPECT_EQ(this->CodeOf(topic, {Value("v")}, options), ErrorCode::kUnsupportedCompressionType);
  options.codec = "zstd";
  options.max_record_bytes = 4;
  NewRecord record = Value("v");
  record.key = "k";
  record.headers = {{"h", "x"}};
  EXPECT_THAT(this->Append(topic, {record}, options), IsOk());
  record.headers.push_back({"h", std::nullopt});
  EXPECT_EQ(this->CodeOf(topic, {record}, options), ErrorCode::kMessageTooLarge);
  for (const int32_t partition : {-1, 3}) {
    EXPECT_EQ(ErrorCodeOf(this->Append(topic, {Value("v")}, {}, partition).status()),
              ErrorCode::kUnknownTopicOrPartition);
  }
  EXPECT_EQ(this->CodeOf(topic, {At(1, 0), Value("v")}), ErrorCode::kInvalidRequest);
  EXPECT_EQ(this->CodeOf(topic, {At(1, 1024)}), ErrorCode::kInvalidRecord);
  EXPECT_EQ(this->Length(), 1);
  EXPECT_TRUE(this->Append(topic, {}).value().offsets.empty());
}

TYPED_TEST(ProducerTest, DoesNotWaitWithoutAcks) {
  const Topic topic = this->MakeTopic();
  ProducerOptions options;
  options.acks = 0;
  const Appended appended = this->Append(topic, {Value("v")}, options).value();
  EXPECT_TRUE(appended.offsets.empty());
  EXPECT_EQ(appended.base_offset, -1);
  ASSERT_THAT(this->Append(topic, {At(kFirstMs << 2, 0)}, options), IsOk());
  EXPECT_EQ(this->Length(), 2);
  ASSERT_THAT(this->DeleteTopic(), IsOk());
  EXPECT_THAT(this->Append(topic, {Value("v")}, options), IsOk()) << "the error is lost";
  EXPECT_EQ(this->Length(), 0);
}

TYPED_TEST(ProducerTest, WritesABatchInPartsWhenTold) {
  const Topic topic = this->MakeTopic();
  ProducerOptions options;
  options.max_records_per_write = 2;
  InterceptedStore store(this->store());
  // Another producer writes after the first part.
  store.on_request = [&](size_t) -> std::optional<absl::StatusOr<Reply>> {
    if (this->Length() == 2) this->Ask({"XADD", kStream, "*", "value", "other"});
    return std::nullopt;
  };
  Producer producer(store, this->clock_, this->keys_, topic, options);
  const std::vector<NewRecord> records = {Value("a"), Value("b"), Value("c")};
  const Appended appended = this->Run(producer.Append(0, records)).value();
  const int64_t base = this->now_ms() << 10;
  EXPECT_THAT(appended.offsets, ElementsAre(base, base + 1, base + 3));
}

// Another producer writes whenever it can.
TYPED_TEST(ProducerTest, WritesABatchInPartsWithoutInterruptionWhenAtomic) {
  const Topic topic = this->MakeTopic();
  ProducerOptions options;
  options.max_records_per_write = 2;
  options.hardening.atomic_batches = true;
  InterceptedStore store(this->store());
  store.on_request = [&](size_t) -> std::optional<absl::StatusOr<Reply>> {
    this->Ask({"XADD", kStream, "*", "value", "other"});
    return std::nullopt;
  };
  Producer producer(store, this->clock_, this->keys_, topic, options);
  const std::vector<NewRecord> records = {Value("a"), Value("b"), Value("c")};
  const Appended appended = this->Run(producer.Append(0, records)).value();
  EXPECT_THAT(appended.offsets, ElementsAre(appended.base_offset, appended.base_offset + 1,
                                            appended.base_offset + 2));
}

TYPED_TEST(ProducerTest, RefusesAnAtomicBatchAsAWhole) {
  const Topic topic = this->MakeTopic();
  ProducerOptions options;
  options.max_records_per_write = 1;
  options.hardening.atomic_batches = true;
  const absl::Status status = this->Append(topic, {Value("{}"), Value("x")}, options).status();
  EXPECT_EQ(ErrorCodeOf(status), ErrorCode::kInvalidRecord);
  EXPECT_THAT(std::string(status.message()), HasSubstr("record 2 of the batch"));
  EXPECT_EQ(this->Length(), 0);
}

TYPED_TEST(ProducerTest, WritesRecordsWithIdsByOneScriptWhenAtomic) {
  const Topic topic = this->MakeTopic({{"retentionBytes", "2000"}, {"messageBytes", "1000"}});
  ProducerOptions options;
  options.hardening.atomic_batches = true;
  options.now_ms = kFirstMs;
  const std::vector<NewRecord> records = {At(kFirstMs, 0), At(kFirstMs, 1), At(kFirstMs, 2)};
  EXPECT_THAT(this->Append(topic, records, options).value().offsets,
              ElementsAre(kFirstMs << 10, (kFirstMs << 10) + 1, (kFirstMs << 10) + 2));
  EXPECT_EQ(this->Length(), 2) << "trimmed";
  // The last of these ids is not above the one before: nothing is written.
  EXPECT_FALSE(this->Append(topic, {At(kFirstMs, 3), At(kFirstMs, 3)}, options).ok());
  EXPECT_FALSE(this->Append(topic, {At(kFirstMs, 2)}, options).ok());
  EXPECT_EQ(this->Length(), 2);

  options.hardening.stream_exists = true;
  this->Ask({"DEL", kStream});
  EXPECT_EQ(this->CodeOf(topic, {At(kFirstMs, 4)}, options), ErrorCode::kUnknownTopicOrPartition);
  ASSERT_THAT(this->DeleteTopic(), IsOk());
  options.hardening.stream_exists = false;
  EXPECT_EQ(this->CodeOf(topic, {At(kFirstMs, 4)}, options), ErrorCode::kUnknownTopicOrPartition);
  this->MakeTopic();
  EXPECT_EQ(this->CodeOf(topic, {At(kFirstMs, 4)}, options), ErrorCode::kInconsistentTopicId);
  EXPECT_EQ(this->Length(), 0);
}

TYPED_TEST(ProducerTest, TrimsByTheTimeOfRedisIfAsked) {
  const Topic topic = this->MakeTopic({{"retentionTime", "60000"}});
  const int64_t now_ms = this->now_ms();
  base::VirtualClock ahead(absl::FromUnixMillis(now_ms) + absl::Hours(1));
  ProducerOptions options;
  options.hardening.trim_by_server_time = true;
  Producer right(this->store(), ahead, this->keys_, topic, options);
  Producer wrong(this->store(), ahead, this->keys_, topic);
  const std::vector<NewRecord> first = {At(now_ms, 0)};
  const std::vector<NewRecord> second = {At(now_ms + 3'600'000, 0)};
  const std::vector<NewRecord> third = {At(now_ms + 3'600'000, 1)};
  ASSERT_THAT(this->Run(right.Append(0, first)).status(), IsOk());
  ASSERT_THAT(this->Run(right.Append(0, second)).status(), IsOk());
  EXPECT_EQ(this->Length(), 2);
  ASSERT_THAT(this->Run(wrong.Append(0, third)).status(), IsOk());
  EXPECT_EQ(this->Length(), 2) << "the first record was removed before its time (H13)";
}

TYPED_TEST(ProducerTest, WritesRecordsWithIdsTheDocumentedWay) {
  const Topic topic = this->MakeTopic(
      {{"retentionTime", "1500"}, {"retentionBytes", "2000"}, {"messageBytes", "1000"}});
  ProducerOptions options;
  options.now_ms = 1234567892000;
  options.hardening.stream_exists = true;
  InterceptedStore store(this->store());
  Producer producer(store, this->clock_, this->keys_, topic, options);
  const std::vector<NewRecord> records = {At(1234567892000, 0, "c")};
  EXPECT_EQ(ErrorCodeOf(this->Run(producer.Append(0, records)).status()),
            ErrorCode::kUnknownTopicOrPartition)
      << "there is no stream yet";
  this->Write(topic, 0);
  EXPECT_EQ(this->Run(producer.Append(0, records)).value().base_offset,
            int64_t{1234567892000} << 10);
  const std::string add =
      "XADD korvet:stream:orders:0 NOMKSTREAM MINID = 1234567890500 1234567892000-0 value c "
      "timestamp 1";
  const std::string trim = "XTRIM korvet:stream:orders:0 MAXLEN = 2";
  const std::string read = "HGETALL korvet:topic:orders";
  EXPECT_THAT(this->Documented(store.log()), ElementsAre(read, add, trim, read, add, trim));
  EXPECT_EQ(store.requests(), 4u);
  EXPECT_EQ(this->Length(), 1);
}

TYPED_TEST(ProducerTest, PassesOnThatAnIdIsNotAboveTheLast) {
  const Topic topic = this->MakeTopic();
  ASSERT_THAT(this->Append(topic, {At(kFirstMs, 5)}, {.trimming = Trimming::kNone}), IsOk());
  const absl::Status status =
      this->Append(topic, {At(kFirstMs, 5)}, {.trimming = Trimming::kNone}).status();
  EXPECT_EQ(ErrorCodeOf(status), ErrorCode::kUnknownServerError);
  EXPECT_THAT(std::string(status.message()), HasSubstr("equal or smaller"));
}

TYPED_TEST(ProducerTest, SendsEachRecordToItsPartition) {
  Producer producer(this->store(), this->clock_, this->keys_, this->MakeTopic());
  std::vector<NewRecord> records(5, Value("v"));
  records[0].key = "order-123";  // Its hash selects partition 1.
  records[3].partition = 2;
  const auto sent = this->Run(producer.Send(records)).value();
  std::vector<int32_t> partitions;
  for (const auto& record : sent) partitions.push_back(record->partition);
  EXPECT_THAT(partitions, ElementsAre(1, 0, 1, 2, 2));
  EXPECT_LT(sent[0]->offset, sent[2]->offset);
  EXPECT_EQ(this->Length("korvet:stream:orders:1"), 2);

  records[0].partition = 3;
  EXPECT_EQ(ErrorCodeOf(this->Run(producer.Send(records)).status()),
            ErrorCode::kUnknownTopicOrPartition);
}

TYPED_TEST(ProducerTest, SaysOfEachRecordWhatBecameOfIt) {
  Producer producer(this->store(), this->clock_, this->keys_, this->MakeTopic());
  this->Ask({"SET", "korvet:stream:orders:1", "no stream"});
  std::vector<NewRecord> records(2, Value("v"));
  const auto sent = this->Run(producer.Send(records)).value();
  EXPECT_THAT(sent[0], IsOk());
  EXPECT_EQ(ErrorCodeOf(sent[1].status()), ErrorCode::kUnknownServerError) << "WRONGTYPE";
}

TYPED_TEST(ProducerTest, SaysWhetherAWriteMayHaveHappened) {
  const Topic topic = this->MakeTopic();
  const std::vector<NewRecord> records = {Value("v")};
  const std::pair<absl::Status, ErrorCode> cases[] = {
      {store::OutcomeUnknownError("lost"), ErrorCode::kRequestTimedOut},
      {store::NotSentError("down"), ErrorCode::kKafkaStorageError},
      {store::ServerError("OOM command not allowed"), ErrorCode::kKafkaStorageError},
  };
  for (const auto& [failure, code] : cases) {
    InterceptedStore store(this->store());
    const absl::Status answer = failure;
    store.on_request = [&](size_t) { return absl::StatusOr<Reply>(answer); };
    Producer producer(store, this->clock_, this->keys_, topic);
    EXPECT_EQ(ErrorCodeOf(this->Run(producer.Append(0, records)).status()), code);
  }
}

TYPED_TEST(ProducerTest, DoesNotTakeAnOddAnswerForSuccess) {
  const Topic topic = this->MakeTopic();
  const std::vector<NewRecord> records = {Value("v")};
  const Reply odd[] = {
      Reply::Nil(),
      Reply::EmptyArray(),
      Reply::Array({Reply::Bulk("0")}),
      Reply::Array({Reply::Integer(0)}),
      Reply::Array({Reply::Integer(7), Reply::Integer(7)}),
      Reply::Array({Reply::Integer(87)}),
      Reply::Array({Reply::Integer(0), Reply::Bulk(""), Reply::Bulk("no number")}),
      Reply::Array({Reply::Integer(0), Reply::Bulk(""), Reply::Bulk("0")}),
      Reply::Array({Reply::Integer(0), Reply::Bulk(""), Reply::Bulk("3"), Reply::Bulk("no id")})};
  for (const Reply& reply : odd) {
    InterceptedStore store(this->store());
    store.on_request = [&](size_t) { return absl::StatusOr<Reply>(reply); };
    Producer producer(store, this->clock_, this->keys_, topic);
    EXPECT_EQ(store::ErrorKindOf(this->Run(producer.Append(0, records)).status()),
              store::ErrorKind::kProtocol)
        << reply;
  }
}

}  // namespace
}  // namespace redouble::inline v0_1::korvet
