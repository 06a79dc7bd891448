#include "redouble/core/python/model_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/time/utc.h"
#include "redouble/core/python/error.h"
#include "redouble/core/python/json.h"

namespace redouble::inline v0_1::python {
namespace {

using base::IsOk;
using base::IsOkAndHolds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

Value Json(std::string_view text) { return ParseJson(text).value(); }

// The message of the reader's status after `read`; "OK" without an error.
std::string After(const Value& value, const std::function<void(ModelReader&)>& read) {
  ModelReader reader(value, "Model");
  read(reader);
  if (reader.status().ok()) return "OK";
  EXPECT_EQ(ErrorType(reader.status()), "ValidationError");
  return std::string(reader.status().message());
}

struct Reading {
  const char* why;
  const char* json;
  void (*read)(ModelReader& reader);
  const char* says;
};

constexpr Reading kReadings[] = {
    {"no object", "[]", [](ModelReader&) {}, "Model: Input should be an object"},
    {"a number", "7", [](ModelReader& r) { r.OptionalString("a"); },
     "Model: Input should be an object"},
    {"an empty object", "{}", [](ModelReader&) {}, "OK"},
    {"a text that is not there", "{}", [](ModelReader& r) { r.String("a"); }, "a: Field required"},
    {"a text that is null", R"({"a": null})", [](ModelReader& r) { r.String("a"); },
     "a: value must be a string"},
    {"a text with a default that is null", R"({"a": null})",
     [](ModelReader& r) { r.StringOr("a", "x"); }, "a: value must be a string"},
    {"texts that are null", R"({"a": null})", [](ModelReader& r) { r.Strings("a"); },
     "a: Input should be a list"},
    {"a boolean that is null", R"({"a": null})", [](ModelReader& r) { r.BoolOr("a", true); },
     "a: Input should be a boolean"},
    {"an integer that is null", R"({"a": null})", [](ModelReader& r) { r.IntegerOr("a", 0); },
     "a: Input should be an integer"},
    {"an object that is null", R"({"a": null})", [](ModelReader& r) { r.Object("a"); },
     "a: Input should be an object"},
    {"a text that is a number", R"({"a": 1})", [](ModelReader& r) { r.String("a"); },
     "a: value must be a string"},
    {"an optional text that is a number", R"({"a": 1})",
     [](ModelReader& r) { r.OptionalString("a"); }, "a: value must be a string"},
    {"a blank text", R"({"a": " "})", [](ModelReader& r) { r.StrippedString("a"); },
     "a: value must not be empty"},
    {"a text that is missing is not also empty", "{}",
     [](ModelReader& r) { r.StrippedString("a"); }, "a: Field required"},
    {"texts that are a text", R"({"a": "x"})", [](ModelReader& r) { r.Strings("a"); },
     "a: Input should be a list"},
    {"texts with a number", R"({"a": ["x", 1]})", [](ModelReader& r) { r.Strings("a"); },
     "a: value must be a string"},
    {"a boolean that is not there", "{}", [](ModelReader& r) { r.Bool("a"); }, "a: Field required"},
    {"a boolean that is another text", R"({"a": "maybe"})", [](ModelReader& r) { r.Bool("a"); },
     "a: Input should be a boolean"},
    {"a boolean that is another number", R"({"a": 2})", [](ModelReader& r) { r.BoolOr("a", true); },
     "a: Input should be a boolean"},
    {"an integer that has a fraction", R"({"a": 1.5})", [](ModelReader& r) { r.IntegerOr("a", 0); },
     "a: Input should be an integer"},
    {"an integer that does not fit", R"({"a": 9223372036854775808})",
     [](ModelReader& r) { r.IntegerOr("a", 0); }, "a: Input should be an integer"},
    {"an invalid date-time", R"({"a": "soon"})", [](ModelReader& r) { r.OptionalTime("a"); },
     "a: Input should be a datetime"},
    {"a date-time that is a boolean", R"({"a": true})", [](ModelReader& r) { r.OptionalTime("a"); },
     "a: Input should be a datetime"},
    {"an integer that is missing", "{}", [](ModelReader& r) { r.Integer("a"); },
     "a: Field required"},
    {"an optional integer that is no number", R"({"a": "x"})",
     [](ModelReader& r) { r.OptionalInteger("a"); }, "a: Input should be an integer"},
    {"a date-time that is missing", "{}", [](ModelReader& r) { r.Time("a"); }, "a: Field required"},
    {"a date-time that is null", R"({"a": null})", [](ModelReader& r) { r.Time("a"); },
     "a: Input should be a datetime"},
    {"a required date-time that is a list", R"({"a": []})", [](ModelReader& r) { r.Time("a"); },
     "a: Input should be a datetime"},
    {"an object that is a list", R"({"a": []})", [](ModelReader& r) { r.Object("a"); },
     "a: Input should be an object"},
};

TEST(ModelReader, SaysWhatIsWrongWithAMember) {
  for (const Reading& reading : kReadings) {
    EXPECT_EQ(After(Json(reading.json), reading.read), reading.says) << reading.why;
  }
}

TEST(ModelReader, ReturnsTheMembers) {
  const Value value = Json(
      R"({"text": " x ", "blank": " \u00a0", "null": null, "texts": ["a", ""], "yes": true,)"
      R"( "number": -7, "digits": "12.0", "time": "2026-01-01T10:00:00+07:00", "epoch": 1767236400, "one": 1,)"
      R"( "off": "off", "object": {"k": 1}})");
  ModelReader reader(value, "Model");
  EXPECT_EQ(reader.String("text"), " x ");
  EXPECT_EQ(reader.StrippedString("text"), "x");
  EXPECT_EQ(reader.OptionalString("blank"), " \u00a0");
  EXPECT_EQ(reader.OptionalStrippedString("blank"), std::nullopt);
  EXPECT_EQ(reader.OptionalStrippedString("text"), "x");
  EXPECT_THAT(reader.Strings("texts"), ElementsAre("a", ""));
  EXPECT_TRUE(reader.Bool("yes"));
  EXPECT_EQ(reader.IntegerOr("number", 0), -7);
  EXPECT_EQ(reader.Integer("number"), -7);
  EXPECT_EQ(reader.Integer("digits"), 12);
  EXPECT_EQ(reader.OptionalInteger("number"), -7);
  const DateTime time(base::ParseRfc3339("2026-01-01T03:00:00Z").value(), absl::Hours(7));
  EXPECT_EQ(reader.OptionalTime("time"), time);
  EXPECT_EQ(reader.Time("time"), time);
  EXPECT_EQ(reader.OptionalTime("epoch"), time.time);
  EXPECT_TRUE(reader.Bool("one"));
  EXPECT_FALSE(reader.BoolOr("off", true));
  EXPECT_EQ(reader.Object("object"), Json(R"({"k": 1})"));
  EXPECT_THAT(reader.status(), IsOk());
}

TEST(ModelReader, ReadsOptionalMembersThatAreMissingOrNullAsAbsent) {
  const Value value = Json(R"({"null": null})");
  ModelReader reader(value, "Model");
  for (const char* name : {"null", "absent"}) {
    EXPECT_EQ(reader.Find(name), nullptr);
    EXPECT_EQ(reader.OptionalString(name), std::nullopt);
    EXPECT_EQ(reader.OptionalStrippedString(name), std::nullopt);
    EXPECT_EQ(reader.OptionalInteger(name), std::nullopt);
    EXPECT_EQ(reader.OptionalTime(name), std::nullopt);
  }
  EXPECT_NE(reader.FindGiven("null"), nullptr);
  EXPECT_EQ(reader.FindGiven("absent"), nullptr);
  EXPECT_THAT(reader.status(), IsOk());
}

TEST(ModelReader, UsesDefaultsForMembersThatAreMissing) {
  const Value value = Json("{}");
  ModelReader reader(value, "Model");
  EXPECT_EQ(reader.StringOr("a", "x"), "x");
  EXPECT_THAT(reader.Strings("a"), IsEmpty());
  EXPECT_TRUE(reader.BoolOr("a", true));
  EXPECT_EQ(reader.IntegerOr("a", 5), 5);
  EXPECT_TRUE(reader.Object("a").object()->empty());
  EXPECT_THAT(reader.status(), IsOk());
}

TEST(ModelReader, KeepsTheFirstOfItsErrors) {
  const Value value = Json(R"({"a": 1})");
  ModelReader reader(value, "Model");
  reader.String("a");
  reader.String("b");
  reader.Refuse("c", "no");
  reader.Update(ValueError("other"));
  EXPECT_EQ(reader.status().message(), "a: value must be a string");
  ModelReader updated(value, "Model");
  updated.Update(absl::OkStatus());
  EXPECT_THAT(updated.status(), IsOk());
  updated.Update(ValueError("other"));
  EXPECT_EQ(ErrorType(updated.status()), "ValueError") << "under its own class";
}

TEST(ModelReader, AcceptsADateTimeValue) {
  ASSERT_OK_AND_ASSIGN(const absl::Time time, base::ParseRfc3339("2026-01-01T03:00:00Z"));
  const Value value = Object({{"a", DateTime{time}}});
  ModelReader reader(value, "Model");
  EXPECT_EQ(reader.OptionalTime("a"), time);
}

TEST(ParseModelJson, NamesTheModelInErrors) {
  EXPECT_THAT(ParseModelJson("[1]", "Model"), IsOkAndHolds(Json("[1]")));
  const absl::Status status = ParseModelJson("{", "Model").status();
  EXPECT_EQ(ErrorType(status), "ValidationError");
  EXPECT_EQ(status.message().substr(0, 7), "Model: ");
}

}  // namespace
}  // namespace redouble::inline v0_1::python
