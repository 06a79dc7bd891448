// FindRuns: the runs that have keys in Redis.
//
// For operations over all runs, such as a sweep; the durable records are in a RunStore. SCAN is
// used because KEYS blocks the server.
//
//   absl::StatusOr<std::vector<std::string>> run_ids = co_await FindRuns(store, keys);
//
// Thread-safety: as Store.
// Source: docs/systems/orchestrator.md 4.13.
#ifndef REDOUBLE_CORE_ORCHESTRATOR_RUN_RUN_SCAN_H_
#define REDOUBLE_CORE_ORCHESTRATOR_RUN_RUN_SCAN_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/orchestrator/keys.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::orchestrator {

// The ids of all runs whose graph exists, sorted. Not a snapshot: a run that exists during the
// whole call is found. Round trips: those of one SCAN. Errors: those of the store.
base::Task<absl::StatusOr<std::vector<std::string>>> FindRuns(store::Store& store, Keys keys);

}  // namespace redouble::inline v0_1::orchestrator

#endif  // REDOUBLE_CORE_ORCHESTRATOR_RUN_RUN_SCAN_H_
