// Converts the jobs of 3scale's workers from and to the JSON of goldens and scenarios.
//
//   {"class": "ReportJob", "args": ["2", {"0": {"app_id": "a", "usage": {"hits": "1"},
//                                               "log": {"code": "200"}}}, 1745430159.0]}
//   {"class": "NotifyJob", "args": ["pkey", {"transactions": 1}, "2025-04-23 17:42:00 UTC"]}
//
// Members that recordings do not have are written beside these: "flat_usage" and "counted"
// of a report.
//
// Thread-safety: pure functions.
#ifndef REDOUBLE_SIM_OPERATIONS_THREESCALE_THREESCALE_JOBS_H_
#define REDOUBLE_SIM_OPERATIONS_THREESCALE_THREESCALE_JOBS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "redouble/core/threescale/model/job_queue.h"
#include "redouble/sim/operations/operation.h"

namespace redouble::inline v0_1::scenarios {

// Reads {"hits": "1"}. Values are texts, or integers. Errors: InvalidArgument for anything else.
absl::StatusOr<threescale::Usage> UsageFromJson(const sim::Json& json);

// Reads a transaction as clients send it: app_id, user_key, usage, timestamp, log. Other members
// are ignored, as by the original.
absl::StatusOr<threescale::Transaction> TransactionFromJson(const sim::Json& json);

// Reads a job. Errors: InvalidArgument that names the expected form.
absl::StatusOr<threescale::Job> JobFromJson(const sim::Json& json);
sim::Json JobToJson(const threescale::Job& job);

// Removes all jobs from the queue and returns them.
sim::Json TakeJobs(threescale::InProcessJobQueue& queue);

}  // namespace redouble::inline v0_1::scenarios

#endif  // REDOUBLE_SIM_OPERATIONS_THREESCALE_THREESCALE_JOBS_H_
