#include "redouble/sim/operations/arguments.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace redouble::inline v0_1::sim {
namespace {

// Returns the message of Finish() after `read` has read from `arguments`; empty if it is OK.
template <typename Read>
std::string ErrorOf(const Json& arguments, Read read) {
  ArgumentReader reader(arguments);
  read(reader);
  const absl::Status status = reader.Finish();
  EXPECT_TRUE(status.ok() || IsArgumentError(status));
  EXPECT_TRUE(status.ok() || status.code() == absl::StatusCode::kInvalidArgument);
  return std::string(status.message());
}

TEST(ArgumentReader, ReadsEachType) {
  const Json arguments = Json::parse(R"({
    "text": "bytes:\\xff", "integer": -7, "yes": true, "number": 0.25, "list": ["a", "b"],
    "time": "2026-05-09T14:03:02Z", "any": {"x": 1}})");
  ArgumentReader reader(arguments);
  EXPECT_EQ(reader.String("text"), "\xff");
  EXPECT_EQ(reader.Integer("integer"), -7);
  EXPECT_TRUE(reader.Bool("yes"));
  EXPECT_EQ(reader.Double("number"), 0.25);
  EXPECT_EQ(reader.Strings("list"), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(reader.Time("time"), absl::FromUnixSeconds(1778335382));
  EXPECT_EQ(reader.Any("any"), Json::parse(R"({"x": 1})"));
  EXPECT_TRUE(reader.Finish().ok());
}

TEST(ArgumentReader, ReadsDoublesAsText) {
  const Json arguments = {{"nan", "NaN"}, {"inf", "-inf"}, {"small", "1e-7"}, {"integer", 3}};
  ArgumentReader reader(arguments);
  EXPECT_TRUE(std::isnan(reader.Double("nan")));
  EXPECT_EQ(reader.Double("inf"), -std::numeric_limits<double>::infinity());
  EXPECT_EQ(reader.Double("small"), 1e-7);
  EXPECT_EQ(reader.Double("integer"), 3.0);
  EXPECT_TRUE(reader.Finish().ok());
}

TEST(ArgumentReader, TakesNullForAbsent) {
  const Json arguments = {{"limit", nullptr}};
  ArgumentReader reader(arguments);
  EXPECT_EQ(reader.OptionalInteger("limit"), std::nullopt);
  EXPECT_EQ(reader.OptionalString("text"), std::nullopt);
  EXPECT_EQ(reader.OptionalDouble("number"), std::nullopt);
  EXPECT_EQ(reader.OptionalTime("time"), std::nullopt);
  EXPECT_TRUE(reader.BoolOr("yes", true));
  EXPECT_EQ(reader.IntegerOr("count", 9), 9);
  EXPECT_EQ(reader.TimeOr("now", absl::FromUnixSeconds(5)), absl::FromUnixSeconds(5));
  EXPECT_TRUE(reader.Finish().ok());
}

TEST(ArgumentReader, DistinguishesNullFromAbsentOnRequest) {
  const Json arguments = {{"expect", nullptr}};
  ArgumentReader reader(arguments);
  ASSERT_NE(reader.FindOrNull("expect"), nullptr);
  EXPECT_TRUE(reader.FindOrNull("expect")->is_null());
  EXPECT_EQ(reader.Find("expect"), nullptr);
  EXPECT_EQ(reader.FindOrNull("other"), nullptr);
  EXPECT_TRUE(reader.Finish().ok());
}

TEST(ArgumentReader, ReadsOptionalValuesThatAreThere) {
  const Json arguments = {{"limit", 2},
                          {"text", "t"},
                          {"number", "inf"},
                          {"time", "1970-01-01T00:00:01Z"},
                          {"yes", false}};
  ArgumentReader reader(arguments);
  EXPECT_EQ(reader.OptionalInteger("limit"), 2);
  EXPECT_EQ(reader.OptionalString("text"), "t");
  EXPECT_EQ(reader.OptionalDouble("number"), std::numeric_limits<double>::infinity());
  EXPECT_EQ(reader.TimeOr("time", absl::UnixEpoch()), absl::FromUnixSeconds(1));
  EXPECT_FALSE(reader.BoolOr("yes", true));
  EXPECT_TRUE(reader.Finish().ok());
}

TEST(ArgumentReader, NamesTheMissingArgument) {
  EXPECT_EQ(ErrorOf(Json::object(), [](ArgumentReader& r) { r.String("key_id"); }),
            "/key_id: is missing");
  EXPECT_EQ(ErrorOf(Json::object(), [](ArgumentReader& r) { r.Integer("n"); }), "/n: is missing");
  EXPECT_EQ(ErrorOf(Json::object(), [](ArgumentReader& r) { r.Bool("b"); }), "/b: is missing");
  EXPECT_EQ(ErrorOf(Json::object(), [](ArgumentReader& r) { r.Double("d"); }), "/d: is missing");
  EXPECT_EQ(ErrorOf(Json::object(), [](ArgumentReader& r) { r.Time("t"); }), "/t: is missing");
  EXPECT_EQ(ErrorOf(Json::object(), [](ArgumentReader& r) { r.Strings("s"); }), "/s: is missing");
  EXPECT_EQ(ErrorOf(Json::object(), [](ArgumentReader& r) { r.Any("a"); }), "/a: is missing");
}

TEST(ArgumentReader, NamesTheExpectedAndTheActualValue) {
  EXPECT_EQ(ErrorOf({{"limit", "70"}}, [](ArgumentReader& r) { r.Integer("limit"); }),
            R"(/limit: expected an integer, got "70")");
  EXPECT_EQ(ErrorOf({{"limit", 1.5}}, [](ArgumentReader& r) { r.Integer("limit"); }),
            "/limit: expected an integer, got 1.5");
  EXPECT_EQ(ErrorOf({{"limit", uint64_t{1} << 63}}, [](ArgumentReader& r) { r.Integer("limit"); }),
            "/limit: expected an integer, got 9223372036854775808");
  EXPECT_EQ(ErrorOf({{"key", 7}}, [](ArgumentReader& r) { r.String("key"); }),
            "/key: expected a string, got 7");
  EXPECT_EQ(ErrorOf({{"on", 1}}, [](ArgumentReader& r) { r.Bool("on"); }),
            "/on: expected true or false, got 1");
  EXPECT_EQ(ErrorOf({{"cost", "much"}}, [](ArgumentReader& r) { r.Double("cost"); }),
            R"(/cost: expected a number, or one as text ("NaN", "inf", "1e-7"), got "much")");
  EXPECT_EQ(ErrorOf({{"ids", "one"}}, [](ArgumentReader& r) { r.Strings("ids"); }),
            R"(/ids: expected an array of strings, got "one")");
  EXPECT_EQ(ErrorOf({{"ids", Json::array({1})}}, [](ArgumentReader& r) { r.Strings("ids"); }),
            "/ids: expected a string, got 1");
  EXPECT_EQ(ErrorOf({{"now", 5}}, [](ArgumentReader& r) { r.Time("now"); }),
            "/now: expected a time such as \"2026-05-09T14:03:02Z\", got 5");
}

TEST(ArgumentReader, PassesOnWhatTheFormatsSay) {
  EXPECT_NE(ErrorOf({{"now", "noon"}}, [](ArgumentReader& r) { r.Time("now"); }).find("noon"),
            std::string::npos);
  EXPECT_NE(ErrorOf({{"key", "bytes:\\q"}}, [](ArgumentReader& r) { r.String("key"); })
                .find("/key: \"bytes:\\q\""),
            std::string::npos);
}

TEST(ArgumentReader, RefusesUnreadArguments) {
  EXPECT_EQ(ErrorOf({{"limit", 1}, {"a/b~", 2}}, [](ArgumentReader& r) { r.Integer("limit"); }),
            "/a~1b~0: unknown; known here: limit");
  EXPECT_EQ(ErrorOf({{"limti", 1}}, [](ArgumentReader& r) { r.OptionalInteger("limit"); }),
            "/limti: unknown; did you mean \"limit\"?; known here: limit");
}

TEST(ArgumentReader, SaysThatATimeLacksItsZone) {
  EXPECT_EQ(ErrorOf({{"now", "2026-05-09T14:03:02"}}, [](ArgumentReader& r) { r.Time("now"); }),
            "/now: not an RFC 3339 time: \"2026-05-09T14:03:02\"; write \"2026-05-09T14:03:02Z\" "
            "for UTC");
}

TEST(ArgumentReader, RefusesArgumentsThatAreNotAnObject) {
  EXPECT_EQ(ErrorOf(Json::array(), [](ArgumentReader& r) { r.OptionalInteger("limit"); }),
            ": expected an object, got []");
}

TEST(ArgumentReader, PutsThePathOfTheObjectFirst) {
  const Json json = {{"a", 1}};
  ArgumentReader reader(json, "/steps/3");
  reader.String("a");
  EXPECT_EQ(reader.Finish().message(), "/steps/3/a: expected a string, got 1");
  ArgumentReader no_object(json.at("a"), "/steps/3/a");
  EXPECT_EQ(no_object.Finish().message(), "/steps/3/a: expected an object, got 1");
}

TEST(ArgumentReader, ListsEveryErrorOnce) {
  EXPECT_EQ(ErrorOf({{"a", 1}, {"x", 2}},
                    [](ArgumentReader& r) {
                      r.Refuse("mode", "unknown mode");
                      r.String("a");
                      r.String("b");
                      r.Refuse("b", "is not one of the letters");
                    }),
            "/mode: unknown mode\n/a: expected a string, got 1\n/b: is missing\n"
            "/x: unknown; known here: a, b");
}

TEST(ArgumentReader, TakesOverTheErrorsOfAnother) {
  const Json inner = {{"b", 1}};
  EXPECT_EQ(ErrorOf(Json::object(),
                    [&](ArgumentReader& r) {
                      r.Add(absl::OkStatus());
                      ArgumentReader other(inner, "/inner");
                      other.String("b");
                      other.Integer("c");
                      r.Add(other.Finish());
                      r.Add(absl::InvalidArgumentError("/inner/c: is missing, too"));
                    }),
            "/inner/b: expected a string, got 1\n/inner/c: is missing");
}

TEST(ArgumentReader, IsTheOnlySourceOfArgumentErrors) {
  EXPECT_FALSE(IsArgumentError(absl::InvalidArgumentError("/limit: is missing")));
  EXPECT_FALSE(IsArgumentError(absl::OkStatus()));
  EXPECT_EQ(ArgumentErrorPath(absl::InvalidArgumentError("/limit: is missing")), "");
}

TEST(ArgumentReader, GivesThePathByItself) {
  const Json json = Json::object();
  ArgumentReader reader(json, "/steps/0");
  reader.Integer("a: b");
  EXPECT_EQ(ArgumentErrorPath(reader.Finish()), "/steps/0/a: b");
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
