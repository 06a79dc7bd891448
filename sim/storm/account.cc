#include "redouble/sim/storm/account.h"

#include <algorithm>
#include <bit>
#include <cstddef>

#include "absl/strings/str_cat.h"
#include "redouble/sim/storm/promise.h"

namespace redouble::inline v0_1::sim {

void Account::Expect(double low, double high) {
  expected_.low += low;
  expected_.high += high;
}

void Account::Allow(std::string_view section, double low, double high) {
  auto range = std::find_if(hazards_.begin(), hazards_.end(),
                            [&](const Range& row) { return row.section == section; });
  if (range == hazards_.end()) {
    hazards_.push_back({std::string(section)});
    range = hazards_.end() - 1;
  }
  range->low += low;
  range->high += high;
}

bool Account::Explains(unsigned hazards, double actual) const {
  double low = expected_.low;
  double high = expected_.high;
  for (size_t i = 0; i < hazards_.size(); ++i) {
    if ((hazards >> i & 1) == 0) continue;
    low += hazards_[i].low;
    high += hazards_[i].high;
  }
  return low <= actual && actual <= high;
}

std::optional<std::string> Account::Explain(double actual) const {
  if (Explains(0, actual)) return std::nullopt;
  const auto count = static_cast<int>(hazards_.size());
  for (int size = 1; size <= count; ++size) {
    for (unsigned hazards = 1; hazards < 1u << count; ++hazards) {
      if (std::popcount(hazards) != size || !Explains(hazards, actual)) continue;
      return hazards_[static_cast<size_t>(std::countr_zero(hazards))].section;
    }
  }
  return std::string(kUndocumented);
}

std::string Account::ToString() const {
  if (expected_.low == expected_.high) return absl::StrCat(expected_.low);
  return absl::StrCat(expected_.low, " to ", expected_.high);
}

}  // namespace redouble::inline v0_1::sim
