#include "redouble/sim/scenario/keyspace.h"

#include <string>
#include <string_view>

#include "gtest/gtest.h"
#include "redouble/backends/memory/engine/engine.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/base/time/virtual_clock.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::sim {
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

using store::Reply;

// Replies to each command from a script, so that every type and every failure can be tested.
class ScriptedStore final : public store::Store {
 public:
  void Submit(store::Request& request) override {
    if (failing_at-- == 0) return request.Complete(store::NotSentError("gone"));
    if (request.kind() == store::Request::Kind::kCommand) {
      return request.Complete(Answer(request.commands().front()));
    }
    std::vector<Reply> replies;
    for (const store::Command& command : request.commands()) replies.push_back(Answer(command));
    request.Complete(Reply::Array(std::move(replies)));
  }

  std::map<std::string, Reply> replies;  // By DebugString; other commands get an error.
  int failing_at = -1;                   // The index of the request that fails.

 private:
  Reply Answer(const store::Command& command) {
    if (command.id() == store::CommandId::kScan) {
      return Reply::Array({Reply::Bulk("0"), Reply::Array({Reply::Bulk("k")})});
    }
    const auto found = replies.find(command.DebugString());
    return found == replies.end() ? Reply::Error("ERR unscripted " + command.DebugString())
                                  : found->second;
  }
};

class DumpTest : public testing::Test {
 protected:
  // Returns the dump of a database with one key k of that type, whose value is read with `command`.
  std::string Dump(std::string_view type, const std::string& command, Reply value,
                   int64_t pttl = -1) {
    store_.replies = {{R"(TYPE "k")", Reply::Status(type)},
                      {R"(PTTL "k")", Reply::Integer(pttl)},
                      {command, std::move(value)}};
    return Dump();
  }
  std::string Dump() {
    const absl::StatusOr<Keyspace> keyspace = base::Run(DumpKeyspace(store_));
    return keyspace.ok() ? KeyspaceToJson(*keyspace).dump()
                         : std::string(keyspace.status().message());
  }

  static Reply Texts(std::vector<std::string> texts) {
    std::vector<Reply> replies;
    for (std::string& text : texts) replies.push_back(Reply::Bulk(std::move(text)));
    return Reply::Array(std::move(replies));
  }

  ScriptedStore store_;
};

TEST_F(DumpTest, ReadsEveryType) {
  EXPECT_EQ(Dump("string", R"(GET "k")", Reply::Bulk("\xff"), 5),
            R"({"k":{"type":"string","value":"bytes:\\xff","ttl_ms":5}})");
  EXPECT_EQ(Dump("list", R"(LRANGE "k" "0" "-1")", Texts({"b", "a"})),
            R"({"k":{"type":"list","value":["b","a"]}})");
  EXPECT_EQ(Dump("set", R"(SMEMBERS "k")", Texts({"b", "a"})),
            R"({"k":{"type":"set","value":["a","b"]}})");
  EXPECT_EQ(Dump("hash", R"(HGETALL "k")", Texts({"g", "2", "f", "1"})),
            R"({"k":{"type":"hash","value":{"f":"1","g":"2"}}})");
  EXPECT_EQ(Dump("zset", R"(ZRANGE "k" "0" "-1" "WITHSCORES")", Texts({"m", "1.5"})),
            R"({"k":{"type":"zset","value":[["m","1.5"]]}})");
  EXPECT_EQ(Dump("stream", R"(XRANGE "k" "-" "+")",
                 Reply::Array({Reply::Array({Reply::Bulk("1-0"), Texts({"f", "v"})})})),
            R"({"k":{"type":"stream","value":{"entries":[{"id":"1-0","fields":["f","v"]}]}}})");
}

TEST_F(DumpTest, NamesATypeThatItCannotRead) {
  EXPECT_EQ(Dump("rejson", "", Reply::Nil()), R"({"k":{"type":"rejson","value":null}})");
}

TEST_F(DumpTest, LeavesOutKeysThatExpireMeanwhile) {
  EXPECT_EQ(Dump("none", "", Reply::Nil(), -2), "{}");
  EXPECT_EQ(Dump("string", R"(GET "k")", Reply::Nil(), 0), "{}");
}

TEST_F(DumpTest, PassesOnWhatGoesWrong) {
  EXPECT_EQ(Dump("list", R"(LRANGE "k" "0" "-1")", Reply::Error("ERR no")), "ERR no");
  EXPECT_EQ(Dump("list", "", Reply::Nil()), R"(ERR unscripted LRANGE "k" "0" "-1")");
  for (const std::string_view type : {"string", "set", "hash", "zset", "stream"}) {
    EXPECT_TRUE(Dump(type, "", Reply::Nil()).starts_with("ERR unscripted")) << type;
  }
  store_.replies = {{R"(TYPE "k")", Reply::Status("string")}};
  EXPECT_EQ(Dump(), R"(ERR unscripted PTTL "k")");
  store_.replies.clear();
  EXPECT_EQ(Dump(), R"(ERR unscripted TYPE "k")");
  for (const int request : {0, 1, 2}) {
    store_.failing_at = request;
    EXPECT_EQ(Dump("string", R"(GET "k")", Reply::Bulk("v")), "gone");
  }
}

TEST_F(DumpTest, RefusesStreamEntriesOfAnotherShape) {
  const std::string xrange = R"(XRANGE "k" "-" "+")";
  EXPECT_EQ(Dump("stream", xrange, Reply::Array({Texts({"1-0"})})), "a stream entry has two parts");
  EXPECT_FALSE(Dump("stream", xrange, Texts({"1-0"})).starts_with("{"));
  EXPECT_FALSE(Dump("stream", xrange, Reply::Array({Texts({"1-0", "f"})})).starts_with("{"));
  EXPECT_FALSE(Dump("stream", xrange, Reply::Array({Reply::Array({Reply::Integer(1), Texts({})})}))
                   .starts_with("{"));
}

TEST(DumpKeyspace, ReadsTheEngine) {
  base::VirtualClock clock;
  memory::Engine engine(clock);
  const std::unique_ptr<memory::Session> session = engine.Connect();
  for (const std::string_view key : {"b", "a"}) {
    store::Command set = store::Command::Named("SET");
    set.Add(key).Add("v").Add("PX").Add("1500");
    const auto send = [&]() -> base::Task<absl::StatusOr<Reply>> {
      co_return co_await session->Execute(set);
    };
    ASSERT_EQ(base::Run(send()).value(), Reply::Ok());
  }
  clock.Advance(absl::Milliseconds(500));
  EXPECT_EQ(KeyspaceToJson(base::Run(DumpKeyspace(*session)).value()).dump(),
            R"({"a":{"type":"string","value":"v","ttl_ms":1000},)"
            R"("b":{"type":"string","value":"v","ttl_ms":1000}})");
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
