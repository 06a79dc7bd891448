// Goal: keys pass through every kind of file without a change.
#include <filesystem>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "redouble/sim/cli/program_for_test.h"
#include "redouble/sim/cli/support/subcommand.h"
#include "redouble/sim/json/json.h"
#include "redouble/sim/json/strict_json.h"

namespace redouble::inline v0_1::sim {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class ConvertCommandTest : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    Write("x.json", R"json({"name": "a title", "description": "d", "system": "redis",
        "start": "2026-05-09T14:03:02Z", "steps": [
          {"kind": "command", "command": ["SET", "session:1", "bytes:\\x00\\xff", "EX", "100"]},
          {"kind": "command", "command": ["RPUSH", "list", "a", "b"]},
          {"kind": "command", "command": ["SADD", "set", "1", "2"]},
          {"kind": "command", "command": ["HSET", "hash", "f", "v"]},
          {"kind": "command", "command": ["ZADD", "zset", "1.5", "a", "inf", "b"]},
          {"kind": "command", "command": ["XADD", "stream", "1-1", "f", "v"]},
          {"kind": "command", "command": ["XADD", "stream", "2-1", "f", "v"]},
          {"kind": "command", "command": ["XDEL", "stream", "2-1"]},
          {"kind": "command", "command": ["XGROUP", "CREATE", "stream", "g", "0"]},
          {"kind": "command", "command":
            ["XREADGROUP", "GROUP", "g", "ann", "STREAMS", "stream", ">"]},
          {"kind": "command", "command": ["XGROUP", "CREATECONSUMER", "stream", "g", "bob"]},
          {"kind": "command", "command": ["XGROUP", "CREATE", "empty", "g", "$", "MKSTREAM"]},
          {"kind": "command", "command": ["FUNCTION", "LOAD",
            "#!lua name=one\nredis.register_function('f', function() return 1 end)"]},
          {"kind": "command", "command": ["SELECT", "2"]},
          {"kind": "command", "command": ["SET", "other", "1"]}]})json");
  }

  Json Content(const std::string& name) const {
    std::ifstream file(folder_ / name);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    const absl::StatusOr<Json> json = ParseStrictJson(text);
    EXPECT_TRUE(json.ok()) << json.status();
    return json.ok() ? *json : Json();
  }
  void Convert(const std::string& from, const std::string& to) {
    EXPECT_EQ(Run({"convert", from, to}), kExitPassed) << err();
    EXPECT_THAT(err(), IsEmpty());
  }
};

TEST_F(ConvertCommandTest, CarriesKeysThroughEveryKindOfFile) {
  Convert("x.json", "keys.json");
  const Json keys = Content("keys.json");
  EXPECT_EQ(keys["keys"].size(), 8u);
  EXPECT_EQ(keys["functions"].size(), 1u);
  for (const std::string kind : {"a.rdb", "log/", "a.aof", "a.scenario.json", "b.json"}) {
    Convert("keys.json", kind);
    Convert(kind, "again.json");
    EXPECT_EQ(Content("again.json"), keys) << kind;
  }
  EXPECT_TRUE(std::filesystem::exists(folder_ / "log/appendonly.aof.1.base.rdb"));
}

TEST_F(ConvertCommandTest, KeepsDeadlines) {
  Convert("x.json", "a.rdb");
  Convert("x.json", "keys.json");
  const Json keys = Content("keys.json");
  EXPECT_EQ(keys["keys"][0]["key"], "session:1");
  EXPECT_EQ(keys["keys"][0]["value"], "bytes:\\x00\\xff");
  EXPECT_EQ(keys["keys"][0]["expires_at_ms"], 1778335482000);
}

// Of Redis 7.4 and later.
TEST_F(ConvertCommandTest, KeepsTheDeadlinesOfHashFields) {
  Write("fields.json", R"json({"name": "a title", "description": "d", "system": "redis",
      "compatibility": "redis-8.0", "start": "2026-05-09T14:03:02Z", "steps": [
        {"kind": "command", "command": ["HSET", "hash", "a", "1", "b", "2"]},
        {"kind": "command", "command": ["HPEXPIRE", "hash", "5000", "FIELDS", "1", "a"]}]})json");
  Convert("fields.json", "keys.json");
  const Json keys = Content("keys.json");
  EXPECT_EQ(keys["keys"][0]["fields_expire_at_ms"],
            Json::array({Json::array({"a", 1778335387000})}));
  for (const std::string kind : {"a.rdb", "log/", "a.aof", "a.scenario.json", "b.json"}) {
    for (const auto& [from, to] : {std::pair<std::string, std::string>{"keys.json", kind},
                                   std::pair<std::string, std::string>{kind, "again.json"}}) {
      EXPECT_EQ(Run({"convert", from, to, "--compatibility", "redis-8.0"}), kExitPassed) << err();
    }
    EXPECT_EQ(Content("again.json"), keys) << kind;
  }
  EXPECT_EQ(Run({"inspect", "a.rdb", "--compatibility", "redis-8.0"}), kExitPassed) << err();
  EXPECT_EQ(Run({"convert", "a.rdb", "old.rdb"}), kExitFailed);
  EXPECT_THAT(err(), HasSubstr("the key \"hash\" in database 0 has the type 25, hash"));
  EXPECT_THAT(err(), HasSubstr("which redis-7.0 does not have"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "old.rdb"));
  EXPECT_EQ(Run({"convert", "keys.json", "old.rdb"}), kExitFailed);
  EXPECT_THAT(err(), HasSubstr("keys[0].fields_expire_at_ms: ERR unknown command 'HPEXPIREAT'"));
  Write("bad.json", R"({"keys": [{"db": 0, "key": "a", "type": "hash", "value": [["f", "v"]],
                                  "fields_expire_at_ms": [["f", "soon"]]}]})");
  EXPECT_EQ(Run({"convert", "bad.json", "old.rdb", "--compatibility", "redis-8.0"}), kExitFailed);
  EXPECT_THAT(err(),
              HasSubstr("keys[0].fields_expire_at_ms: expected pairs of a field and a time"));
}

TEST_F(ConvertCommandTest, KeepsAPartOfTheKeys) {
  const auto names_of = [&](const std::string& from, std::vector<std::string> options) {
    std::vector<std::string> words = {"convert", from, "part.json"};
    words.insert(words.end(), options.begin(), options.end());
    EXPECT_EQ(Run(words), kExitPassed) << err();
    const Json content = Content("part.json");
    std::string names;
    for (const Json& key : content["keys"]) names += key["key"].get<std::string>() + " ";
    return names;
  };
  Write("rules.json", R"json({"system": "shop", "families": [
      {"id": "shop.session", "pattern": "session:{id}", "type": "string"}]})json");
  Convert("x.json", "a.rdb");
  Convert("x.json", "log/");
  Convert("x.json", "a.aof");
  for (const std::string from : {"a.rdb", "log", "a.aof", "x.json"}) {
    EXPECT_EQ(names_of(from, {"--pattern", "s*:1", "--pattern", "oth?r"}), "session:1 other ");
    EXPECT_EQ(names_of(from, {"--rules", "rules.json", "--family", "shop.session"}), "session:1 ");
    EXPECT_EQ(names_of(from, {"--rules", "rules.json", "--family", "shop", "--pattern", "set"}),
              "session:1 set ");
  }
  EXPECT_EQ(Run({"convert", "a.rdb", "part.json", "--family", "shop.sessions"}), kExitBadUsage);
  EXPECT_THAT(err(), HasSubstr("--family shop.sessions: no such family or system"));
  EXPECT_EQ(Run({"inspect", "a.rdb", "--pattern", "s*"}), kExitPassed) << err();
  EXPECT_THAT(out(), HasSubstr("3 keys, "));
}

TEST_F(ConvertCommandTest, SaysWhatItCannotRead) {
  EXPECT_EQ(Run({"convert", "x.json", "a.txt"}), kExitBadUsage);
  EXPECT_THAT(err(), HasSubstr("a.txt: expected a name that ends with .rdb"));
  EXPECT_EQ(Run({"convert", "none.rdb", "a.json"}), kExitFailed);
  EXPECT_THAT(err(), HasSubstr("none.rdb"));
  const std::pair<std::string, std::string> cases[] = {
      {"no json", "neither an RDB file nor a log"},
      {"[]", "the file: expected an object"},
      {R"({"keys": [{"key": "a"}]})", "keys[0].db: expected a value"},
      {R"({"keys": [{"db": 99, "key": "a", "type": "string", "value": "1"}]})",
       "keys[0]: ERR DB index is out of range"},
      {R"({"keys": [{"db": 0, "key": "a", "type": "thing", "value": "1"}]})",
       "keys[0].value: expected a value of the type string"},
      {R"({"keys": [{"db": 0, "key": "a", "type": "hash", "value": ["1"]}]})",
       "keys[0].value: expected a pair"},
  };
  for (const auto& [text, reason] : cases) {
    Write("bad.json", text);
    EXPECT_EQ(Run({"convert", "bad.json", "a.rdb"}), kExitFailed);
    EXPECT_THAT(err(), HasSubstr(reason)) << text;
  }
}

TEST_F(ConvertCommandTest, IsInspected) {
  Convert("x.json", "a.rdb");
  Convert("a.rdb", "log/");
  for (const std::string file : {"a.rdb", "log"}) {
    EXPECT_EQ(Run({"inspect", file}), kExitPassed) << err();
    EXPECT_THAT(out(), HasSubstr("session:*  string  1"));
    EXPECT_THAT(out(), HasSubstr("8 keys, "));
    EXPECT_EQ(Run({"inspect", file, "--format", "page"}), kExitPassed);
    EXPECT_THAT(out(), HasSubstr("<td>session:*</td>"));
  }
  EXPECT_EQ(Run({"inspect", "x.json", "--format", "page"}), kExitBadUsage);
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
