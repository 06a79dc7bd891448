#include "redouble/sim/explore/cause.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace redouble::inline v0_1::sim {

bool Cause::IsWithin(const Cause& other) const {
  return invariant == other.invariant && std::ranges::includes(other.faults, faults) &&
         std::ranges::includes(other.conflicts, conflicts);
}

std::string Cause::ToString() const {
  std::string text = invariant;
  if (!faults.empty()) absl::StrAppend(&text, "; faults: ", absl::StrJoin(faults, ", "));
  if (!conflicts.empty()) absl::StrAppend(&text, "; conflicts: ", absl::StrJoin(conflicts, ", "));
  return text;
}

}  // namespace redouble::inline v0_1::sim
