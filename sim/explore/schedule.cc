#include "redouble/sim/explore/schedule.h"

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::sim {

std::string Schedule::ToString() const {
  return absl::StrCat(seed, ":", absl::StrJoin(decisions, ","));
}

absl::StatusOr<Schedule> ParseSchedule(std::string_view text) {
  Schedule schedule;
  const std::pair<std::string, std::string> parts =
      absl::StrSplit(base::ToAbsl(text), absl::MaxSplits(':', 1));
  bool is_valid = absl::SimpleAtoi(parts.first, &schedule.seed);
  for (absl::string_view word : absl::StrSplit(parts.second, ',', absl::SkipEmpty())) {
    is_valid = absl::SimpleAtoi(word, &schedule.decisions.emplace_back()) && is_valid;
  }
  if (is_valid) return schedule;
  return absl::InvalidArgumentError(absl::StrCat(
      "\"", base::ToAbsl(text), "\"; expected a seed and decisions, such as \"7:0,0,1\""));
}

}  // namespace redouble::inline v0_1::sim
