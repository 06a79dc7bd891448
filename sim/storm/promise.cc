#include "redouble/sim/storm/promise.h"

#include <algorithm>
#include <cassert>

#include "absl/strings/str_cat.h"

namespace redouble::inline v0_1::sim {

std::string Finding::Name() const {
  return documented() ? absl::StrCat(promise, " (", section, ")") : promise;
}

Verdicts::Verdicts(const std::vector<Promise>& promises, bool hardened)
    : promises_(promises), hardened_(hardened), checks_(promises.size()) {}

void Verdicts::Break(size_t promise, std::string_view section, std::string what) {
  Keep(promise);
  const std::vector<StormHazard>& hazards = promises_[promise].hazards;
  const auto hazard = std::find_if(hazards.begin(), hazards.end(),
                                   [&](const StormHazard& row) { return row.section == section; });
  assert(section.empty() || hazard != hazards.end());
  if (hardened_ && hazard != hazards.end() && hazard->remedy.empty()) {
    ++limits_[hazard->section];
    return;
  }
  breaches_.emplace(Finding{promises_[promise].text, std::string(section)}, std::move(what));
}

void Verdicts::Check(size_t promise, bool holds, std::string_view section, std::string what) {
  if (holds) {
    Keep(promise);
  } else {
    Break(promise, section, std::move(what));
  }
}

absl::Status Verdicts::StatusOf(const Finding& finding) const {
  const auto breach = breaches_.find(finding);
  return breach == breaches_.end() ? absl::OkStatus() : absl::InternalError(breach->second);
}

std::vector<Finding> Verdicts::AllFindings() const {
  std::vector<Finding> all;
  for (const Promise& promise : promises_) all.push_back({promise.text, ""});
  for (const Promise& promise : promises_) {
    for (const StormHazard& hazard : promise.hazards) {
      all.push_back({promise.text, hazard.section});
    }
  }
  return all;
}

}  // namespace redouble::inline v0_1::sim
