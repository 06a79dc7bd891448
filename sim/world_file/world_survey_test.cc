#include "redouble/sim/world_file/world_survey.h"

#include "gtest/gtest.h"
#include "redouble/sim/world_file/world_for_test.h"

namespace redouble::inline v0_1::sim {
namespace {

WorldSurvey SurveyCounter(const Json& json, WorldVariant variant = {}, SurveyLimits limits = {}) {
  const WorldFile world = ParseCounter(json).value();
  return SurveyWorld(world, variant, limits);
}

TEST(WorldSurvey, CountsTheSchedulesThatLoseAnUpdate) {
  const WorldSurvey survey = SurveyCounter(CounterWorld());
  EXPECT_EQ(survey.mistake, absl::OkStatus());
  EXPECT_EQ(survey.random_schedules, 300);
  EXPECT_GT(survey.random_failing, 0);
  EXPECT_LT(survey.random_failing, 300);
  EXPECT_EQ(survey.serial_orders, 2);
  EXPECT_EQ(survey.serial_failing, 0);
  EXPECT_EQ(survey.fewest, 1);
  // GET SET GET SET in two orders; and with both reads first, the writes in two orders.
  EXPECT_TRUE(survey.complete);
  EXPECT_EQ(survey.schedules, 4);
  EXPECT_EQ(survey.failing, 2);
  EXPECT_TRUE(survey.some_pass);
  EXPECT_TRUE(survey.some_fail());
}

TEST(WorldSurvey, FindsNoFailureInTheHardenedWorld) {
  const WorldSurvey survey = SurveyCounter(CounterWorld(), {.hardened = true});
  EXPECT_EQ(survey.random_failing, 0);
  EXPECT_EQ(survey.fewest, std::nullopt);
  EXPECT_TRUE(survey.complete);
  EXPECT_EQ(survey.schedules, 2);
  EXPECT_FALSE(survey.some_fail());
}

TEST(WorldSurvey, TellsAWorldThatFailsInEverySchedule) {
  Json json = CounterWorld();
  json["invariants"][0]["expect"] = "8";
  const WorldSurvey survey = SurveyCounter(json);
  EXPECT_FALSE(survey.some_pass);
  EXPECT_EQ(survey.random_failing, survey.random_schedules);
  EXPECT_EQ(survey.serial_failing, 2);
  EXPECT_EQ(survey.fewest, 0);
  EXPECT_EQ(survey.failing, survey.schedules);
}

TEST(WorldSurvey, SaysHowFarASpaceThatIsTooLargeWasSearched) {
  Json json = CounterWorld();
  const Json add = json["actors"]["a"][0];
  json["actors"] = Json{{"a", Json::array({add, add})}, {"b", Json::array({add, add})}};
  json["invariants"][0]["expect"] = "9";
  const WorldSurvey survey = SurveyCounter(json, {}, {.bounded = 12, .all = 3});
  EXPECT_FALSE(survey.complete);
  EXPECT_EQ(survey.fewest, 1);
  EXPECT_GE(survey.complete_bound, 0);
}

TEST(WorldSurvey, RunsSerialOrdersOfSplitEventsAndCountsFaults) {
  Json json = CounterWorld();
  json["events"] = "split";
  json["faults"] =
      Json::array({Json{{"fault", "crash"}, {"actor", "a"}, {"probability", 0.2}, {"for", "inf"}}});
  json["actors"].erase("b");
  json["invariants"][0]["expect"] = "6";
  const WorldSurvey survey = SurveyCounter(json);
  EXPECT_EQ(survey.mistake, absl::OkStatus());
  EXPECT_EQ(survey.serial_orders, 1);
  EXPECT_EQ(survey.serial_failing, 0);
  EXPECT_EQ(survey.fewest, 1);
}

TEST(WorldSurvey, ReportsAMistakeOfTheFile) {
  Json json = CounterWorld();
  json["setup"][0]["command"] = {"NOT", "A", "COMMAND"};
  EXPECT_FALSE(SurveyCounter(json).mistake.ok());
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
