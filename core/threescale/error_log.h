// ErrorLog: the list of a service's last errors, errors/service_id:S, newest first.
//
// Listeners and workers leave here what was wrong with a client's request when nobody can be told
// any more: a report is answered with 202 before it is looked at.
//
//   ErrorLog errors(process);
//   co_await errors.Store("2", MakeError(ErrorCode::kMetricInvalid, "nope"), "{}");
//   // LPUSH {"code":"metric_invalid","message":...,"timestamp":...,"context_info":{}}, LTRIM
//
// Errors of every operation: those of the store. Thread-safety: as Store.
// Source: reference/threescale.md 3.8 and 5.1.
#ifndef REDOUBLE_CORE_THREESCALE_ERROR_LOG_H_
#define REDOUBLE_CORE_THREESCALE_ERROR_LOG_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/base/task.h"
#include "core/threescale/process.h"

namespace redouble::threescale {

class ErrorLog {
 public:
  static constexpr int64_t kMostErrors = 1000;
  static constexpr int64_t kPageSize = 100;

  explicit ErrorLog(const Process& process) : process_(process) {}

  // Adds `error` at the time of the process; only a status that MakeError made has a code.
  // `context_info` says what request it came from, as JSON. Two round trips, LPUSH and LTRIM:
  // between them the list may be longer than kMostErrors.
  base::Task<absl::Status> Store(std::string_view service_id, absl::Status error,
                                 std::string_view context_info);

  // The entries of a page, as JSON; pages count from 1, and what is before the first is the first.
  // One round trip.
  base::Task<absl::StatusOr<std::vector<std::string>>> List(std::string_view service_id,
                                                            int64_t page = 1);

  // One round trip each.
  base::Task<absl::StatusOr<int64_t>> Count(std::string_view service_id);
  base::Task<absl::Status> Delete(std::string_view service_id);

 private:
  Process process_;
};

}  // namespace redouble::threescale

#endif  // REDOUBLE_CORE_THREESCALE_ERROR_LOG_H_
