// A moderate number of random programs for each group; `bazel run //tests/differential` runs more.
#include <memory>
#include <string>
#include <string_view>

#include "gtest/gtest.h"
#include "redouble/tests/differential/campaign.h"
#include "redouble/tests/differential/groups.h"
#include "redouble/tests/support/target/memory_target.h"
#include "redouble/tests/support/target/server_target.h"

namespace redouble::inline v0_1::tests {
namespace {

class Differential : public testing::TestWithParam<std::string_view> {};

TEST_P(Differential, FindsNoDifference) {
  ServerTarget server;
  MemoryTarget memory;
  CampaignOptions options;
  options.group = std::string(GetParam());
  // Streams have more states, so they get twice as many programs.
  options.programs = options.group == "streams" ? 4000 : 2000;
  const CampaignResult result = RunCampaign(options, server, memory);
  EXPECT_EQ(result.differences, 0) << result.report;
  EXPECT_EQ(result.programs, options.programs);
}

TEST_P(Differential, FindsNoDifferenceInResp3) {
  ServerTarget server({}, /*resp3=*/true);
  MemoryTarget memory({}, /*resp3=*/true);
  CampaignOptions options;
  options.group = std::string(GetParam());
  options.programs = 500;
  options.resp3 = true;
  const CampaignResult result = RunCampaign(options, server, memory);
  EXPECT_EQ(result.differences, 0) << result.report;
  EXPECT_EQ(result.programs, options.programs);
}

INSTANTIATE_TEST_SUITE_P(Groups, Differential, testing::ValuesIn(GroupNames()),
                         [](const testing::TestParamInfo<std::string_view>& info) {
                           return std::string(info.param);
                         });

}  // namespace
}  // namespace redouble::inline v0_1::tests
