#include "redouble/sim/json/reply_json.h"

#include <string>

#include "gtest/gtest.h"
#include "redouble/core/store/errors.h"

namespace redouble::inline v0_1::sim {
namespace {

using store::Reply;

// What NormalizeReplyJson says of `json`: its JSON or its message.
std::string Normalized(const char* json) {
  const absl::StatusOr<Json> normalized = NormalizeReplyJson(Json::parse(json), "/expect");
  return normalized.ok() ? normalized->dump() : std::string(normalized.status().message());
}

TEST(ReplyJson, WritesEachKind) {
  EXPECT_EQ(ReplyToJson(Reply::Nil()).dump(), "null");
  EXPECT_EQ(ReplyToJson(Reply::Integer(-7)).dump(), "-7");
  EXPECT_EQ(ReplyToJson(Reply::Bulk("text")).dump(), "\"text\"");
  EXPECT_EQ(ReplyToJson(Reply::Bulk("\xff")).dump(), R"("bytes:\\xff")");
  EXPECT_EQ(ReplyToJson(Reply::Ok()).dump(), R"({"status":"OK"})");
  EXPECT_EQ(ReplyToJson(Reply::Error("ERR no")).dump(), R"({"error":"ERR no"})");
  EXPECT_EQ(
      ReplyToJson(Reply::Array({Reply::Integer(1), Reply::EmptyArray(), Reply::Nil()})).dump(),
      "[1,[],null]");
}

TEST(ReplyJson, WritesTheKindOfAFailure) {
  EXPECT_EQ(ResultToJson(Reply::Integer(1)).dump(), "1");
  EXPECT_EQ(ResultToJson(store::NotSentError("x")).dump(), R"({"failure":"not sent"})");
  EXPECT_EQ(ResultToJson(store::OutcomeUnknownError("x")).dump(),
            R"({"failure":"outcome unknown"})");
  EXPECT_EQ(ResultToJson(absl::InternalError("x")).dump(), R"({"failure":"protocol"})");
}

TEST(ReplyJson, KeepsWhatIsInItsFormAlready) {
  for (const char* json : {"null", "-7", "\"text\"", R"({"status":"OK"})", R"({"error":"ERR no"})",
                           R"([1,["a",null],{"error":"ERR"}])", R"({"failure":"not sent"})",
                           R"({"failure":"outcome unknown"})", R"({"failure":"protocol"})"}) {
    EXPECT_EQ(Normalized(json), json);
  }
}

TEST(ReplyJson, NormalizesByteStrings) {
  EXPECT_EQ(Normalized(R"("bytes:\\x61b")"), "\"ab\"");
  EXPECT_EQ(Normalized(R"([{"status": "bytes:OK"}])"), R"([{"status":"OK"}])");
}

TEST(ReplyJson, RefusesWhatIsNoReply) {
  EXPECT_TRUE(Normalized("1.5").starts_with("/expect: expected a reply")) << Normalized("1.5");
  EXPECT_TRUE(Normalized("[1, true]").starts_with("/expect/1: expected a reply"));
  const std::string forms =
      R"(/expect: expected {"status": "..."}, {"error": "..."} or {"failure": "..."}, got )";
  EXPECT_EQ(Normalized("{}"), forms + "{}");
  EXPECT_EQ(Normalized(R"({"nil": "x"})"), forms + R"({"nil":"x"})");
  EXPECT_EQ(Normalized(R"({"status": 1})"), forms + R"({"status":1})");
  EXPECT_EQ(Normalized(R"({"status": "a", "error": "b"})"),
            forms + R"({"status":"a","error":"b"})");
  EXPECT_EQ(Normalized(R"({"failure": "sad"})"),
            R"(/expect/failure: expected "not sent", "outcome unknown" or "protocol", got "sad")");
  EXPECT_TRUE(Normalized(R"("bytes:\\q")").starts_with("/expect: \"bytes:\\q\""));
  EXPECT_TRUE(Normalized(R"({"error": "bytes:\\q"})").starts_with("/expect/error: \"bytes:\\q\""));
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
