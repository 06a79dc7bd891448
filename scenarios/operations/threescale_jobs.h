// Jobs of 3scale's workers as JSON, as goldens and scenarios have them.
//
//   {"class": "ReportJob", "args": ["2", {"0": {"app_id": "a", "usage": {"hits": "1"},
//                                               "log": {"code": "200"}}}, 1745430159.0]}
//   {"class": "NotifyJob", "args": ["pkey", {"transactions": 1}, "2025-04-23 17:42:00 UTC"]}
//
// What recordings leave out stands beside them: "flat_usage", "counted" and "context_info" of a
// report.
//
// Thread-safety: pure functions.
#ifndef REDOUBLE_SCENARIOS_OPERATIONS_THREESCALE_JOBS_H_
#define REDOUBLE_SCENARIOS_OPERATIONS_THREESCALE_JOBS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "core/threescale/job_queue.h"
#include "sim/scenario/operation.h"

namespace redouble::scenarios {

// {"hits": "1"}: values are texts, or integers for their digits. InvalidArgument for anything else.
absl::StatusOr<threescale::Usage> UsageFromJson(const sim::Json& json);

// A transaction as clients send it: app_id, user_key, usage, timestamp, log. What else it has is
// ignored, as the original does.
absl::StatusOr<threescale::Transaction> TransactionFromJson(const sim::Json& json);

// Errors: InvalidArgument, saying what is expected.
absl::StatusOr<threescale::Job> JobFromJson(const sim::Json& json);
sim::Json JobToJson(const threescale::Job& job);

// Takes all jobs out of the queue.
sim::Json TakeJobs(threescale::InProcessJobQueue& queue);

}  // namespace redouble::scenarios

#endif  // REDOUBLE_SCENARIOS_OPERATIONS_THREESCALE_JOBS_H_
