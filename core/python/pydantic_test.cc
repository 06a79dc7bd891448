#include "redouble/core/python/pydantic.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "redouble/core/python/iso_time.h"
#include "redouble/core/python/json.h"

namespace redouble::inline v0_1::python {
namespace {

struct TextRow {
  std::string_view text;
  std::string_view written;
};

// Recorded from pydantic 2.13.4, by model_validate and model_dump_json.
constexpr TextRow kTextRows[] = {
    {"2026-01-01T10:00:00Z", "2026-01-01T10:00:00Z"},
    {"2026-01-01T10:00:00z", "2026-01-01T10:00:00Z"},
    {"2026-01-01t10:00:00+02:00", "2026-01-01T10:00:00+02:00"},
    {"2026-01-01 10:00", "2026-01-01T10:00:00"},
    {"2026-01-01_10:00:00.123456789+0530", "2026-01-01T10:00:00.123456+05:30"},
    {"2026-01-01T10:00:00,5Z", "2026-01-01T10:00:00.500000Z"},
    {"2026-01-01T10:00:00.000001Z", "2026-01-01T10:00:00.000001Z"},
    {"2026-01-01", "2026-01-01T00:00:00"},
    {" 2026-01-01T10:00:00Z", "none"},
    {"2026-01-01T10:00:00Z ", "none"},
    {"2026-01-01T10:00:00+02", "none"},
    {"2026-01-01T10:00:00\u221202:00", "2026-01-01T10:00:00-02:00"},
    {"20260101T100000Z", "none"},
    {"2026-W01-1", "none"},
    {"2026-01-01T10:00:00-00:00", "2026-01-01T10:00:00Z"},
    {"2026-01-01T10:00:00-23:59", "2026-01-01T10:00:00-23:59"},
    {"2026-01-01T10:00:00+24:00", "none"},
    {"2026-01-01T10:00:00+02:60", "none"},
    {"2026-01-01T24:00:00", "none"},
    {"2026-01-01T23:59:60", "none"},
    {"2026-01-01T23:60", "none"},
    {"2026-01-01T10:00:00.", "none"},
    {"2026-01-01T10:00.5", "none"},
    {"2026-01-01T10", "none"},
    {"2026-01-01T", "none"},
    {"2026-1-01", "none"},
    {"2026-01-1", "none"},
    {"2026-02-29", "none"},
    {"2024-02-29", "2024-02-29T00:00:00"},
    {"2026-13-01", "none"},
    {"2026-01-32", "none"},
    {"0000-01-01", "none"},
    {"0001-01-01T00:00:00+01:00", "0001-01-01T00:00:00+01:00"},
    {"2026/01/01", "none"},
    {"2026-01-01T10-00", "none"},
    {"2026-01-01T10:00:00 +02:00", "none"},
    {"2026-01-01T10:00:00*02:00", "none"},
    {"2026-01-01T10:00:00Zx", "none"},
    {"", "none"},
    {"1767261600", "2026-01-01T10:00:00Z"},
    {"1767261600.5", "2026-01-01T10:00:00.500000Z"},
    {"1767261600000", "2026-01-01T10:00:00Z"},
    {"-5", "1969-12-31T23:59:55Z"},
    {"+5", "1970-01-01T00:00:05Z"},
    {".5", "1970-01-01T00:00:00.500000Z"},
    {"5.", "1970-01-01T00:00:05Z"},
    {"-.5", "1969-12-31T23:59:59.500000Z"},
    {"5.1234567", "1970-01-01T00:00:05.123457Z"},
    {"-1.2", "1969-12-31T23:59:58.800000Z"},
    {".", "none"},
    {"-", "none"},
    {"1.2.3", "none"},
    {"1e9", "none"},
    {"nan", "none"},
    {" 5", "none"},
    {"5_000", "none"},
    {"20000000000", "2603-10-11T11:33:20Z"},
    {"20000000001", "1970-08-20T11:33:20.001000Z"},
    {"-20000000001", "1969-05-14T12:26:39.999000Z"},
    {"253402300799999", "9999-12-31T23:59:59.999000Z"},
    {"253402300800000", "none"},
    {"-62135596800000", "0001-01-01T00:00:00Z"},
    {"-62135596800001", "none"},
    {"9223372036854775808", "none"},
    {"12:00", "none"},
};

struct ValueRow {
  Value value;
  std::string_view written;
};

// The date-time as pydantic writes it again, or "none".
std::string Written(const Value& value) {
  const std::optional<DateTime> time = PydanticDateTime(value);
  return time ? FormatIsoZ(*time) : "none";
}

TEST(PydanticDateTime, AcceptsTheTextsThatPydanticAccepts) {
  for (const TextRow& row : kTextRows) EXPECT_EQ(Written(row.text), row.written) << row.text;
}

// Recorded as the texts.
TEST(PydanticDateTime, AcceptsTheNumbersThatPydanticAccepts) {
  const std::vector<ValueRow> rows = {
      {0, "1970-01-01T00:00:00Z"},
      {-1, "1969-12-31T23:59:59Z"},
      {1767261600, "2026-01-01T10:00:00Z"},
      {20000000000, "2603-10-11T11:33:20Z"},
      {20000000001, "1970-08-20T11:33:20.001000Z"},
      {-20000000001, "1969-05-14T12:26:39.999000Z"},
      {253402300799999, "9999-12-31T23:59:59.999000Z"},
      {253402300800000, "none"},
      {-62135596800000, "0001-01-01T00:00:00Z"},
      {-62135596800001, "none"},
      {Integer{"1" + std::string(30, '0')}, "none"},
      {1767261600.5, "2026-01-01T10:00:00.500000Z"},
      {1.1234567, "1970-01-01T00:00:01.123457Z"},
      {-0.5, "1969-12-31T23:59:59.500000Z"},
      {-1.2, "1969-12-31T23:59:58.200000Z"},
      {20000000000.5, "2603-10-11T11:33:20.000500Z"},
      {1767261600123.4, "2026-01-01T10:00:00.123400Z"},
      {-1767261600123.4568, "1913-12-31T13:59:59.876457Z"},
      {1000000000000000.0, "none"},
      {std::numeric_limits<double>::infinity(), "none"},
      {std::numeric_limits<double>::quiet_NaN(), "none"},
      {true, "none"},
      {nullptr, "none"},
      {Value(Object()), "none"},
      {Value(Array()), "none"},
  };
  for (const ValueRow& row : rows) {
    EXPECT_EQ(Written(row.value), row.written)
        << PyJson(row.value).value_or("a value that JSON does not have");
  }
}

TEST(PydanticDateTime, KeepsADateTimeAsItIs) {
  const DateTime naive(absl::FromUnixSeconds(5), std::nullopt);
  EXPECT_EQ(PydanticDateTime(naive), naive);
}

TEST(PydanticDateTime, HasTheInstantAndTheOffset) {
  const DateTime time = PydanticDateTime("2026-01-01T12:00:00+02:00").value();
  EXPECT_EQ(time.time, absl::FromUnixSeconds(1767261600));
  EXPECT_EQ(time.offset, absl::Hours(2));
  EXPECT_EQ(PydanticDateTime("2026-01-01T10:00").value(),
            DateTime(absl::FromUnixSeconds(1767261600), std::nullopt));
}

// Recorded from pydantic 2.13.4.
TEST(PydanticInteger, AcceptsWhatPydanticAccepts) {
  constexpr std::pair<std::string_view, int64_t> kAccepted[] = {{"2", 2},
                                                                {"-3", -3},
                                                                {"true", 1},
                                                                {"false", 0},
                                                                {"2.0", 2},
                                                                {"-0.0", 0},
                                                                {"1e18", 1'000'000'000'000'000'000},
                                                                {R"("2")", 2},
                                                                {R"(" 2 ")", 2},
                                                                {R"("+2")", 2},
                                                                {R"("-2")", -2},
                                                                {R"("2.000")", 2},
                                                                {R"("-2.0")", -2},
                                                                {R"("1_000")", 1000},
                                                                {R"("00012")", 12},
                                                                {R"("-00")", 0},
                                                                {R"("0_1")", 1},
                                                                {R"("1_0.0 ")", 10},
                                                                {R"("\n2\t")", 2},
                                                                {R"("\u00a02")", 2}};
  for (const auto& [json, number] : kAccepted) {
    EXPECT_EQ(PydanticInteger(ParseJson(json).value()), number) << json;
  }
  for (const char* json : {"null",       "2.5",         "9.3e18",       "-9.3e18",
                           "NaN",        "[]",          "{}",           "9223372036854775808",
                           R"("")",      R"("2.")",     R"("2.5")",     R"(".0")",
                           R"("_1")",    R"("1_")",     R"("1__0")",    R"("0x10")",
                           R"("1e3")",   R"("+-2")",    R"("- 2")",     R"("2 .0")",
                           R"("2.0_0")", R"("\uff11")", R"("\u001c2")", R"("2\u001f")"}) {
    EXPECT_EQ(PydanticInteger(ParseJson(json).value()), std::nullopt) << json;
  }
}

TEST(PydanticBool, AcceptsWhatPydanticAccepts) {
  const std::vector<Value> accepted_as_true = {true, 1, 1.0, "1", "ON", "t", "y", "TRUE", "yes"};
  for (const Value& value : accepted_as_true)
    EXPECT_EQ(PydanticBool(value), true) << PyJson(value).value();
  const std::vector<Value> accepted_as_false = {false, 0, 0.0, "0", "off", "F", "N", "false", "No"};
  for (const Value& value : accepted_as_false) {
    EXPECT_EQ(PydanticBool(value), false) << PyJson(value).value();
  }
  const std::vector<Value> refused = {2,       -1,  1.5,     "",       " yes",
                                      "maybe", "2", nullptr, Object(), Array()};
  for (const Value& value : refused)
    EXPECT_EQ(PydanticBool(value), std::nullopt) << PyJson(value).value();
}

}  // namespace
}  // namespace redouble::inline v0_1::python
