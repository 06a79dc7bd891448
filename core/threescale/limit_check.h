// The arithmetic of limits: whether a usage stays within them, and the one step that counts it if
// it does. Part of authorizer.h; not for use on its own.
//
// Thread-safety: as Store.
// Source: reference/threescale.md 4.3, 5.2 and 9, 10.
#ifndef REDOUBLE_CORE_THREESCALE_LIMIT_CHECK_H_
#define REDOUBLE_CORE_THREESCALE_LIMIT_CHECK_H_

#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/base/task.h"
#include "core/threescale/authorizer.h"
#include "core/threescale/integer.h"
#include "core/threescale/keys.h"
#include "core/threescale/process.h"
#include "core/threescale/usage.h"

namespace redouble::threescale {

// Whether every limit holds. Without a usage a counter must not be above its limit. With one, by
// metric ids and with parents, the counter that the usage makes must not be; a metric that is not
// in the usage counts as 0, however high it stands.
bool WithinLimits(const std::vector<LimitState>& limits, const std::optional<Usage>& usage);

// What CountWithinLimits needs to know beside the limits.
struct CountedRequest {
  ApplicationRef application;
  // By metric ids, with parents; none when the request has none.
  const std::optional<Usage>* usage = nullptr;
  absl::Time time;
};

struct CountedLimits {
  bool within = false;
  std::vector<Integer> before;  // The counters of the limits, as they were found.
};

// Hardening::check_and_report_atomically: reads the counters of the limits, and when WithinLimits
// holds for them counts the usage as a worker would, all in one script, one round trip.
base::Task<absl::StatusOr<CountedLimits>> CountWithinLimits(const Process& process,
                                                            const std::vector<LimitState>& limits,
                                                            CountedRequest request);

}  // namespace redouble::threescale

#endif  // REDOUBLE_CORE_THREESCALE_LIMIT_CHECK_H_
