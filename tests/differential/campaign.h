// Campaign: many random programs of one group, compared on the memory engine and a real server.
//
// Each difference is shrunk and reported with the command that repeats it.
//
//   CampaignResult result = RunCampaign({.group = "lists", .programs = 100}, server, engine);
//   if (!result.report.empty()) std::cerr << result.report;
//
// Thread-safety: one thread.
#ifndef REDOUBLE_TESTS_DIFFERENTIAL_CAMPAIGN_H_
#define REDOUBLE_TESTS_DIFFERENTIAL_CAMPAIGN_H_

#include <cstdint>
#include <functional>
#include <string>

#include "redouble/core/store/table/version.h"
#include "redouble/tests/support/target/target.h"

namespace redouble::inline v0_1::tests {

struct CampaignOptions {
  std::string group = "strings";
  int64_t programs = 1000;
  // Stops after this many commands; 0 means no limit.
  int64_t max_total_commands = 0;
  uint64_t seed = 1;
  // The number of the first program; with `programs` 1 it repeats a single program.
  int64_t first = 0;
  int max_commands = 60;
  store::Version version = store::Version::kRedis70;  // Whose commands the programs have.
  bool resp3 = false;                                 // Whether both targets use it.
  // Stops after this many differences.
  int max_differences = 1;
};

struct CampaignResult {
  int64_t programs = 0;
  int64_t commands = 0;
  int64_t differences = 0;
  // A readable report: each difference with its seed, its shortest program as a conformance case
  // with the expected replies, and the command that repeats it.
  std::string report;
};

// `progress` is called after each program.
CampaignResult RunCampaign(const CampaignOptions& options, Target& expected, Target& actual,
                           const std::function<void(const CampaignResult&)>& progress = nullptr);

}  // namespace redouble::inline v0_1::tests

#endif  // REDOUBLE_TESTS_DIFFERENTIAL_CAMPAIGN_H_
