#include "redouble/sim/explore/parallel/divided_runs.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "redouble/sim/decision/fields.h"
#include "redouble/sim/explore/exhaustive.h"
#include "redouble/sim/explore/parallel/part_result.h"

namespace redouble::inline v0_1::sim {

DividedRuns::DividedRuns(const Experiment& experiment, const ExploreOptions& options,
                         int64_t schedules, const DivisionOptions& division)
    : experiment_(experiment),
      options_(options),
      schedules_(schedules),
      limit_(schedules - BoundedSchedules(schedules)),
      search_(options.max_faults, division) {}

std::optional<size_t> DividedRuns::Next(const std::optional<Exploration>& bounded) {
  if (!has_ended_ && !is_running_) BeginRound(bounded);
  if (!is_running_ || next_ >= end_) return std::nullopt;
  return first_ + next_++;
}

// How many runs a unit may make must not depend on which process is the first to end.
void DividedRuns::BeginRound(const std::optional<Exploration>& bounded) {
  if (found_.schedules >= limit_ && !limit_is_last_) {
    if (!bounded) return;
    limit_ = schedules_ - bounded->schedules;
    limit_is_last_ = true;
  }
  has_ended_ = found_.schedules >= limit_ || IsOver(options_);
  if (has_ended_) return;
  limits_.clear();
  int64_t left = limit_ - found_.schedules;
  for (size_t unit = 0; unit < search_.units() && left > 0; ++unit) {
    limits_.push_back(std::min(left, search_.runs()));
    left -= limits_.back();
  }
  is_running_ = true;
  next_ = 0;
  end_ = limits_.size();
}

std::string DividedRuns::Work(size_t unit) const {
  ExhaustiveDecisions decisions = search_.Begin(unit - first_);
  const Exploration found =
      ExploreDecisions(experiment_, options_, decisions, limits_[unit - first_]);
  std::string text;
  AppendBytes(text, ToText(found));
  return text + DividedSearch::ToText(decisions);
}

void DividedRuns::Done(size_t unit, std::string_view text) {
  unit -= first_;
  Exploration found = FromText(TakeBytes(text));
  found.complete = false;  // It is only the unit that has ended.
  if (IsLast(options_, found)) end_ = std::min(end_, unit + 1);
  results_.emplace(unit, Result{std::move(found), std::string(text)});
  const auto done = std::distance(results_.begin(), results_.lower_bound(end_));
  if (static_cast<size_t>(done) == end_) EndRound();
}

void DividedRuns::EndRound() {
  for (size_t unit = 0; unit < end_; ++unit) {
    Result& result = results_.at(unit);
    has_ended_ = IsLast(options_, result.found);
    search_.Add(unit, result.unit);
    AddPart(std::move(result.found), found_);
  }
  is_running_ = false;
  results_.clear();
  first_ += limits_.size();
  end_ = 0;
  if (has_ended_) return;
  search_.EndRound();
  has_ended_ = search_.units() == 0;
  found_.complete = has_ended_ && !search_.limited();
}

}  // namespace redouble::inline v0_1::sim
