// Campaign: many random programs of one group, compared on the memory engine and a real server.
#ifndef REDOUBLE_TESTS_DIFFERENTIAL_CAMPAIGN_H_
#define REDOUBLE_TESTS_DIFFERENTIAL_CAMPAIGN_H_

#include <cstdint>
#include <functional>
#include <string>

#include "tests/support/target.h"

namespace redouble::tests {

struct CampaignOptions {
  std::string group = "strings";
  int64_t programs = 1000;
  // Ends early once so many commands have run; 0: never.
  int64_t max_total_commands = 0;
  uint64_t seed = 1;
  // Number of the first program: with `programs` 1 it repeats a single one.
  int64_t first = 0;
  int max_commands = 60;
  // Ends after so many differences.
  int max_differences = 1;
};

struct CampaignResult {
  int64_t programs = 0;
  int64_t commands = 0;
  int64_t differences = 0;
  // For people: each difference with its seed, its shortest program as a conformance case with the
  // expected replies, and the command that repeats it.
  std::string report;
};

// `progress` is called after each program.
CampaignResult RunCampaign(const CampaignOptions& options, Target& expected, Target& actual,
                           const std::function<void(const CampaignResult&)>& progress = nullptr);

}  // namespace redouble::tests

#endif  // REDOUBLE_TESTS_DIFFERENTIAL_CAMPAIGN_H_
