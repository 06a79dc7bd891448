// tests/live/config_parameters_test.cc compares the values with redis-server's.
#include "redouble/backends/memory/server/kept_parameters.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>

namespace redouble::inline v0_1::memory {
namespace {

TEST(KeptParameters, AreInTheOrderOfTheirNames) {
  const auto rows = KeptParameters();
  const auto by_name = [](const KeptParameter& a, const KeptParameter& b) {
    return a.name < b.name;
  };
  EXPECT_TRUE(std::is_sorted(rows.begin(), rows.end(), by_name));
}

TEST(KeptParameters, AreFoundByBothNamesInAnyCase) {
  ASSERT_NE(FindKeptParameter("Replica-Priority"), nullptr);
  EXPECT_EQ(FindKeptParameter("SLAVE-priority"), FindKeptParameter("replica-priority"));
  EXPECT_EQ(FindKeptParameter("maxmemory"), nullptr) << "it has an effect";
  EXPECT_EQ(FindKeptParameter(""), nullptr);
}

TEST(KeptParameters, HaveTheirInitialValuesUntilOptionsSayOtherwise) {
  const KeptParameter& hz = *FindKeptParameter("hz");
  EngineOptions options;
  EXPECT_EQ(hz.ValueIn(options), "10");
  options.kept_parameters["hz"] = "50";
  EXPECT_EQ(hz.ValueIn(options), "50");
}

// What CONFIG GET returns is a valid value.
TEST(KeptParameters, AcceptTheirInitialValues) {
  for (const KeptParameter& parameter : KeptParameters()) {
    if (parameter.kind == KeptParameter::Kind::kFixed) continue;
    std::string value(parameter.initial);
    EXPECT_EQ(parameter.Check(value), std::nullopt) << parameter.name;
    EXPECT_EQ(value, parameter.initial);
  }
}

// As in redis-server 7.0.15: CONFIG SET oom-score-adj relative, CONFIG GET oom-score-adj.
TEST(KeptParameters, ShowTheFirstOfTwoNames) {
  std::string value = "Relative";
  EXPECT_EQ(FindKeptParameter("oom-score-adj")->Check(value), std::nullopt);
  EXPECT_EQ(value, "yes");
}

}  // namespace
}  // namespace redouble::inline v0_1::memory
