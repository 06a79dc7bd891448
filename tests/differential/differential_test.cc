// A modest number of random programs per group; the long run is `bazel run //tests/differential`.
#include <memory>
#include <string>
#include <string_view>

#include "gtest/gtest.h"
#include "tests/differential/campaign.h"
#include "tests/differential/groups.h"
#include "tests/support/memory_target.h"
#include "tests/support/server_target.h"

namespace redouble::tests {
namespace {

class Differential : public testing::TestWithParam<std::string_view> {};

TEST_P(Differential, FindsNothing) {
  ServerTarget server;
  MemoryTarget memory;
  CampaignOptions options;
  options.group = std::string(GetParam());
  // Streams are looked at twice as deep.
  options.programs = options.group == "streams" ? 4000 : 2000;
  const CampaignResult result = RunCampaign(options, server, memory);
  EXPECT_EQ(result.differences, 0) << result.report;
  EXPECT_EQ(result.programs, options.programs);
}

INSTANTIATE_TEST_SUITE_P(Groups, Differential, testing::ValuesIn(GroupNames()),
                         [](const testing::TestParamInfo<std::string_view>& info) {
                           return std::string(info.param);
                         });

}  // namespace
}  // namespace redouble::tests
