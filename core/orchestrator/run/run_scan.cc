#include "redouble/core/orchestrator/run/run_scan.h"

#include <algorithm>
#include <optional>

#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/store/typed/keys.h"

namespace redouble::inline v0_1::orchestrator {

base::Task<absl::StatusOr<std::vector<std::string>>> FindRuns(store::Store& store, Keys keys) {
  store::ScanOptions scan;
  scan.match = "ir:*";
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<std::string> names,
                               co_await store::ScanAll(store, scan));
  std::vector<std::string> ids;
  for (const std::string& name : names) {
    const std::optional<store::KeyMatch> match = keys.Parse(name);
    if (match && !match->values.empty()) ids.emplace_back(match->values[0]);
  }
  std::sort(ids.begin(), ids.end());
  co_return ids;
}

}  // namespace redouble::inline v0_1::orchestrator
