// Measures how the load of each system in its cluster layout spreads over six masters, and compares
// it with the table of docs/scale.md. Prints the rows of the table.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iostream>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "redouble/backends/memory/engine/engine.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/base/time/virtual_clock.h"
#include "redouble/tests/property/spread/load_counter.h"
#include "redouble/tests/property/spread/loads.h"

namespace redouble::inline v0_1::tests {

// In the names of failed tests.
void PrintTo(const SystemLoad& load, std::ostream* out) { *out << load.system; }

namespace {

constexpr int kMasters = 6;
// What a cluster layout is to keep, but for the tags that SystemLoad::shared names.
constexpr double kMostUneven = 0.2;
constexpr double kGreatestPart = 0.05;

std::vector<std::string> RowsOfThePage() {
  std::ifstream file("docs/scale.md");
  std::vector<std::string> rows;
  std::string line;
  bool inside = false;
  while (std::getline(file, line)) {
    if (line == "<!-- counted: spread -->") inside = true;
    if (line == "<!-- end -->") inside = false;
    if (inside && line.starts_with("| ")) rows.push_back(line);
  }
  // The head of the table.
  if (!rows.empty()) rows.erase(rows.begin(), rows.begin() + 2);
  return rows;
}

std::string RowOf(std::string_view name, std::string_view units, const LoadCounter& counter) {
  std::string row = absl::StrCat("| ", base::ToAbsl(name), " | ", base::ToAbsl(units), " |");
  double busiest = 0;
  for (const Measure measure : kMeasures) {
    const Spread spread = counter.SpreadOver(kMasters, measure);
    absl::StrAppendFormat(&row, " %+.0f to %+.0f |", 100 * spread.least, 100 * spread.most);
    busiest = std::max(busiest, counter.BusiestPart(measure));
  }
  absl::StrAppendFormat(&row, " %.1f |", 100 * busiest);
  return row;
}

bool IsWithinBounds(const LoadCounter& counter) {
  return std::all_of(kMeasures.begin(), kMeasures.end(), [&](Measure measure) {
    const Spread spread = counter.SpreadOver(kMasters, measure);
    return spread.least > -kMostUneven && spread.most < kMostUneven &&
           counter.BusiestPart(measure) < kGreatestPart;
  });
}

class SpreadTest : public ::testing::TestWithParam<SystemLoad> {
 protected:
  void ExpectOnThePage(const std::string& row) {
    std::cout << row << "\n";
    EXPECT_THAT(RowsOfThePage(), ::testing::Contains(row));
  }
};

TEST_P(SpreadTest, IsThatOfThePage) {
  const SystemLoad& load = GetParam();
  base::VirtualClock clock(absl::FromUnixSeconds(1'781'718'159));
  memory::EngineOptions options;
  options.cluster = memory::ClusterOptions();
  memory::Engine engine(clock, options);
  const auto session = engine.Connect();
  LoadCounter counter(*session);
  load.run(counter, clock);
  ASSERT_FALSE(HasFatalFailure());
  counter.CountKeys();
  ExpectOnThePage(RowOf(load.system, load.units, counter));
  std::cout << absl::StrFormat("%.0f commands\n", counter.Total(Measure::kCommands));
  if (!load.shared.empty()) {
    EXPECT_FALSE(IsWithinBounds(counter)) << "no tag needs to be left out";
    const double all = counter.Total(Measure::kCommands);
    for (const std::string& prefix : load.shared) EXPECT_GT(counter.LeaveOut(prefix), 0u);
    std::cout << absl::StrFormat("without %.0f %% of the %.0f commands\n",
                                 100 * (1 - counter.Total(Measure::kCommands) / all), all);
    const std::string name = absl::StrCat(base::ToAbsl(load.system), " without `",
                                          absl::StrJoin(load.shared, "` and `"), "`");
    ExpectOnThePage(RowOf(name, load.units, counter));
  }
  EXPECT_TRUE(IsWithinBounds(counter));
}

INSTANTIATE_TEST_SUITE_P(Systems, SpreadTest, ::testing::ValuesIn(SystemLoads()),
                         [](const auto& info) {
                           std::string name;
                           for (const char letter : info.param.system) {
                             if (std::isalnum(static_cast<unsigned char>(letter))) name += letter;
                           }
                           return name;
                         });

// The page has a row for each load, and one more where something is left out.
TEST(Spread, HasNoOtherRowOnThePage) {
  size_t rows = 0;
  for (const SystemLoad& load : SystemLoads()) rows += load.shared.empty() ? 1 : 2;
  EXPECT_EQ(RowsOfThePage().size(), rows);
}

}  // namespace
}  // namespace redouble::inline v0_1::tests
