#include "redouble/core/python/json.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>

#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/python/error.h"

namespace redouble::inline v0_1::python {
namespace {

using Foreign = PyJsonOptions::Foreign;
using base::IsOkAndHolds;

Value Read(std::string_view text) {
  absl::StatusOr<Value> value = ParseJson(text);
  EXPECT_TRUE(value.ok()) << text << ": " << value.status();
  return value.value_or(Value());
}

// Returns the exception class and message of an error.
std::string Failure(const absl::Status& status) {
  return ErrorType(status).value_or("none") + ": " + std::string(status.message());
}

struct Row {
  std::string_view text;
  std::string_view py;
  std::string_view pydantic;
};

TEST(Json, IsWrittenInTwoDialects) {
  const Row rows[] = {
      {R"({"b":[1,2.5,true,null],"a":{}})", R"({"b": [1, 2.5, true, null], "a": {}})",
       R"({"b":[1,2.5,true,null],"a":{}})"},
      {R"([])", R"([])", R"([])"},
      {R"([1e16, 1e-07, 0.00001])", R"([1e+16, 1e-07, 1e-05])", R"([1e16,1e-7,0.00001])"},
      {R"([NaN,Infinity,-Infinity,1e400])", R"([NaN, Infinity, -Infinity, Infinity])",
       R"([null,null,null,null])"},
      {R"([123456789012345678901234567890, -0, 0.0, -0.0])",
       R"([123456789012345678901234567890, 0, 0.0, -0.0])",
       R"([123456789012345678901234567890,0,0.0,-0.0])"},
      {R"(["\u00e9\u2603\ud83d\ude00/\u007f"])", "[\"\u00E9\u2603\U0001F600/\x7F\"]",
       "[\"\u00E9\u2603\U0001F600/\x7F\"]"},
      {R"(["\"\\\/\b\f\n\r\t\u0000\u001F"])", R"(["\"\\/\b\f\n\r\t\u0000\u001f"])",
       R"(["\"\\/\b\f\n\r\t\u0000\u001f"])"},
  };
  for (const Row& row : rows) {
    EXPECT_THAT(PyJson(Read(row.text)), IsOkAndHolds(row.py));
    EXPECT_THAT(PydanticJson(Read(row.text)), IsOkAndHolds(row.pydantic));
  }
}

TEST(PyJson, SortsMembersAtEveryDepth) {
  const Value value =
      Read(R"({"b": {"z": 1, "a": 2}, "a": [{"y": 1, "x": 2}], "\uffff": 1, "\ud83d\ude00": 2})");
  EXPECT_THAT(
      PyJson(value, {.sorted = true}),
      IsOkAndHolds("{\"a\": [{\"x\": 2, \"y\": 1}], \"b\": {\"a\": 2, \"z\": 1}, \"\uFFFF\": 1, "
                   "\"\U0001F600\": 2}"));
}

TEST(PyJson, IsCompactWhenAsked) {
  EXPECT_THAT(PyJson(Read(R"({"b": [1, 2], "a": 3})"), {.compact = true}),
              IsOkAndHolds(R"({"b":[1,2],"a":3})"));
}

TEST(PyJson, EscapesBeyondAsciiWhenAsked) {
  EXPECT_THAT(PyJson("\u00E9\u2603\U0001F600\x7F", {.ascii = true}),
              IsOkAndHolds("\"\\u00e9\\u2603\\ud83d\\ude00\\u007f\""));
}

TEST(PyJson, WritesALoneSurrogateOnlyAsAnEscape) {
  const Value value = Read(R"(["\ud800"])");
  EXPECT_THAT(PyJson(value, {.ascii = true}), IsOkAndHolds(R"(["\ud800"])"));
  EXPECT_EQ(ErrorType(PyJson(value).status()), "UnicodeEncodeError");
  EXPECT_EQ(ErrorType(PydanticJson(value).status()), "PydanticSerializationError");
}

TEST(PyJson, RefusesBytesThatAreNoText) {
  const Value name = Object({{"\xFF", 1}});
  for (const bool ascii : {false, true}) {
    EXPECT_EQ(ErrorType(PyJson("\xFF", {.ascii = ascii}).status()), "UnicodeEncodeError");
    EXPECT_EQ(ErrorType(PyJson(name, {.ascii = ascii}).status()), "UnicodeEncodeError");
  }
  EXPECT_EQ(ErrorType(PydanticJson(name).status()), "PydanticSerializationError");
}

TEST(PyJson, WritesDateTimesByTheOptions) {
  const Value value = Object({{"at", DateTime{absl::FromUnixMicros(1767268800500000)}}});
  EXPECT_EQ(Failure(PyJson(value).status()),
            "TypeError: Object of type datetime is not JSON serializable");
  EXPECT_THAT(PyJson(value, {.date_times = Foreign::kIsoOrText}),
              IsOkAndHolds(R"({"at": "2026-01-01T12:00:00.500000+00:00"})"));
  EXPECT_THAT(PyJson(value, {.date_times = Foreign::kText}),
              IsOkAndHolds(R"({"at": "2026-01-01 12:00:00.500000+00:00"})"));
  EXPECT_THAT(PydanticJson(value), IsOkAndHolds(R"({"at":"2026-01-01T12:00:00.500000Z"})"));
}

TEST(PyJson, WritesOtherObjectsByTheOptions) {
  const Value value = Array{Opaque{"set", "{1}"}};
  EXPECT_EQ(Failure(PyJson(value).status()),
            "TypeError: Object of type set is not JSON serializable");
  EXPECT_THAT(PyJson(value, {.others = Foreign::kText}), IsOkAndHolds(R"(["{1}"])"));
  EXPECT_THAT(PyJson(value, {.others = Foreign::kIsoOrText}), IsOkAndHolds(R"(["{1}"])"));
  EXPECT_EQ(Failure(PydanticJson(value).status()),
            "PydanticSerializationError: Unable to serialize unknown type: <class 'set'>");
}

TEST(PyJson, IsHashedAsTheSystemsHashIt) {
  EXPECT_THAT(HashOfPyJson(Read(R"({"task_id":"t1","status":"queued"})"), {.sorted = true}),
              IsOkAndHolds("a140e4db7db59c913bed7f7a0216ad2d701336c1c5e0acaa4f52b7dd289bc927"));
  EXPECT_THAT(HashOfPyJson(Read(R"({"task_id":"t1","status":"queued"})"),
                           {.sorted = true, .compact = true}),
              IsOkAndHolds("d281e8abcb473bd06ff31d7ea449e0b2ab55cb00f66d3503faed7a8344df9f0d"));
  EXPECT_EQ(ErrorType(HashOfPyJson("\xFF", {}).status()), "UnicodeEncodeError");
}

TEST(ParseJson, ReadsWhatPythonReads) {
  EXPECT_EQ(Read(" \t\r\n1 "), Value(1));
  EXPECT_EQ(Read("-12"), Value(-12));
  EXPECT_EQ(Read("1E2"), Value(100.0));
  EXPECT_EQ(Read("1.5e-2"), Value(0.015));
  EXPECT_EQ(Read("1e-400"), Value(0.0));
  EXPECT_EQ(Read("\"\x7F\""), Value("\x7F"));
  EXPECT_TRUE(std::isnan(*Read("NaN").real()));
  EXPECT_EQ(Read(R"("\ud800\u0041\udc00")"), Value("\xED\xA0\x80"
                                                   "A"
                                                   "\xED\xB0\x80"));
  EXPECT_EQ(Read(R"("\ud800\ud83d\ude00")"), Value("\xED\xA0\x80\U0001F600"));
}

TEST(ParseJson, TakesTheLastOfTwoEqualNamesInPlaceOfTheFirst) {
  EXPECT_THAT(PyJson(Read(R"({"a": 1, "b": 2, "a": 3})")), IsOkAndHolds(R"({"a": 3, "b": 2})"));
  std::string many = "{";
  for (int i = 0; i < 40; ++i)
    many += "\"m" + std::to_string(i % 20) + "\": " + std::to_string(i) + ",";
  many.back() = '}';
  const Value value = Read(many);
  ASSERT_EQ(value.object()->size(), 20u);
  EXPECT_EQ(value.object()->members()[3].name, "m3");
  EXPECT_EQ(value.object()->members()[3].value, Value(23));
}

struct Mistake {
  std::string_view text;
  std::string_view message;
};

// CPython 3.13.0's messages.
constexpr Mistake kMistakes[] = {
    {"", "Expecting value: line 1 column 1 (char 0)"},
    {"  ", "Expecting value: line 1 column 3 (char 2)"},
    {"nul", "Expecting value: line 1 column 1 (char 0)"},
    {"-", "Expecting value: line 1 column 1 (char 0)"},
    {"01", "Extra data: line 1 column 2 (char 1)"},
    {"1.", "Extra data: line 1 column 2 (char 1)"},
    {"1e", "Extra data: line 1 column 2 (char 1)"},
    {"-Infinityx", "Extra data: line 1 column 10 (char 9)"},
    {"{not json", "Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"},
    {"{\"a\" 1}", "Expecting ':' delimiter: line 1 column 6 (char 5)"},
    {"{\"a\":", "Expecting value: line 1 column 6 (char 5)"},
    {"{\"a\":1 \"b\"}", "Expecting ',' delimiter: line 1 column 8 (char 7)"},
    {"{\"a\":1,}", "Illegal trailing comma before end of object: line 1 column 7 (char 6)"},
    {"[1,]", "Illegal trailing comma before end of array: line 1 column 3 (char 2)"},
    {"[1 2]", "Expecting ',' delimiter: line 1 column 4 (char 3)"},
    {"[1,", "Expecting value: line 1 column 4 (char 3)"},
    {"\"abc", "Unterminated string starting at: line 1 column 1 (char 0)"},
    {"\"\\", "Unterminated string starting at: line 1 column 1 (char 0)"},
    {"{\"a", "Unterminated string starting at: line 1 column 2 (char 1)"},
    {"\"a\nb\"", "Invalid control character at: line 1 column 3 (char 2)"},
    {"\"\\x\"", "Invalid \\escape: line 1 column 2 (char 1)"},
    {"\"\\u", "Invalid \\uXXXX escape: line 1 column 3 (char 2)"},
    {"\"\\u123\"", "Invalid \\uXXXX escape: line 1 column 3 (char 2)"},
    {"\"\\u1234", "Invalid \\uXXXX escape: line 1 column 3 (char 2)"},
    {"\"\\uD800\\uZZZZ\"", "Invalid \\uXXXX escape: line 1 column 9 (char 8)"},
    {"\"\\uD800\\u12", "Invalid \\uXXXX escape: line 1 column 9 (char 8)"},
    {"\n\n  \u00E9", "Expecting value: line 3 column 3 (char 4)"},
    {"\"\u00E9\u00E9\" x", "Extra data: line 1 column 6 (char 5)"},
    {"\uFEFF1", "Unexpected UTF-8 BOM (decode using utf-8-sig): line 1 column 1 (char 0)"},
};

TEST(ParseJson, HasTheMessagesOfPython) {
  for (const Mistake& mistake : kMistakes) {
    const absl::Status status = ParseJson(mistake.text).status();
    EXPECT_EQ(Failure(status), "JSONDecodeError: " + std::string(mistake.message)) << mistake.text;
  }
}

TEST(ParseJson, RefusesBytesThatAreNoText) {
  EXPECT_EQ(ErrorType(ParseJson("\"\xFF\"").status()), "UnicodeDecodeError");
}

TEST(ParseJson, RefusesAnIntegerOfMoreThan4300Digits) {
  EXPECT_TRUE(ParseJson("-" + std::string(4300, '9')).ok());
  EXPECT_EQ(ErrorType(ParseJson(std::string(4301, '9')).status()), "ValueError");
}

TEST(ParseJson, RefusesMoreThan500Levels) {
  EXPECT_TRUE(ParseJson(std::string(500, '[') + std::string(500, ']')).ok());
  EXPECT_EQ(ErrorType(ParseJson(std::string(501, '[')).status()), "RecursionError");
}

// A value that was read from any bytes is equal after writing and reading it again.
RC_GTEST_PROP(ParseJson, ReadsBackWhatIsWritten, ()) {
  const auto text = *rc::gen::container<std::string>(
      rc::gen::elementOf(std::string("{}[]\",:0123456789.eE+-ntf \\u\xC3\xA9")));
  const absl::StatusOr<Value> value = ParseJson(text);
  if (!value.ok()) return;
  const absl::StatusOr<std::string> written = PyJson(*value, {.ascii = true});
  RC_ASSERT(written.ok());
  const absl::StatusOr<Value> again = ParseJson(*written);
  RC_ASSERT(again.ok());
  RC_ASSERT(PyJson(*again, {.ascii = true}) == written);
}

}  // namespace
}  // namespace redouble::inline v0_1::python
