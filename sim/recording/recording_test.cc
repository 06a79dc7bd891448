#include "redouble/sim/recording/recording.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "redouble/sim/explore/explore.h"
#include "redouble/sim/scenario/memory_backend.h"
#include "redouble/sim/scenario/runner.h"
#include "redouble/sim/world_file/world_experiment.h"
#include "redouble/sim/world_file/world_for_test.h"

namespace redouble::inline v0_1::sim {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

// A world file with a lost update of the counter, as `redouble explore` writes it.
WorldFile LostUpdate() {
  WorldFile world = ParseCounter(CounterWorld()).value();
  const WorldExperiment experiment(world, {});
  const Exploration found = Explore(experiment.experiment(), experiment.Options());
  world.violation = Record(*found.violation, {});
  return world;
}

Scenario Parse(const Json& steps) {
  const Json json{{"name", "a scenario"},
                  {"description", "d"},
                  {"system", "counter"},
                  {"start", "2026-05-09T14:03:02Z"},
                  {"seed", 1},
                  {"steps", steps}};
  return ParseScenario(json.dump(), "s.json", CounterSystem()).value();
}

Json Command(const Json& words) { return Json{{"kind", "command"}, {"command", words}}; }

Json Text(std::string_view value) { return Json{{"type", "string"}, {"value", value}}; }

TEST(RecordWorld, HoldsTheTraceOfTheViolationAndHowItEnds) {
  const WorldFile world = LostUpdate();
  const Recording recording = RecordWorld(world);
  EXPECT_EQ(recording.title, "two add");
  EXPECT_THAT(recording.actors, ElementsAre("a", "b"));
  EXPECT_EQ(recording.trace_hash, world.violation->trace_hash);
  EXPECT_EQ(recording.failure, "both count: GET gives \"6\"");
  ASSERT_EQ(recording.events.size(), 4u);
  EXPECT_EQ(recording.failing_event, 3u);
}

TEST(RecordWorld, KnowsTheKeysBeforeAndAfterEachEvent) {
  const Recording recording = RecordWorld(LostUpdate());
  ASSERT_EQ(recording.events.size(), 4u);
  EXPECT_EQ(recording.moments.front().events, 0u);
  EXPECT_EQ(recording.moments.front().keyspace, (Json{{"n", Text("5")}}));
  EXPECT_THAT(recording.events[0], HasSubstr("GET"));
  EXPECT_EQ(recording.KeyspaceAfter(0), (Json{{"n", Text("5")}}));
  EXPECT_THAT(recording.events[3], HasSubstr("SET"));
  EXPECT_EQ(recording.KeyspaceAfter(3), (Json{{"n", Text("6")}}));
}

TEST(RecordWorld, HasAMomentForAClockThatDeletesAKey) {
  Json json = CounterWorld();
  json["actors"]["a"] = Json::array(
      {Command({"SET", "n", "1", "PX", "1000"}), Json{{"kind", "advance"}, {"by", "1001ms"}}});
  json["actors"].erase("b");
  WorldFile world = ParseCounter(json).value();
  world.violation = RecordedViolation{1, {}, false, false, "", ""};
  const Recording recording = RecordWorld(world);
  EXPECT_EQ(recording.moments.back().events, recording.events.size());
  EXPECT_EQ(recording.moments.back().keyspace, Json::object());
}

TEST(RecordWorld, HasNoFailureWhenNothingFails) {
  WorldFile world = LostUpdate();
  world.violation->hardened = true;
  const Recording recording = RecordWorld(world);
  EXPECT_EQ(recording.failure, "");
  EXPECT_EQ(recording.failing_event, std::nullopt);
}

TEST(RecordScenario, ReadsBehindEachCommandOfACall) {
  const Recording recording = RecordScenario(
      Parse({Command({"SET", "n", "4"}),
             Json{{"kind", "call"}, {"operation", "add"}, {"arguments", {{"key", "n"}}}}}));
  ASSERT_EQ(recording.events.size(), 3u);
  EXPECT_THAT(recording.actors, ElementsAre("main"));
  EXPECT_EQ(recording.moments.front().keyspace, Json::object());
  EXPECT_EQ(recording.KeyspaceAfter(1), (Json{{"n", Text("4")}}));
  EXPECT_EQ(recording.KeyspaceAfter(2), (Json{{"n", Text("5")}}));
  EXPECT_EQ(recording.failure, "");
}

TEST(RecordScenario, IsTheRunThatItWouldBeWithoutIt) {
  const Scenario scenario =
      Parse({Command({"SET", "n", "4", "PX", "5000"}), Json{{"kind", "advance"}, {"by", "1s"}},
             Command({"RANDOMKEY"}), Command({"OBJECT", "FREQ", "n"})});
  MemoryBackend backend;
  EXPECT_EQ(RecordScenario(scenario).trace_hash, RunScenario(scenario, backend).trace_hash);
}

TEST(RecordScenario, KnowsTheKeysAfterAFault) {
  const Recording recording =
      RecordScenario(Parse({Command({"SET", "n", "4"}),
                            Json{{"kind", "fault"}, {"fault", "restart"}}, Command({"GET", "n"})}));
  ASSERT_EQ(recording.events.size(), 3u);
  EXPECT_EQ(recording.KeyspaceAfter(0), (Json{{"n", Text("4")}}));
  EXPECT_EQ(recording.KeyspaceAfter(1), Json::object());
}

TEST(RecordScenario, SaysWhatFailedAfterWhichEvent) {
  Json wrong = Command({"INCR", "n"});
  wrong["expect"] = 2;
  const Recording recording =
      RecordScenario(Parse({Command({"SET", "m", "1"}), wrong, Command({"GET", "n"})}));
  EXPECT_THAT(recording.failure, StartsWith("s.json: step 1 (command): /steps/1/expect: "));
  EXPECT_EQ(recording.failing_event, 1u);
}

TEST(RecordScenario, HasNoFailingEventWhenItFailsBeforeTheFirst) {
  const Recording recording = RecordScenario(
      Parse(Json::array({Json{{"kind", "expect_keyspace"}, {"keys", {{"n", Text("1")}}}}})));
  EXPECT_NE(recording.failure, "");
  EXPECT_EQ(recording.failing_event, std::nullopt);
}

// Stops after the first event whose line contains the text.
StopAfter At(std::string_view text) {
  return [text](std::string_view line) { return line.find(text) != std::string_view::npos; };
}

TEST(RecordWorld, StopsTheRunBehindAnEvent) {
  const Recording recording = RecordWorld(LostUpdate(), At("\"index\":1"));
  EXPECT_EQ(recording.events.size(), 2u);
  EXPECT_EQ(recording.failure, "");
  EXPECT_EQ(recording.failing_event, std::nullopt);
  EXPECT_EQ(recording.moments.back().events, 2u);
  EXPECT_EQ(recording.moments.back().keyspace, (Json{{"n", Text("5")}}));
  EXPECT_NE(recording.trace_hash, RecordWorld(LostUpdate()).trace_hash);
}

TEST(RecordWorld, SeesTheFailureOfTheEventThatItStopsBehind) {
  const Recording recording = RecordWorld(LostUpdate(), At("\"index\":3"));
  EXPECT_EQ(recording.failing_event, 3u);
}

TEST(RecordScenario, StopsInTheMidstOfACall) {
  const Scenario scenario =
      Parse({Json{{"kind", "call"}, {"operation", "add"}, {"arguments", {{"key", "n"}}}},
             Command({"SET", "m", "1"})});
  const Recording whole = RecordScenario(scenario);
  const Recording recording = RecordScenario(scenario, At("\"index\":0"));
  ASSERT_GT(whole.events.size(), 1u);
  EXPECT_EQ(recording.events.size(), 1u);
  EXPECT_EQ(recording.failure, "");
  EXPECT_FALSE(recording.KeyspaceAfter(0).contains("m"));
}

TEST(FindChanges, NamesWhatCameWentAndChanged) {
  const Moment before{0, 0, {{"b", Text("1")}, {"c", Text("1")}, {"d", Text("1")}}};
  const Moment after{1, 0, {{"a", Text("1")}, {"c", Text("2")}, {"d", Text("1")}}};
  const std::vector<KeyChange> changes = FindChanges(before, after);
  ASSERT_EQ(changes.size(), 3u);
  EXPECT_EQ(changes[0].key, "a");
  EXPECT_EQ(changes[0].before, nullptr);
  EXPECT_EQ(changes[1].key, "b");
  EXPECT_EQ(changes[1].after, nullptr);
  EXPECT_EQ(changes[2].key, "c");
  EXPECT_EQ(changes[2].before, Text("1"));
  EXPECT_EQ(changes[2].after, Text("2"));
}

TEST(FindChanges, TakesNoTtlThatRunsDownForAChange) {
  const auto with_ttl = [](int64_t us, Json ttl_ms) {
    Json entry = Text("1");
    if (!ttl_ms.is_null()) entry["ttl_ms"] = ttl_ms;
    return Moment{0, us, Json{{"k", entry}}};
  };
  EXPECT_TRUE(FindChanges(with_ttl(0, 5000), with_ttl(2'000'999, 3000)).empty());
  EXPECT_EQ(FindChanges(with_ttl(0, 5000), with_ttl(2'000'000, 5000)).size(), 1u);
  EXPECT_EQ(FindChanges(with_ttl(0, nullptr), with_ttl(0, 5000)).size(), 1u);
  EXPECT_EQ(FindChanges(with_ttl(0, 5000), with_ttl(0, nullptr)).size(), 1u);
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
