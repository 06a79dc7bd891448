// CountGuardedSlice: counts a slice of transactions at most once for a job, and only if its
// applications exist.
//
// This is a part of aggregator.h; use Aggregator.
//
//   GuardedSlice slice{.job = {"2", "job-1"}, .number = 1, .commands = batch};
//   slice.applications = {{"2", "app"}};
//   absl::Status counted = co_await CountGuardedSlice(process, slice);
//
// Thread-safety: as Store.
// Source: docs/systems/threescale.md 4.19, H11, H18.
#ifndef REDOUBLE_CORE_THREESCALE_REPORT_GUARDED_SLICE_H_
#define REDOUBLE_CORE_THREESCALE_REPORT_GUARDED_SLICE_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/threescale/keys.h"
#include "redouble/core/threescale/process.h"

namespace redouble::inline v0_1::threescale {

struct GuardedSlice {
  struct Job {
    std::string_view service_id;
    std::string_view id;  // Empty: the slice is not marked, and can be counted again.
  };

  Job job;
  int64_t number = 1;  // Among the slices of the job, from 1.
  // What must exist. In the cluster layout all are of the service of the job.
  std::vector<ApplicationRef> applications = {};
  // Commands of AddCounterCommands.
  const store::Batch& commands;
};

// One script. Does nothing if the job's mark says that this slice, or a later one, has been
// counted. `slice` must outlive the task. Errors: ApplicationNotFound, before any write; the first
// error of a command, after the others were executed and the slice was marked; those of Redis.
base::Task<absl::Status> CountGuardedSlice(Process process, const GuardedSlice& slice);

}  // namespace redouble::inline v0_1::threescale

#endif  // REDOUBLE_CORE_THREESCALE_REPORT_GUARDED_SLICE_H_
