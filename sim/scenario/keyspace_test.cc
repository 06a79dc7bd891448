#include "sim/scenario/keyspace.h"

#include <string>
#include <string_view>

#include "gtest/gtest.h"

namespace redouble::sim {
namespace {

std::string Normalized(std::string_view type, std::string_view json) {
  const absl::StatusOr<Json> value = NormalizeValue(type, Json::parse(json), "/value");
  return value.ok() ? value->dump() : std::string(value.status().message());
}

TEST(NormalizeValue, GivesEachTypeItsOneForm) {
  EXPECT_EQ(Normalized("string", R"("bytes:\\x61")"), R"("a")");
  EXPECT_EQ(Normalized("list", R"(["b", "bytes:a"])"), R"(["b","a"])");
  EXPECT_EQ(Normalized("set", R"(["b", "a"])"), R"(["a","b"])");
  EXPECT_EQ(Normalized("hash", R"({"g": "2", "bytes:f": "1"})"), R"({"f":"1","g":"2"})");
  EXPECT_EQ(Normalized("zset", R"([["m", "1.5"], ["n", "inf"]])"), R"([["m","1.5"],["n","inf"]])");
  EXPECT_EQ(Normalized("stream", R"({"entries": [{"fields": ["f", "v"], "id": "1-0"}]})"),
            R"({"entries":[{"id":"1-0","fields":["f","v"]}]})");
}

TEST(NormalizeValue, RefusesWhatIsNotOfTheType) {
  EXPECT_EQ(Normalized("string", "1"), "/value: expected a string, got 1");
  EXPECT_TRUE(Normalized("string", R"("bytes:\\q")").starts_with("/value: \"bytes:\\q\""));
  EXPECT_EQ(Normalized("list", R"("a")"), "/value: expected an array of strings, got \"a\"");
  EXPECT_EQ(Normalized("list", R"(["a", 1])"), "/value/1: expected a string, got 1");
  EXPECT_EQ(Normalized("set", R"([1])"), "/value/0: expected a string, got 1");
  EXPECT_EQ(Normalized("set", R"(["a", "a"])"), "/value: expected each member once, got \"a\"");
  EXPECT_EQ(Normalized("hash", "[]"), "/value: expected an object of strings, got []");
  EXPECT_EQ(Normalized("hash", R"({"f": 1})"), "/value/f: expected a string, got 1");
  EXPECT_TRUE(Normalized("hash", R"({"bytes:\\q": "1"})").starts_with("/value/bytes:\\q: "));
  EXPECT_EQ(Normalized("zset", "{}"), "/value: expected an array of [member, score] pairs, got {}");
  EXPECT_EQ(Normalized("zset", R"([["m"]])"),
            R"(/value/0: expected a pair such as ["member", "1.5"], got ["m"])");
  EXPECT_EQ(Normalized("zset", R"([["m", "one"]])"),
            R"(/value/0: expected a pair such as ["member", "1.5"], got ["m","one"])");
  EXPECT_EQ(Normalized("zset", "[1]"), "/value/0: expected an array of strings, got 1");
}

TEST(NormalizeValue, RefusesWrongStreams) {
  EXPECT_EQ(Normalized("stream", "[]"), "/value: expected an object, got []");
  EXPECT_EQ(Normalized("stream", R"({"entries": 1})"),
            "/value/entries: expected an array of entries, got 1");
  EXPECT_EQ(Normalized("stream", R"({"entries": [{"id": "1-0"}]})"),
            "/value/entries/0/fields: is missing");
  EXPECT_EQ(Normalized("stream", R"({"entries": [], "groups": []})"),
            "/value/groups: unknown; known here: entries");
}

TEST(NormalizeValue, RefusesAnUnknownType) {
  EXPECT_EQ(Normalized("none", "null"), "/value: no value is known for type \"none\"");
}

TEST(KeyspaceToJson, WritesKeysInOrderAndTtlsWhereTheyAre) {
  Keyspace keyspace;
  keyspace["\xff"] = KeyspaceEntry{"string", "v", 70000};
  keyspace["k"] = KeyspaceEntry{"list", Json({"a"}), std::nullopt};
  EXPECT_EQ(KeyspaceToJson(keyspace).dump(),
            R"({"k":{"type":"list","value":["a"]},)"
            R"("bytes:\\xff":{"type":"string","value":"v","ttl_ms":70000}})");
  EXPECT_EQ(KeyspaceToJson(Keyspace()).dump(), "{}");
}

}  // namespace
}  // namespace redouble::sim
