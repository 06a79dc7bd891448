#include "redouble/sim/world_file/world_experiment.h"

#include <string>
#include <variant>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/sim/world_file/world_for_test.h"

namespace redouble::inline v0_1::sim {
namespace {

using base::StatusIs;
using testing::HasSubstr;
using testing::StartsWith;

Exploration ExploreCounter(const Json& json, WorldVariant variant, ExploreOptions options = {}) {
  const WorldFile world = ParseCounter(json).value();
  const WorldExperiment experiment(world, variant);
  return Explore(experiment.experiment(), experiment.Options(std::move(options)));
}

TEST(WorldExperiment, FindsTheRaceOfTheFile) {
  const Exploration found = ExploreCounter(CounterWorld(), {});
  ASSERT_TRUE(found.violation.has_value());
  EXPECT_EQ(found.violation->status, absl::FailedPreconditionError("both count: GET gives \"6\""));
}

TEST(WorldExperiment, FindsNoneWhenItIsHardened) {
  const Exploration found =
      ExploreCounter(CounterWorld(), {.hardened = true}, {.strategy = Strategy::kExhaustive});
  EXPECT_FALSE(found.violation.has_value());
  EXPECT_TRUE(found.complete);
}

TEST(WorldExperiment, TellsActorsApartInHardenedArguments) {
  Json json = CounterWorld();
  json["hardened"]["add"] = Json{{"key", "$actor"}};
  json["invariants"] = Json::array(
      {Json{{"kind", "equal"},
            {"commands", Json::array({Json::array({"GET", "a"}), Json::array({"GET", "b"})})}},
       Json{{"kind", "reply"}, {"command", {"GET", "a"}}, {"expect", "1"}}});
  EXPECT_FALSE(ExploreCounter(json, {.hardened = true}).violation.has_value());
}

TEST(WorldExperiment, KnowsWhatSerialRunsComeTo) {
  Json json = CounterWorld();
  json["invariants"] = Json::array({Json{{"kind", "serializable"}}});
  EXPECT_TRUE(ExploreCounter(json, {}).violation.has_value());
  const Exploration hardened =
      ExploreCounter(json, {.hardened = true}, {.strategy = Strategy::kExhaustive});
  EXPECT_FALSE(hardened.violation.has_value());
}

TEST(WorldExperiment, AsksSomeInvariantsAfterEveryStep) {
  Json json = CounterWorld();
  json["invariants"][0] = Json{{"kind", "reply"},
                               {"name", "never six"},
                               {"when", "always"},
                               {"command", {"GET", "n"}},
                               {"one_of", {"5", "7"}}};
  const Exploration found = ExploreCounter(json, {.hardened = true});
  ASSERT_TRUE(found.violation.has_value());
  EXPECT_EQ(BrokenInvariant(found.violation->status), "never six");
}

TEST(WorldExperiment, CountsTheProbesOfTheFile) {
  Json json = CounterWorld();
  json["probes"] = Json::array({Json{
      {"kind", "reply"}, {"name", "both are in"}, {"command", {"GET", "n"}}, {"expect", "7"}}});
  const Exploration found =
      ExploreCounter(json, {.hardened = true}, {.strategy = Strategy::kExhaustive});
  EXPECT_EQ(found.probes.at("both are in"), found.schedules);
}

TEST(WorldExperiment, SleepsAndSendsCommands) {
  Json json = CounterWorld();
  json["actors"] = Json{{"a",
                         {Json{{"kind", "command"}, {"command", {"SET", "k", "v", "EX", "10"}}},
                          Json{{"kind", "advance"}, {"by", "5s"}},
                          Json{{"kind", "advance"}, {"to", "2026-05-09T14:03:12.001Z"}},
                          Json{{"kind", "command"}, {"command", {"RENAME", "k", "late"}}}}}};
  json["invariants"] =
      Json::array({Json{{"kind", "reply"}, {"command", {"EXISTS", "late"}}, {"expect", 0}}});
  EXPECT_FALSE(ExploreCounter(json, {}, {.schedules = 1}).violation.has_value());
  json["actors"]["a"][2]["to"] = "2026-05-09T14:03:12Z";
  EXPECT_TRUE(ExploreCounter(json, {}, {.schedules = 1}).violation.has_value());
}

TEST(WorldExperiment, InjectsTheFaultsOfTheFile) {
  Json json = CounterWorld();
  json["actors"].erase("b");
  json["invariants"][0]["expect"] = "6";
  EXPECT_FALSE(ExploreCounter(json, {}).violation.has_value());
  json["faults"] =
      Json::array({Json{{"fault", "drop_request"}, {"command", "SET"}, {"probability", 0.1}}});
  for (const bool swarm : {false, true}) {
    const Exploration found = ExploreCounter(json, {.swarm = swarm});
    ASSERT_TRUE(found.violation.has_value());
    EXPECT_EQ(found.violation->decisions, std::vector<uint32_t>{1});
  }
}

TEST(WorldExperiment, ReportsASetUpThatFails) {
  Json json = CounterWorld();
  json["setup"] =
      Json::array({Json{{"kind", "command"}, {"command", {"RPUSH", "n", "x"}}},
                   Json{{"kind", "call"}, {"operation", "add"}, {"arguments", {{"key", "n"}}}}});
  const Exploration found = ExploreCounter(json, {}, {.schedules = 1});
  EXPECT_FALSE(found.violation.has_value());
  EXPECT_THAT(found.mistake, StatusIs(absl::StatusCode::kInvalidArgument, StartsWith("setup: ")));
}

TEST(WorldExperiment, ReportsACommandThatFails) {
  for (const char* place : {"/setup/0", "/actors/a/0"}) {
    Json json = CounterWorld();
    json[Json::json_pointer(place)] = Json{{"kind", "command"}, {"command", {"SETT", "n", "1"}}};
    const Exploration found = ExploreCounter(json, {});
    EXPECT_FALSE(found.violation.has_value()) << place;
    EXPECT_THAT(found.mistake,
                StatusIs(absl::StatusCode::kInvalidArgument,
                         HasSubstr("the command SETT fails: ERR unknown command 'SETT'")));
  }
}

TEST(WorldExperiment, AllowsACommandThatMayFail) {
  Json json = CounterWorld();
  json["actors"]["a"].push_back(
      Json{{"kind", "command"}, {"command", {"LPOP", "n"}}, {"may_fail", true}});
  EXPECT_EQ(ExploreCounter(json, {.hardened = true}).mistake, absl::OkStatus());
}

TEST(WorldExperiment, AllowsTheErrorsOfFaults) {
  Json json = CounterWorld();
  json["actors"]["a"] = Json::array({Json{{"kind", "command"}, {"command", {"INCRBY", "n", "1"}}}});
  json["faults"] =
      Json::array({Json{{"fault", "error_reply"}, {"actor", "a"}, {"error", "BUSY script"}}});
  EXPECT_EQ(ExploreCounter(json, {.hardened = true}).mistake, absl::OkStatus());
}

TEST(WorldExperiment, ReportsAnInvariantWhoseCommandFails) {
  const std::vector<Json> invariants = {
      {{"kind", "reply"}, {"command", {"EVAL", "return (", "0"}}, {"expect", "7"}},
      {{"kind", "equal"},
       {"commands", Json::array({Json::array({"GET", "n"}), Json::array({"LLEN", "n"})})}},
      {{"kind", "references"}, {"command", {"SMEMBERS", "n"}}, {"key", "{}"}},
  };
  for (const Json& invariant : invariants) {
    Json json = CounterWorld();
    json["invariants"] = Json::array({invariant});
    const Exploration found = ExploreCounter(json, {});
    EXPECT_FALSE(found.violation.has_value()) << invariant;
    EXPECT_THAT(found.mistake,
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("of the check fails: ")));
  }
}

TEST(WorldExperiment, ReportsAFaultThatMatchesNoRequest) {
  Json json = CounterWorld();
  json["faults"] = Json::array({Json{{"fault", "crash"}, {"command", "GETT"}}});
  json["actors"].erase("b");
  json["invariants"][0]["expect"] = "6";
  EXPECT_THAT(ExploreCounter(json, {}).mistake,
              StatusIs(absl::StatusCode::kInvalidArgument,
                       StartsWith("faults/0: no request matches this rule in ")));
}

TEST(WorldExperiment, ReportsArgumentsThatAnOperationDoesNotTake) {
  for (const char* place : {"/setup/0", "/actors/a/0"}) {
    Json json = CounterWorld();
    json[Json::json_pointer(place)] =
        Json{{"kind", "call"}, {"operation", "add"}, {"arguments", {{"kee", "n"}}}};
    const Exploration found = ExploreCounter(json, {}, {.schedules = 1});
    EXPECT_FALSE(found.violation.has_value()) << place;
    EXPECT_FALSE(found.mistake.ok()) << place;
  }
}

TEST(WorldExperiment, RecordsWhatReplayRepeats) {
  const WorldFile world = ParseCounter(CounterWorld()).value();
  const WorldExperiment experiment(world, {});
  const Exploration found = Explore(experiment.experiment(), experiment.Options());
  const RecordedViolation recorded = Record(*found.violation, {});
  const RunOutcome again =
      Replay(experiment.experiment(), experiment.Options(), recorded.seed, recorded.decisions);
  EXPECT_EQ(again.violation.message(), recorded.broke);
  EXPECT_EQ(again.trace_hash, recorded.trace_hash);
}

TEST(WorldExperiment, LetsAHardenedActorDoSomethingElse) {
  Json json = CounterWorld();
  json.erase("hardened");
  const Json command{{"kind", "command"}, {"command", {"INCR", "n"}}};
  json["hardened_actors"] = Json{{"a", Json::array({command})}, {"b", Json::array({command})}};
  EXPECT_TRUE(ParseCounter(json).value().has_remedy());
  EXPECT_TRUE(ExploreCounter(json, {}).violation.has_value());
  const Exploration hardened =
      ExploreCounter(json, {.hardened = true}, {.strategy = Strategy::kExhaustive});
  EXPECT_FALSE(hardened.violation.has_value());
  EXPECT_TRUE(hardened.complete);
}

// The cause of the violation that a search finds.
Cause CauseIn(const Json& json) {
  const Exploration found = ExploreCounter(json, {});
  EXPECT_TRUE(found.violation.has_value());
  return found.violation->cause;
}

TEST(ShrinkWorld, LeavesOutWhatIsNotNeeded) {
  Json json = CounterWorld();
  const Json idle = Json::array({Json{{"kind", "command"}, {"command", {"PING"}}}});
  json["actors"]["idle"] = idle;
  json["actors"]["a"].insert(json["actors"]["a"].begin(), idle[0]);
  json["faults"] = Json::array({Json{{"fault", "delay"}, {"for", "1s"}, {"probability", 0.1}}});
  json["invariants"][0] =
      Json{{"kind", "serializable"}, {"name", "both count"}, {"keys", "n"}, {"results", false}};
  const WorldFile smaller = ShrinkWorld(ParseCounter(json).value(), {}, CauseIn(json),
                                        /*schedules=*/200, CounterSystem());
  EXPECT_EQ(smaller.actors.size(), 2u);
  for (const WorldActor& actor : smaller.actors) EXPECT_EQ(actor.steps.size(), 1u);
  EXPECT_TRUE(smaller.faults.empty());
  EXPECT_TRUE(smaller.setup.empty());
}

// A worker that may crash, and one that takes over. The invariant is that the job gets done.
Json JobWorld() {
  Json json = CounterWorld();
  json.erase("hardened");
  json["setup"] = Json::array({Json{{"kind", "command"}, {"command", {"RPUSH", "jobs", "j"}}}});
  const Json work{{"kind", "command"}, {"command", {"LPOP", "jobs"}}};
  const Json done{{"kind", "command"}, {"command", {"INCR", "done"}}};
  json["actors"] = Json{{"worker", Json::array({work, done})},
                        {"other", Json::array({Json{{"kind", "advance"}, {"by", "1m"}}, work})}};
  json["faults"] = Json::array({Json{{"fault", "crash"},
                                     {"actor", "worker"},
                                     {"probability", 0.5},
                                     {"limit", 1},
                                     {"for", "inf"}}});
  json["invariants"] = Json::array({Json{
      {"kind", "reply"}, {"name", "it is done"}, {"command", {"GET", "done"}}, {"at_least", 1}}});
  return json;
}

WorldFile Shrunk(const Json& json) {
  return ShrinkWorld(ParseCounter(json).value(), {}, CauseIn(json), /*schedules=*/100,
                     CounterSystem());
}

TEST(ShrinkWorld, KeepsWhatBringsTheInvariantAboutWhenNothingGoesWrong) {
  const WorldFile smaller = Shrunk(JobWorld());
  ASSERT_EQ(smaller.actors.size(), 1u);
  EXPECT_EQ(smaller.actors[0].name, "worker");
  // Without the crash the job is done; taking it from the queue is not needed for that.
  ASSERT_EQ(smaller.actors[0].steps.size(), 1u);
  EXPECT_EQ(std::get<CommandStep>(smaller.actors[0].steps[0].action).words[0], "INCR");
  EXPECT_EQ(smaller.faults.size(), 1u);
}

TEST(ShrinkWorld, KeepsWhatTheHardenedWorldNeeds) {
  Json json = JobWorld();
  const Json done{{"kind", "command"}, {"command", {"INCR", "done"}}};
  // The remedy: the other worker does the job in any case.
  json["hardened_actors"] =
      Json{{"other", Json::array({Json{{"kind", "advance"}, {"by", "1m"}}, done})}};
  const WorldFile smaller = Shrunk(json);
  EXPECT_EQ(smaller.actors.size(), 2u);
  EXPECT_EQ(smaller.hardened_actors.size(), 1u);
}

// Two masters; the slot of {k} is of `main`.
Json ClusterWorld() {
  Json json = CounterWorld();
  json["cluster"] = true;
  json["servers"] = Json{{"other", Json::object()}};
  for (const char* actor : {"a", "b"}) json["actors"][actor][0]["arguments"]["key"] = "{k}n";
  json["setup"][0]["command"] = {"SET", "{k}n", "5"};
  json["actors"]["mover"] =
      Json::array({Json{{"kind", "move_slot"}, {"key", "{k}"}, {"from", "main"}, {"to", "other"}}});
  json["invariants"][0]["command"] = {"GET", "{k}n"};
  return json;
}

TEST(WorldExperiment, TheActorsOfAClusterFollowItsSlots) {
  Json json = ClusterWorld();
  EXPECT_EQ(ExploreCounter(json, {}).violation->status.message(), "both count: GET gives \"6\"");
  EXPECT_FALSE(ExploreCounter(json, {.hardened = true}, {.schedules = 500}).violation.has_value());
  // The invariant sees the key at every moment, and a step that names a server is sent there.
  json["invariants"][0] = Json{{"kind", "reply"},
                               {"when", "always"},
                               {"command", {"GET", "{k}n"}},
                               {"one_of", {"5", "6", "7"}}};
  json["invariants"].push_back(Json{{"kind", "bound"}, {"value", "there"}, {"expect", 1}});
  json["actors"]["mover"].push_back(
      Json{{"kind", "command"}, {"command", {"DBSIZE"}}, {"server", "other"}, {"as", "there"}});
  EXPECT_FALSE(ExploreCounter(json, {.hardened = true}, {.schedules = 500}).violation.has_value());
}

TEST(WorldExperiment, ASearchInAClusterIsComplete) {
  Json json = ClusterWorld();
  json["actors"].erase("b");
  json["invariants"][0]["expect"] = "6";
  const Exploration found = ExploreCounter(json, {}, {.strategy = Strategy::kExhaustive});
  EXPECT_FALSE(found.violation.has_value()) << found.violation->status;
  EXPECT_TRUE(found.complete);
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
