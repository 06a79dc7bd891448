#include "redouble/core/korvet/log/record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <fstream>
#include <limits>

#include "nlohmann/json.hpp"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/korvet/errors.h"

namespace redouble::inline v0_1::korvet {
namespace {

using base::IsOkAndHolds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using Json = nlohmann::ordered_json;
using store::StreamId;

constexpr StreamId kId = {1234567890123, 4};

std::string Refusal(const RecordFields& fields, StreamId id = kId) {
  const absl::Status status = DecodeRecord(fields, id).status();
  EXPECT_EQ(ErrorCodeOf(status), ErrorCode::kCorruptMessage);
  return std::string(status.message());
}

rc::Gen<std::optional<std::string>> GenMaybe() {
  return rc::gen::map(
      rc::gen::arbitrary<std::pair<bool, std::string>>(), [](std::pair<bool, std::string> drawn) {
        return drawn.first ? std::optional<std::string>(drawn.second) : std::nullopt;
      });
}

// The six records of the golden.
const std::vector<Record>& RecordedRecords() {
  static const auto* const records = new std::vector<Record>{
      {.key = "order-123",
       .value = R"({"product":"widget","quantity":5})",
       .timestamp_ms = 1234567890000,
       .headers = {{"source", "web"}, {"version", "1.0"}}},
      {.key = "order-124",
       .value = R"({"product":"gadget","quantity":3})",
       .timestamp_ms = 1234567891000},
      {.value = "no key", .timestamp_ms = 1234567891001},
      {.key = "order-124", .timestamp_ms = 1234567891002},
      {.key = "", .value = "", .timestamp_ms = 1234567891003},
      {.key = "k",
       .value = "v",
       .timestamp_ms = 1234567891004,
       .headers = {{"h", "a"}, {"h", "b"}, {"", "empty-name"}}},
  };
  return *records;
}

TEST(Record, WeighsWhatItsProducerGave) {
  EXPECT_EQ(SizeOf({}), 0);
  EXPECT_EQ(SizeOf({.key = "k", .value = "value", .headers = {{"h", "12"}, {"i", std::nullopt}}}),
            10);
}

TEST(Record, IsWrittenAndReadAsRecordedOnRedis) {
  const Json golden = Json::parse(std::ifstream("tests/data/golden/korvet/produce_fields.json"));
  const Json& entries = golden["keyspace"]["korvet:stream:orders:0"]["value"]["entries"];
  ASSERT_EQ(entries.size(), RecordedRecords().size());
  for (size_t i = 0; i < entries.size(); ++i) {
    RecordFields fields;
    const auto words = entries[i]["fields"].get<std::vector<std::string>>();
    for (size_t w = 0; w < words.size(); w += 2) fields.emplace_back(words[w], words[w + 1]);
    const StreamId id = StreamId::Parse(entries[i]["id"].get<std::string>()).value();
    EXPECT_EQ(EncodeRecord(RecordedRecords()[i]), fields) << i;
    EXPECT_THAT(DecodeRecord(fields, id), IsOkAndHolds(RecordedRecords()[i])) << i;
  }
}

TEST(Record, OfNothingButATimeIsStillAField) {
  EXPECT_THAT(EncodeRecord({.timestamp_ms = -1}), ElementsAre(Pair("timestamp", "-1")));
}

TEST(Record, TellsAbsentFromEmpty) {
  EXPECT_THAT(EncodeRecord({.key = "", .value = "", .timestamp_ms = 1}),
              ElementsAre(Pair("key", ""), Pair("value", ""), Pair("timestamp", "1")));
  const Record tombstone =
      DecodeRecord(RecordFields{{"key", "k"}, {"timestamp", "1"}}, kId).value();
  EXPECT_EQ(tombstone.key, "k");
  EXPECT_EQ(tombstone.value, std::nullopt);
  EXPECT_EQ(DecodeRecord(RecordFields{{"value", ""}}, kId).value().value, "");
}

TEST(Record, LosesThatAHeaderHadNoValue) {
  const RecordFields fields = EncodeRecord({.headers = {{"h", std::nullopt}}});
  EXPECT_THAT(fields, ElementsAre(Pair("timestamp", "0"), Pair("header.h", "")));
  EXPECT_EQ(DecodeRecord(fields, kId).value().headers, (std::vector<RecordHeader>{{"h", ""}}));
}

// As in partitions 1 and 2 of the documented key layout.
TEST(Record, WithoutATimestampHasTheTimeOfItsId) {
  const Record record =
      DecodeRecord(RecordFields{{"key", "order-125"}, {"value", "..."}}, kId).value();
  EXPECT_EQ(record.timestamp_ms, 1234567890123);
}

TEST(Record, KeepsTheTimestampOfTheSeedAsItStands) {
  const RecordFields fields = {{"key", "order-123"}, {"value", "..."}, {"timestamp", "1234567890"}};
  EXPECT_EQ(DecodeRecord(fields, kId).value().timestamp_ms, 1234567890);
}

TEST(Record, LeavesOutFieldsThatAreNotItsOwn) {
  const RecordFields fields = {
      {"Key", "x"}, {"headers", "x"}, {"header", "x"}, {"", "x"}, {"value", "v"}};
  EXPECT_THAT(DecodeRecord(fields, kId),
              IsOkAndHolds((Record{.value = "v", .timestamp_ms = 1234567890123})));
  EXPECT_THAT(DecodeRecord({}, kId), IsOkAndHolds((Record{.timestamp_ms = 1234567890123})));
}

TEST(Record, IsNotReadFromAnEntryThatSaysAThingTwice) {
  for (const std::string name : {"key", "value", "timestamp"}) {
    EXPECT_EQ(Refusal({{name, "1"}, {"header.h", "a"}, {name, "1"}}),
              "CORRUPT_MESSAGE: the entry 1234567890123-4 is no record: it has two fields \"" +
                  name + "\"");
  }
}

TEST(Record, IsNotReadFromAnEntryWithAnUnreadableTime) {
  for (const std::string text : {"", "soon", "1.5", " 1", "01", "9223372036854775808"}) {
    EXPECT_THAT(Refusal({{"timestamp", text}}), HasSubstr("its timestamp is \"" + text + "\""));
  }
  const StreamId beyond = {uint64_t{1} << 63, 0};
  EXPECT_THAT(Refusal({{"value", "v"}}, beyond), HasSubstr("the time of its id is above 63 bits"));
  EXPECT_EQ(DecodeRecord(RecordFields{{"value", "v"}}, {beyond.ms - 1, 0}).value().timestamp_ms,
            std::numeric_limits<int64_t>::max());
}

RC_GTEST_PROP(Record, IsReadBackAsItWasWritten,
              (int64_t timestamp_ms,
               const std::vector<std::pair<std::string, std::string>>& headers)) {
  Record record{.key = *GenMaybe(), .value = *GenMaybe(), .timestamp_ms = timestamp_ms};
  for (const auto& [name, text] : headers) record.headers.push_back({name, text});
  RC_ASSERT(DecodeRecord(EncodeRecord(record), kId).value() == record);
}

}  // namespace
}  // namespace redouble::inline v0_1::korvet
