#include "redouble/core/relayna/dlq/dlq_record.h"

#include <gtest/gtest.h>

#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/time/utc.h"
#include "redouble/core/python/error.h"
#include "redouble/core/python/json.h"

namespace redouble::inline v0_1::relayna {
namespace {

using base::IsOk;
using base::IsOkAndHolds;
using python::Value;

// The first record of tests/data/golden/relayna/dlq_add_list.json.
constexpr std::string_view kText =
    R"({"dlq_id":"af10d01b1bf437859f94962f7cf9cbf5ae8a029c83674cd417a886f6ddf6cefc",)"
    R"("queue_name":"q0.dlq","source_queue_name":"q","retry_queue_name":"q.retry","task_id":"t0",)"
    R"("correlation_id":"c0","reason":"handler_error","exception_type":"ValueError",)"
    R"("retry_attempt":0,"max_retries":3,"headers":{"x-relayna-retry-attempt":0},)"
    R"("content_type":"application/json","body":{"a":1},"body_encoding":"json",)"
    R"("raw_body_b64":"eyJhIjogMX0=","dead_lettered_at":"2026-01-01T11:00:00Z",)"
    R"("state":"dead_lettered","replay_count":0,"replayed_at":null,)"
    R"("replay_target_queue_name":null})";

TEST(DlqRecord, IsWrittenAsItWasRead) {
  const absl::StatusOr<DlqRecord> record = ParseDlqRecord(kText);
  ASSERT_THAT(record, IsOk());
  EXPECT_THAT(FormatDlqRecord(*record), IsOkAndHolds(kText));
}

TEST(DlqRecord, HasTheIdOfTheOriginal) {
  ASSERT_OK_AND_ASSIGN(const DlqRecord record, ParseDlqRecord(kText));
  EXPECT_EQ(DlqIdOf(record, R"({"a": 1})"), record.dlq_id);
  DlqRecord other = record;
  other.correlation_id = std::nullopt;
  EXPECT_NE(DlqIdOf(other, R"({"a": 1})"), record.dlq_id);
}

TEST(DlqRecord, StoresABodyAsJsonTextOrBase64) {
  DlqRecord record;
  record.SetBody(R"({"a": 1})");
  EXPECT_EQ(record.body_encoding, "json");
  EXPECT_EQ(*record.body.Find("a"), Value(1));
  EXPECT_EQ(record.raw_body_b64, "eyJhIjogMX0=");
  record.SetBody("plain text");
  EXPECT_EQ(record.body_encoding, "text");
  EXPECT_EQ(record.body, Value("plain text"));
  record.SetBody("\xFF\xFE");
  EXPECT_EQ(record.body_encoding, "base64");
  EXPECT_EQ(record.body, Value("//4="));
  EXPECT_EQ(record.raw_body_b64, "//4=");
}

TEST(DlqRecord, UsesDefaultsForMissingMembers) {
  python::Object object = *python::ParseJson(kText).value().object();
  for (const std::string_view name :
       {"task_id", "correlation_id", "exception_type", "max_retries", "headers", "content_type",
        "state", "replay_count", "replayed_at", "replay_target_queue_name"}) {
    object.Erase(name);
  }
  const absl::StatusOr<DlqRecord> record = DlqRecordOf(object);
  ASSERT_THAT(record, IsOk());
  EXPECT_EQ(record->replay_count, 0);
  EXPECT_EQ(record->state, DlqRecord::kDeadLettered);
  EXPECT_EQ(record->task_id, std::nullopt);
}

// The conversions of pydantic.
TEST(DlqRecord, ReadsWhatCountsAsAnInteger) {
  python::Object object = *python::ParseJson(kText).value().object();
  object.Set("retry_attempt", "2");
  object.Set("max_retries", 3.0);
  object.Set("replay_count", true);
  ASSERT_OK_AND_ASSIGN(const DlqRecord record, DlqRecordOf(object));
  EXPECT_EQ(record.retry_attempt, 2);
  EXPECT_EQ(record.max_retries, 3);
  EXPECT_EQ(record.replay_count, 1);
}

TEST(DlqRecord, RejectsInvalidText) {
  EXPECT_EQ(python::ErrorType(ParseDlqRecord("{").status()), "ValidationError");
  EXPECT_EQ(python::ErrorType(ParseDlqRecord("[]").status()), "ValidationError");
  const std::pair<std::string_view, Value> rows[] = {
      {"dlq_id", 7},
      {"queue_name", nullptr},
      {"retry_attempt", "x"},
      {"headers", Value(1)},
      {"dead_lettered_at", "soon"},
      {"state", "bogus"},
      {"max_retries", 1.5},
      {"replayed_at", true},
      {"task_id", python::Array()},
      {"replay_count", nullptr},
  };
  for (const auto& [name, value] : rows) {
    python::Object object = *python::ParseJson(kText).value().object();
    object.Set(name, value);
    const absl::Status status = DlqRecordOf(object).status();
    EXPECT_EQ(python::ErrorType(status), "ValidationError") << name;
    EXPECT_EQ(status.message().find(std::string(name) + ": "), 0u) << status;
  }
  for (const std::string_view name :
       {"dlq_id", "reason", "body", "body_encoding", "dead_lettered_at"}) {
    python::Object object = *python::ParseJson(kText).value().object();
    object.Erase(name);
    EXPECT_EQ(DlqRecordOf(object).status().message(), std::string(name) + ": Field required");
  }
}

// A record of another program keeps the offsets of its date-times, also in the id.
TEST(DlqRecord, KeepsDateTimesAsTheyAre) {
  python::Object object = *python::ParseJson(kText).value().object();
  object.Set("dead_lettered_at", "2026-01-01T13:00:00+02:00");
  object.Set("replayed_at", 1767268800);
  ASSERT_OK_AND_ASSIGN(const DlqRecord record, DlqRecordOf(object));
  ASSERT_OK_AND_ASSIGN(const std::string text, FormatDlqRecord(record));
  EXPECT_NE(text.find(R"("dead_lettered_at":"2026-01-01T13:00:00+02:00")"), text.npos) << text;
  EXPECT_NE(text.find(R"("replayed_at":"2026-01-01T12:00:00Z")"), text.npos) << text;
  ASSERT_OK_AND_ASSIGN(DlqRecord in_utc, ParseDlqRecord(kText));
  in_utc.dead_lettered_at = record.dead_lettered_at.time;
  EXPECT_NE(DlqIdOf(record, "{}"), DlqIdOf(in_utc, "{}"));
}

TEST(DlqRecord, RejectsAValueWithoutAJsonForm) {
  ASSERT_OK_AND_ASSIGN(DlqRecord record, ParseDlqRecord(kText));
  record.headers.Set("x", python::Opaque{"bytes", "b''"});
  EXPECT_EQ(python::ErrorType(FormatDlqRecord(record).status()), "PydanticSerializationError");
}

}  // namespace
}  // namespace redouble::inline v0_1::relayna
