#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "redouble/sim/cli/program_for_test.h"

namespace redouble::inline v0_1::sim {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

class StormTest : public ProgramTest {};

TEST_F(StormTest, SaysWhichDocumentedHazardsItFinds) {
  EXPECT_EQ(Run({"storm", "gateway", "--runs", "60"}), kExitPassed);
  EXPECT_THAT(out(), HasSubstr("gateway: 60 runs with seed 1, "));
  EXPECT_THAT(out(), ContainsRegex("faults: .*crash [0-9]+, "));
  EXPECT_THAT(out(), ContainsRegex("checked 180 times: the spend of a key is the sum of"));
  EXPECT_THAT(out(), HasSubstr("(R6): in "));
  EXPECT_THAT(out(), HasSubstr("; docs/systems/gateway.md R6\n"));
  EXPECT_THAT(out(), HasSubstr("again: redouble storm gateway --seed 1 --run "));
  EXPECT_THAT(out(), HasSubstr(" findings, 0 unexpected\n"));
}

TEST_F(StormTest, FindsNothingWhenHardened) {
  EXPECT_EQ(Run({"storm", "gateway", "--runs", "60", "--hardened"}), kExitPassed);
  EXPECT_THAT(out(), HasSubstr("gateway (hardened): 60 runs"));
  EXPECT_THAT(out(), HasSubstr("which no option removes: "));
  EXPECT_THAT(out(), HasSubstr("0 findings, 0 unexpected\n"));
}

TEST_F(StormTest, RunsInTheClusterLayout) {
  EXPECT_EQ(Run({"storm", "korvet", "--runs", "60", "--no-shrink", "--layout", "cluster"}),
            kExitPassed);
  EXPECT_THAT(out(), HasSubstr("korvet in the cluster layout: 60 runs"));
  EXPECT_THAT(out(), ContainsRegex("again: redouble storm korvet .* --layout cluster\n"));
  EXPECT_EQ(Run({"storm", "korvet", "--layout", "round"}), kExitBadUsage);
  EXPECT_THAT(err(), HasSubstr("--layout: expected documented or cluster, got 'round'"));
}

TEST_F(StormTest, RunsOnAClusterWhoseSlotsMove) {
  EXPECT_EQ(Run({"storm", "korvet", "--runs", "60", "--no-shrink", "--masters", "3"}), kExitPassed);
  EXPECT_THAT(out(), HasSubstr("korvet on 3 masters: 60 runs"));
  EXPECT_THAT(out(), ContainsRegex("again: redouble storm korvet .* --masters 3\n"));
  EXPECT_EQ(Run({"storm", "korvet", "--masters", "3", "--layout", "documented"}), kExitBadUsage);
  EXPECT_THAT(err(), HasSubstr("--masters needs --layout cluster"));
  EXPECT_EQ(Run({"storm", "korvet", "--masters", "1"}), kExitBadUsage);
  EXPECT_THAT(err(), HasSubstr("--masters"));
}

TEST_F(StormTest, PrintsTheSameWithAnyNumberOfProcesses) {
  EXPECT_EQ(Run({"storm", "gateway", "--runs", "120", "--jobs", "1"}), kExitPassed);
  const std::string one = out();
  EXPECT_EQ(Run({"storm", "gateway", "--runs", "120", "--jobs", "3"}), kExitPassed);
  EXPECT_EQ(out(), one);
  EXPECT_EQ(Run({"storm", "gateway", "--runs", "120", "--seed", "2"}), kExitPassed);
  EXPECT_NE(out(), one);
}

// The line that is printed with a finding makes the run again and shrinks it.
TEST_F(StormTest, RepeatsARunAndWritesItsPage) {
  Run({"storm", "gateway", "--runs", "60"});
  const std::string name = "was settled (R6): in ";
  const std::string again = "--run ";
  const size_t finding = out().find(name);
  ASSERT_NE(finding, std::string::npos);
  const size_t begin = out().find(again, finding) + again.size();
  const std::string run = out().substr(begin, out().find('\n', begin) - begin);

  EXPECT_EQ(Run({"storm", "gateway", "--run", run, "--out", "found"}), kExitPassed);
  EXPECT_THAT(out(), HasSubstr(name));
  EXPECT_THAT(out(), ContainsRegex("shrunk to [0-9] actors with [0-9] operations: the spend"));
  EXPECT_THAT(out(), ContainsRegex("  gateway-[0-9]  .*INCRBYFLOAT"));
  const std::string page =
      "found/gateway_the_spend_of_a_key_is_the_sum_of_what_was_settled__R6_.html";
  EXPECT_THAT(out(), HasSubstr("written: " + page));
  EXPECT_TRUE(std::filesystem::exists(folder_ / page));
}

TEST_F(StormTest, RefusesBadUsage) {
  EXPECT_EQ(Run({"storm"}), kExitBadUsage);
  EXPECT_EQ(Run({"storm", "shop"}), kExitBadUsage);
  EXPECT_THAT(err(), HasSubstr("shop"));
  EXPECT_EQ(Run({"storm", "gateway", "--runs", "0"}), kExitBadUsage);
  EXPECT_EQ(Run({"storm", "gateway", "--run", "-1"}), kExitBadUsage);
  EXPECT_THAT(out(), Not(HasSubstr("runs with seed")));
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
