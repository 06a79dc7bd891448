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

class Differential : public testing::TestWithParam<std::string> {};

TEST_P(Differential, FindsNothing) {
  ServerTarget server;
  MemoryTarget memory;
  CampaignOptions options;
  options.group = GetParam();
  // Streams are looked at twice as deep.
  options.programs = options.group == "streams" ? 4000 : 2000;
  const CampaignResult result = RunCampaign(options, server, memory);
  EXPECT_EQ(result.differences, 0) << result.report;
  EXPECT_EQ(result.programs, options.programs);
}

std::vector<std::string> Groups() {
  // Groups whose generators are finished; the others join with theirs.
  return {"strings",     "keys",   "expiry",    "server",      "connection", "transactions",
          "lists",       "hashes", "sets",      "sorted_sets", "streams",    "bitmaps",
          "hyperloglog", "geo",    "scripting", "pubsub",      "cluster",    "blocking"};
}

INSTANTIATE_TEST_SUITE_P(Groups, Differential, testing::ValuesIn(Groups()),
                         [](const testing::TestParamInfo<std::string>& info) {
                           return info.param;
                         });

}  // namespace
}  // namespace redouble::tests
