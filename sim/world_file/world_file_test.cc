#include "redouble/sim/world_file/world_file.h"

#include <string>
#include <variant>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/sim/json/strict_json.h"
#include "redouble/sim/world_file/world_for_test.h"

namespace redouble::inline v0_1::sim {
namespace {

using base::IsOk;
using testing::HasSubstr;

TEST(WorldFile, IsReadWhole) {
  Json json = CounterWorld();
  json["faults"] = Json::array({Json{{"fault", "crash"},
                                     {"actor", "a"},
                                     {"command", "SET"},
                                     {"key", "n*"},
                                     {"from", "2026-05-09T14:03:02Z"},
                                     {"until", "2026-05-09T14:04:02Z"},
                                     {"probability", 0.25},
                                     {"limit", 2},
                                     {"for", "1m30s"}}});
  const absl::StatusOr<WorldFile> world = ParseCounter(json);
  ASSERT_THAT(world, IsOk());
  EXPECT_EQ(world->file, "w.world.json");
  EXPECT_EQ(world->name, "two add");
  EXPECT_EQ(world->source, "the textbook");
  EXPECT_EQ(world->setup.size(), 1u);
  ASSERT_EQ(world->actors.size(), 2u);
  EXPECT_EQ(world->actors[1].name, "b");
  EXPECT_EQ(world->invariants[0]->name(), "both count");
  ASSERT_EQ(world->faults.size(), 1u);
  const FaultRule& rule = world->faults[0];
  EXPECT_EQ(rule.fault, Fault::kCrash);
  EXPECT_EQ(rule.actor, "a");
  EXPECT_EQ(rule.command, "SET");
  EXPECT_EQ(rule.key, "n*");
  EXPECT_EQ(rule.until - rule.from, absl::Minutes(1));
  EXPECT_EQ(rule.probability, 0.25);
  EXPECT_EQ(rule.limit, 2);
  EXPECT_EQ(rule.duration, absl::Seconds(90));
  EXPECT_FALSE(world->violation.has_value());
}

TEST(WorldFile, IsDistinguishedFromAScenarioByItsActors) {
  EXPECT_TRUE(IsWorldFile(CounterWorld().dump()));
  EXPECT_FALSE(IsWorldFile(R"({"steps": []})"));
  EXPECT_FALSE(IsWorldFile("[]"));
  EXPECT_FALSE(IsWorldFile("{"));
}

TEST(WorldFile, KeepsAViolation) {
  ASSERT_OK_AND_ASSIGN(const WorldFile world, ParseCounter(CounterWorld()));
  const RecordedViolation violation{.seed = 7,
                                    .decisions = {0, 1},
                                    .hardened = false,
                                    .swarm = true,
                                    .broke = "both count: it is 6",
                                    .trace_hash = "abc"};
  const absl::StatusOr<WorldFile> again =
      ParseWorldFile(WithViolation(world, violation), "w.world.json", CounterSystem());
  ASSERT_THAT(again, IsOk());
  EXPECT_EQ(again->violation->seed, 7u);
  EXPECT_EQ(again->violation->decisions, violation.decisions);
  EXPECT_TRUE(again->violation->swarm);
  EXPECT_EQ(again->violation->broke, violation.broke);
  EXPECT_EQ(again->violation->trace_hash, "abc");
}

// A change of the valid file, and the error that it must cause.
struct Mistake {
  const char* place;  // A JSON pointer.
  const char* value;
  const char* message;
};

constexpr Mistake kMistakes[] = {
    {"/name", "7", "/name: expected a string, got 7"},
    {"/system", R"("moon")", R"(/system: unknown system "moon"; known: redis, counter)"},
    {"/system", R"("conter")", R"(did you mean "counter"?)"},
    {"/actors", "{}", "/actors: expected one actor at least"},
    {"/actors/a", "[]", "/actors/a: expected one step at least"},
    {"/actors/a", "3", "/actors/a: expected an array of steps"},
    {"/actors/a/0/operation", R"("fly")", "unknown operation"},
    {"/actors/a/0/expect", "1", "a world says by invariants what must come of a call"},
    {"/actors/a/0", R"({"kind": "command", "command": ["GET", "n"], "expect": "1"})",
     "a world says by invariants what must come of a command"},
    {"/actors/a/0", R"({"kind": "fault", "fault": "flush"})", "has no place in an actor"},
    {"/setup/0", R"({"kind": "fault", "fault": "flush"})", "has no place in a set-up"},
    {"/invariants", "[]", "/invariants: expected one invariant at least"},
    {"/probes", "7", "/probes: expected an array"},
    {"/probes", R"([{"kind": "luck"}])", "/probes/0/kind: unknown kind"},
    {"/faults", "7", "/faults: expected an array"},
    {"/faults", R"([{"fault": "earthquake"}])", R"(/faults/0/fault: unknown fault "earthquake")"},
    {"/faults", R"([{"fault": "crash", "actor": "c"}])", "/faults/0/actor: there is no such actor"},
    {"/faults", R"([{"fault": "crash", "for": "soon"}])", "/faults/0/for: expected a duration"},
    {"/faults", R"([{"fault": "delay"}])", "/faults/0/for: a delay lasts for some time"},
    {"/faults", R"([{"fault": "crash", "probability": 0}])", "/faults/0/probability: expected"},
    {"/faults", R"([{"fault": "crash", "probability": 1.5}])", "/faults/0/probability: expected"},
    {"/faults", R"([{"fault": "crash", "nth": -1}])", "/faults/0/nth: matches are counted"},
    {"/faults", R"([{"fault": "crash", "limit": 0}])", "/faults/0/limit: expected 1"},
    {"/faults", R"([{"fault": "evict", "count": 0}])", "/faults/0/count: expected 1"},
    {"/faults", R"([{"fault": "crash", "mood": 1}])", "mood"},
    {"/faults", R"([{"fault": "give_up"}])", R"(/faults/0/fault: give_up needs "events": "split")"},
    {"/faults", R"([{"fault": "crush"}])", R"(did you mean "crash"?)"},
    {"/events", R"("splitt")", R"(/events: expected "atomic" or "split", got "splitt")"},
    {"/clock_moves", "-1", "/clock_moves: expected 0 to 1000"},
    {"/cluster", "3", "/cluster: expected"},
    {"/actors/a/0", R"({"kind": "move_slot", "key": "{k}", "from": "main", "to": "b"})",
     R"(/actors/a/0: only a world with "cluster": true has slots to move)"},
    {"/request_timeout", R"("0s")", "/request_timeout: expected a duration above 0"},
    {"/daemons", R"(["aa"])", R"(/daemons: there is no actor "aa"; did you mean "a"?)"},
    {"/invariants/0", R"({"kind": "monotne", "value": "n"})", R"(did you mean "monotone"?)"},
    {"/invariants/0", R"({"kind": "monotone", "value": "n"})",
     R"(/invariants/0/value: no step binds "n")"},
    {"/invariants/0", R"({"kind": "bound", "actor": "c", "value": "n", "expect": 1})",
     "/invariants/0/actor: there is no such actor"},
    {"/invariants/0", R"({"kind": "linearizable", "model": "cuonter"})",
     R"(/invariants/0/model: unknown model "cuonter"; did you mean "counter"?)"},
    {"/invariants/0", R"({"kind": "eventually", "command": ["GET", "n"], "expect": "7"})",
     "/invariants/0/within: "},
    {"/invariants/0", R"({"kind": "exactly_once", "value": "n", "elements": []})",
     "/invariants/0/elements: expected an array of values"},
    {"/servers", "[]", "/servers: expected an object by name"},
    {"/servers", R"({"main": {}})", "/servers/main: the name of a server is new, and not empty"},
    {"/servers", R"({"": {}})", "/servers/: the name of a server is new, and not empty"},
    {"/servers", R"({"b": 1})", "/servers/b"},
    {"/servers", R"({"b": {"replica": "main"}})", "/servers/b/replica: unknown"},
    {"/servers", R"({"b": {"replica_of": "c"}})", R"(/servers/b/replica_of: expected "main")"},
    {"/servers", R"({"b": {"replica_of": "c"}, "c": {"replica_of": "main"}})",
     R"(/servers/b/replica_of: expected "main", or a server that is no replica)"},
    {"/setup/0/server", R"("mian")",
     R"(/setup/0/server: there is no server "mian"; did you mean "main"?)"},
    {"/actors/a/0/server", R"("b")", R"(/actors/a/0/server: there is no server "b")"},
    {"/actors/a/0/server", "1", "/actors/a/0/server: expected the name of a server"},
    {"/actors/a/0", R"({"kind": "advance", "by": "1s", "server": "main"})",
     "/actors/a/0/server: this kind sends nothing to a server"},
    {"/invariants/0/server", R"("b")", R"(/invariants/0/server: there is no server "b")"},
    {"/invariants/0", R"({"kind": "serializable", "server": "main"})", "server: unknown"},
    {"/faults", R"([{"fault": "promote", "server": "main"}])",
     "/faults/0/server: expected the name of a replica"},
    {"/hardened", "[]", "/hardened: expected an object by operation"},
    {"/hardened/fly", "{}", "/hardened/fly: the system has no such operation"},
    {"/hardened/add", "7", "/hardened/add: expected an object of arguments"},
    {"/hardened_actors", "{}", "/hardened_actors: expected one actor at least"},
    {"/hardened_actors", R"({"a": []})", "/hardened_actors/a: expected one step at least"},
    {"/hardened_actors", R"({"c": [{"kind": "advance", "by": "1s"}]})",
     "/hardened_actors/c: there is no such actor"},
    {"/violation", R"({"seed": 1, "decisions": [-1], "broke": "x", "trace_hash": "y"})",
     "/violation/decisions: expected numbers from 0 on"},
    {"/colour", "1", "colour"},
};

TEST(WorldFile, SaysWhatIsWrongAndWhere) {
  for (const Mistake& mistake : kMistakes) {
    Json json = CounterWorld();
    json[Json::json_pointer(mistake.place)] = ParseStrictJson(mistake.value).value();
    const absl::Status status = ParseCounter(json).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << mistake.place;
    EXPECT_TRUE(status.message().substr(0, 13) == "w.world.json:") << status;
    EXPECT_NE(status.message().find(mistake.message), std::string::npos)
        << status << "\n  expected: " << mistake.message;
  }
}

TEST(WorldFile, ListsEveryErrorOfAFile) {
  Json json = CounterWorld();
  json["name"] = 7;
  json["actors"]["a"] = Json::array();
  json["faults"] = Json::parse(R"([{"fault": "crash", "limit": 0}, {"fault": "earthquake"}])");
  json["invariants"] = Json::parse(R"([{"kind": "luck"}, {"kind": "fate"}])");
  json["colour"] = 1;
  const absl::Status status = ParseCounter(json).status();
  for (const char* message :
       {"w.world.json: /name: expected a string, got 7", "\nw.world.json: /actors/a: expected one",
        "\nw.world.json: /faults/0/limit: expected 1", "\nw.world.json: /faults/1/fault: unknown",
        "\nw.world.json: /invariants/0/kind: unknown",
        "\nw.world.json: /invariants/1/kind: ", "\nw.world.json: /colour: unknown"}) {
    EXPECT_NE(status.message().find(message), std::string::npos) << message << "\n" << status;
  }
}

TEST(WorldFile, RefusesWhatIsNoJson) {
  EXPECT_FALSE(ParseWorldFile("{", "w.world.json", CounterSystem()).ok());
}

TEST(WorldFile, MovesSlotsBetweenTheMastersOfACluster) {
  Json json = CounterWorld();
  json["cluster"] = true;
  json["servers"] = Json{{"other", Json::object()}, {"replica", {{"replica_of", "main"}}}};
  Json& step = json["actors"]["a"][0];
  step = Json{{"kind", "move_slot"}, {"key", "{k}"}, {"from", "main"}, {"to", "other"}};
  const absl::StatusOr<WorldFile> world = ParseCounter(json);
  ASSERT_THAT(world, IsOk());
  EXPECT_TRUE(world->cluster);
  EXPECT_EQ(std::get<MoveSlotStep>(world->actors[0].steps[0].action).to, "other");

  const auto error = [&] { return std::string(ParseCounter(json).status().message()); };
  step["to"] = "replica";
  EXPECT_THAT(error(), HasSubstr(R"(/actors/a/0/to: there is no master "replica")"));
  step["to"] = "othr";
  EXPECT_THAT(error(), HasSubstr(R"(did you mean "other"?)"));
  step["to"] = "main";
  EXPECT_THAT(error(), HasSubstr(R"(/actors/a/0/to: expected another master than "from")"));
  step["as"] = "moved";
  step["to"] = "other";
  EXPECT_THAT(error(), HasSubstr("/actors/a/0/as: this kind has no value that could be bound"));
  step = Json{{"kind", "listen"}, {"as", "news"}};
  EXPECT_THAT(error(), HasSubstr("no connection receives the pushes of all servers of a cluster"));
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
