// Domain: what the domain replay has to know of a system.
//
// Thread-safety: a value.
#ifndef REDOUBLE_TESTS_GOLDEN_DOMAIN_H_
#define REDOUBLE_TESTS_GOLDEN_DOMAIN_H_

#include <functional>
#include <optional>

#include "absl/status/status.h"
#include "sim/scenario/backend.h"
#include "sim/scenario/operation.h"
#include "tests/golden/difference.h"
#include "tests/golden/golden.h"

namespace redouble::golden {

struct Domain {
  // By the names that goldens call them.
  sim::OperationTable operations;
  // How the system's goldens record an operation that failed so: as its result, or as its error
  // member where the shape has one.
  std::function<Json(const absl::Status& status)> record_error;
  // Checks a table of inputs and outputs against the system's own functions, every row; the backend
  // is begun. Empty: the system's goldens have none.
  std::function<std::optional<Difference>(const Golden& golden, sim::ScenarioBackend& backend)>
      check_tables = {};
};

// The domain of `system`; none when its operations are not there yet.
std::optional<Domain> FindDomain(System system);

}  // namespace redouble::golden

#endif  // REDOUBLE_TESTS_GOLDEN_DOMAIN_H_
