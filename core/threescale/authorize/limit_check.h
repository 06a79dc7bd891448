// WithinLimits, CountWithinLimits: the comparison of a usage with limits, and the script that
// compares and counts in one step.
//
// This is a part of authorizer.h; use Authorizer.
//
//   const bool within = WithinLimits(authorization.limits, usage);
//
// Thread-safety: as Store.
// Source: docs/systems/threescale.md 4.13, 4.19, H10.
#ifndef REDOUBLE_CORE_THREESCALE_AUTHORIZE_LIMIT_CHECK_H_
#define REDOUBLE_CORE_THREESCALE_AUTHORIZE_LIMIT_CHECK_H_

#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/threescale/authorize/authorizer.h"
#include "redouble/core/threescale/keys.h"
#include "redouble/core/threescale/model/usage.h"
#include "redouble/core/threescale/process.h"
#include "redouble/core/threescale/text/integer.h"

namespace redouble::inline v0_1::threescale {

// Whether every limit is satisfied. Without a usage, no counter may exceed its limit. With a usage
// (by metric ids, including parents), the counter after the usage must not exceed the limit; a
// limit whose metric is not in the usage is satisfied, whatever its counter.
bool WithinLimits(const std::vector<LimitState>& limits, const std::optional<Usage>& usage);

// The request of CountWithinLimits.
struct CountedRequest {
  ApplicationRef application;
  // By metric ids, including parents; nullopt if the request has no usage. Must not be null.
  const std::optional<Usage>* usage = nullptr;
  absl::Time time;
  // Whether nothing is counted for an application that does not exist.
  bool must_exist = false;
};

struct CountedLimits {
  bool within = false;
  std::vector<Integer> before;  // The counters of the limits before the usage.
};

// For Hardening::check_and_report_atomically: reads the counters of the limits, and counts the
// usage as a worker would if it is WithinLimits. One script, one round trip. Errors:
// ApplicationNotFound, if it must exist and does not; those of Redis.
base::Task<absl::StatusOr<CountedLimits>> CountWithinLimits(const Process& process,
                                                            const std::vector<LimitState>& limits,
                                                            CountedRequest request);

}  // namespace redouble::inline v0_1::threescale

#endif  // REDOUBLE_CORE_THREESCALE_AUTHORIZE_LIMIT_CHECK_H_
