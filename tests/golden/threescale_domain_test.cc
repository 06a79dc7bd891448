#include "tests/golden/threescale_domain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

#include "sim/scenario/memory_backend.h"
#include "tests/golden/domain_replay.h"
#include "tests/golden/golden_for_test.h"

namespace redouble::golden {
namespace {

Json ReadGolden(const std::string& name) {
  std::ifstream file("tests/data/golden/threescale/" + name + ".json");
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  return Json::parse(text, nullptr, /*allow_exceptions=*/false);
}

Outcome Replay(const Json& json) {
  sim::MemoryBackend backend;
  return ReplayDomain(MustParse(json, System::kThreescale), ThreescaleDomain(), backend);
}

// Where the replay differs; empty when it passes.
std::string PathOf(const Json& json) {
  const Outcome outcome = Replay(json);
  return outcome.difference ? outcome.difference->path : "";
}

class ThreescaleGolden : public ::testing::TestWithParam<const char*> {};

TEST_P(ThreescaleGolden, ComesOutAgainInBothFormatsOfStamps) {
  const Outcome outcome = Replay(ReadGolden(GetParam()));
  EXPECT_FALSE(outcome.difference) << outcome.difference->ToString();
}

INSTANTIATE_TEST_SUITE_P(All, ThreescaleGolden,
                         ::testing::Values("alert_limits_crud", "applications_crud",
                                           "metric_save_rename", "service_tokens",
                                           "services_lifecycle", "usage_limits_crud"),
                         [](const auto& info) { return std::string(info.param); });

TEST(ThreescaleDomain, FailsADoctoredGoldenAtTheChangedPlace) {
  struct Doctoring {
    std::string place;
    Json value;
    std::string path;
  };
  const Doctoring doctorings[] = {
      {"/ops/0/result/state", "suspended", "/ops/0/result/state"},
      {"/ops/3/error/http", 404, "/ops/3/error/http"},
      {"/ops/0/round_trips/1/0/2", "7002", "/ops/0/commands/1/2"},
      {"/keyspace/provider_keys_set/value", {"pk2"}, "/keyspace/provider_keys_set/value"},
      {"/ops/0/args/id", "7009", "/ops/0/commands/1/2"},
      {"/ops/0/args/name", "x", "/ops/0"},
  };
  for (const Doctoring& doctoring : doctorings) {
    Json json = ReadGolden("services_lifecycle");
    json[Json::json_pointer(doctoring.place)] = doctoring.value;
    EXPECT_THAT(PathOf(json), ::testing::StartsWith(doctoring.path)) << doctoring.place;
  }
}

TEST(ThreescaleDomain, ComparesTheKeyspaceOfEachFormat) {
  Json json = ReadGolden("usage_limits_crud");
  json["keyspace_seed_format"] = Json::object();
  const Outcome outcome = Replay(json);
  ASSERT_TRUE(outcome.difference);
  EXPECT_THAT(outcome.difference->message, ::testing::HasSubstr("with fixed-width stamps"));
}

}  // namespace
}  // namespace redouble::golden
