#include "redouble/core/studio/search/search_document.h"

#include <gtest/gtest.h>

#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/python/error.h"
#include "redouble/core/python/json.h"

namespace redouble::inline v0_1::studio {
namespace {

using Words = std::vector<std::string>;
using base::IsOkAndHolds;

// From tests/data/golden/relayna/search_cursor_table.json.
TEST(TaskDocumentId, IsUrlSafeBase64OfBothIdsAsJson) {
  EXPECT_EQ(TaskDocumentId({"svc-a", "t1"}),
            "eyJzZXJ2aWNlX2lkIjoic3ZjLWEiLCJ0YXNrX2lkIjoidDEifQ==");
  EXPECT_EQ(TaskDocumentId({"a:b", "c"}), "eyJzZXJ2aWNlX2lkIjoiYTpiIiwidGFza19pZCI6ImMifQ==");
  EXPECT_EQ(TaskDocumentId({"s", "t\u00e2sk/2"}),
            "eyJzZXJ2aWNlX2lkIjoicyIsInRhc2tfaWQiOiJ0XHUwMGUyc2svMiJ9");
  EXPECT_EQ(TaskDocumentId({"s", "\U0001f600"}),
            "eyJzZXJ2aWNlX2lkIjoicyIsInRhc2tfaWQiOiJcdWQ4M2RcdWRlMDAifQ==");
  // Python escapes U+007F, too; from json.dumps of CPython 3.11.
  EXPECT_EQ(TaskDocumentId({"s",
                            "a\x7f"
                            "b"}),
            "eyJzZXJ2aWNlX2lkIjoicyIsInRhc2tfaWQiOiJhXHUwMDdmYiJ9");
  EXPECT_EQ(TaskDocumentId({"s", "q\"\\"}), "eyJzZXJ2aWNlX2lkIjoicyIsInRhc2tfaWQiOiJxXCJcXCJ9");
}

TEST(TaskDocumentId, DistinguishesIdsThatAreNotUtf8) {
  EXPECT_NE(TaskDocumentId({"\xff", "a"}), TaskDocumentId({"\xfe", "a"}));
  EXPECT_NE(TaskDocumentId({"\xff", "1:a"}), TaskDocumentId({"\xff"
                                                             "1",
                                                             ":a"}));
}

TEST(PrefixTokens, AreTheBeginningsOfAsciiWords) {
  const auto tokens = [](std::string_view text) {
    const std::set<std::string> set = PrefixTokens(text);
    return Words(set.begin(), set.end());
  };
  EXPECT_EQ(tokens("Pay API"), (Words{"a", "ap", "api", "p", "pa", "pay"}));
  EXPECT_EQ(tokens("\u00e91"), (Words{"1"}));
  EXPECT_EQ(tokens("a_b-c.d 9"), (Words{"9", "a", "b", "c", "d"}));
  EXPECT_EQ(tokens("\u00c0B"), (Words{"b"}));
  EXPECT_EQ(tokens("\u0130x"), (Words{"i", "x"}));
  EXPECT_EQ(tokens(""), Words());
  EXPECT_EQ(tokens("!!"), Words());
}

ServiceDocument PayService() {
  ServiceDocument document;
  document.service_id = "svc-a";
  document.name = "Pay API";
  document.environment = "Prod";
  document.tags = {"Core", "cost"};
  return document;
}

TEST(MatchedFields, NeedAllTermsInOneField) {
  EXPECT_EQ(MatchedFields(PayService(), {"pay", "a"}), (Words{"name"}));
  EXPECT_EQ(MatchedFields(PayService(), {"p"}), (Words{"name", "environment"}));
  EXPECT_EQ(MatchedFields(PayService(), {"co", "cos"}), (Words{"tags"})) << "tags are one field";
  EXPECT_EQ(MatchedFields(PayService(), {"pay", "core"}), Words());
  EXPECT_EQ(MatchedFields(PayService(), {"ay"}), Words());
}

TEST(FiltersOf, LeaveOutWhatIsEmpty) {
  TaskDocument task;
  task.service_id = "s";
  task.task_id = "t";
  task.status = "";
  task.stage = "ocr";
  EXPECT_EQ(FiltersOf(task),
            (FilterValues{{"service_id", "s"}, {"stage", "ocr"}, {"task_id", "t"}}));
  ServiceDocument service = PayService();
  service.status = "registered";
  EXPECT_EQ(
      FiltersOf(service),
      (FilterValues{
          {"environment", "Prod"}, {"status", "registered"}, {"tag", "Core"}, {"tag", "cost"}}));
}

TEST(Cursor, NamesTheMembersThatItWasMadeOf) {
  const std::string cursor = EncodeCursor({{"name", "pay api"}, {"service_id", "svc-a"}});
  EXPECT_EQ(cursor, "eyJuYW1lIjoicGF5IGFwaSIsInNlcnZpY2VfaWQiOiJzdmMtYSJ9");
  ASSERT_OK_AND_ASSIGN(const python::Value decoded, DecodeCursor(cursor));
  EXPECT_TRUE(CursorNames(decoded, {{"name", "pay api"}, {"service_id", "svc-a"}}));
  EXPECT_FALSE(CursorNames(decoded, {{"name", "pay api"}, {"service_id", "svc-b"}}));
  EXPECT_FALSE(CursorNames(decoded, {{"name", "pay api"}}));
}

TEST(Cursor, IsReadAsLenientlyAsPythonReadsBase64) {
  // {"a":"b"} with characters that are not base64, and with text after its end.
  EXPECT_TRUE(CursorNames(DecodeCursor("eyJ%h Ijoi!YiJ9").value(), {{"a", "b"}}));
  EXPECT_TRUE(CursorNames(DecodeCursor("eyJhIjoiYmMifQ==eyJ9").value(), {{"a", "bc"}}));
  EXPECT_TRUE(CursorNames(DecodeCursor("eyJhIjoiYiIsIm4iOjF9").value(), {{"a", "b"}}))
      << "other members are ignored";
}

TEST(Cursor, ThatCannotBeReadIsInvalid) {
  // Empty, not base64, not JSON, not an object, a truncated text, not ASCII.
  for (const char* cursor : {"", "%%%", "bm8=", "W10=", "eyJhIjoiYiJ", "e", "\u00e9", "/+8="}) {
    const absl::Status status = DecodeCursor(cursor).status();
    EXPECT_EQ(status.message(), "Invalid cursor.") << cursor;
    EXPECT_EQ(python::ErrorType(status), "ValueError");
  }
}

TEST(SearchDocuments, RoundTripThroughTheirJson) {
  TaskDocument task;
  task.service_id = "s";
  task.service_name = "S";
  task.environment = "prod";
  task.task_id = "t\u00e2sk";
  task.status = "done";
  task.expires_at = "2026-01-02T12:00:00Z";
  task.detail_path = "/studio/tasks/s/t\u00e2sk";
  ASSERT_OK_AND_ASSIGN(const std::string json, python::PydanticJson(ToValue(task)));
  EXPECT_EQ(json, R"({"service_id":"s","service_name":"S","environment":"prod","task_id":"tâsk",)"
                  R"("correlation_id":null,"status":"done","stage":null,"first_seen_at":null,)"
                  R"("last_seen_at":null,"latest_event_type":null,"latest_event_at":null,)"
                  R"("latest_ingested_at":null,"detail_path":"/studio/tasks/s/tâsk",)"
                  R"("expires_at":"2026-01-02T12:00:00Z"})");
  EXPECT_THAT(ParseTaskDocument(json), IsOkAndHolds(task));
  ServiceDocument service = PayService();
  service.status = "healthy";
  service.health_status = "stale";
  EXPECT_THAT(ParseServiceDocument(python::PydanticJson(ToValue(service)).value()),
              IsOkAndHolds(service));
}

TEST(SearchDocuments, ThatAreNoneAreValidationErrors) {
  for (const char* json : {"", "{bad", "[]", "{}", R"({"service_id":1})"}) {
    EXPECT_EQ(python::ErrorType(ParseTaskDocument(json).status()), "ValidationError") << json;
    EXPECT_EQ(python::ErrorType(ParseServiceDocument(json).status()), "ValidationError") << json;
  }
}

}  // namespace
}  // namespace redouble::inline v0_1::studio
