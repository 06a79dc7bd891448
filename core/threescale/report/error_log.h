// ErrorLog: the list of the latest errors of a service, errors/service_id:S, newest first.
//
// Listeners and workers store errors here that a client could not receive: a report is answered
// with 202 before it is validated.
//
//   ErrorLog errors(process);
//   co_await errors.Store("2", MakeError(ErrorCode::kMetricInvalid, "nope"), "{}");
//   // LPUSH {"code":"metric_invalid","message":...,"timestamp":...,"context_info":{}}, LTRIM
//
// Errors of every operation: those of Redis.
//
// Thread-safety: as Store.
// Source: docs/systems/threescale.md 2.8, 4.10, H29.
#ifndef REDOUBLE_CORE_THREESCALE_REPORT_ERROR_LOG_H_
#define REDOUBLE_CORE_THREESCALE_REPORT_ERROR_LOG_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/threescale/hardening.h"
#include "redouble/core/threescale/process.h"

namespace redouble::inline v0_1::threescale {

class ErrorLog {
 public:
  static constexpr int64_t kMostErrors = 1000;
  static constexpr int64_t kPageSize = 100;

  explicit ErrorLog(const Process& process, Hardening hardening = Hardening())
      : process_(process), hardening_(hardening) {}

  // Adds `error` with the time of the process. Only statuses from MakeError have a code.
  // `context_info` describes the request as JSON. LPUSH and LTRIM: two round trips. Between them
  // the list can be longer than kMostErrors. With trim_errors_atomically one round trip.
  base::Task<absl::Status> Store(std::string_view service_id, absl::Status error,
                                 std::string_view context_info);

  // Returns a page of entries as JSON. Pages are counted from 1; smaller numbers return the first
  // page. One round trip.
  base::Task<absl::StatusOr<std::vector<std::string>>> List(std::string_view service_id,
                                                            int64_t page = 1);

  // One round trip each.
  base::Task<absl::StatusOr<int64_t>> Count(std::string_view service_id);
  base::Task<absl::Status> Delete(std::string_view service_id);

 private:
  Process process_;
  Hardening hardening_;
};

}  // namespace redouble::inline v0_1::threescale

#endif  // REDOUBLE_CORE_THREESCALE_REPORT_ERROR_LOG_H_
