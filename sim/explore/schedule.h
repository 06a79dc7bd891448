// Schedule: the seed and the decisions of a run, as the text that programs print and read.
//
//   absl::StatusOr<Schedule> schedule = ParseSchedule("7:0,0,1");
//   Replay(experiment, options, schedule->seed, schedule->decisions);
//
// Thread-safety: values.
#ifndef REDOUBLE_SIM_EXPLORE_SCHEDULE_H_
#define REDOUBLE_SIM_EXPLORE_SCHEDULE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace redouble::inline v0_1::sim {

struct Schedule {
  uint64_t seed = 0;
  std::vector<uint32_t> decisions;

  // "7:0,0,1".
  std::string ToString() const;

  friend bool operator==(const Schedule&, const Schedule&) = default;
};

// Errors: InvalidArgument for any other form.
absl::StatusOr<Schedule> ParseSchedule(std::string_view text);

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_EXPLORE_SCHEDULE_H_
