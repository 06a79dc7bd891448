#include "redouble/sim/explore/parallel/explore_in_processes.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/sim/explore/parallel/divided_runs.h"
#include "redouble/sim/explore/parallel/part_result.h"
#include "redouble/sim/explore/parallel/processes.h"
#include "redouble/sim/explore/schedule.h"

namespace redouble::inline v0_1::sim {
namespace {

// The number of schedules of a part.
constexpr int64_t kPart = 1000;

// Divides the random schedules of a search.
class Parts {
 public:
  explicit Parts(const ExploreOptions& options) : options_(options) {
    if (options.strategy == Strategy::kExhaustive) exhaustive_ = options.schedules;
    if (options.strategy == Strategy::kCombined) exhaustive_ = (options.schedules + 1) / 2;
  }

  size_t size() const {
    const int64_t drawn = options_.schedules - exhaustive_.value_or(0);
    return static_cast<size_t>((drawn + kPart - 1) / kPart);
  }
  // The schedules of the exhaustive search, if there is one.
  std::optional<int64_t> exhaustive() const { return exhaustive_; }

  // The options of the search of one part.
  ExploreOptions operator[](size_t part) const {
    ExploreOptions options = options_;
    options.shrinking_runs = 0;
    options.faults_must_match = false;  // In all parts together.
    if (exhaustive_) options.strategy = Strategy::kMixed;
    const int64_t first = exhaustive_.value_or(0) + static_cast<int64_t>(part) * kPart;
    options.first_seed += static_cast<uint64_t>(first);
    options.schedules = std::min(kPart, options_.schedules - first);
    return options;
  }

 private:
  const ExploreOptions& options_;
  std::optional<int64_t> exhaustive_ = {};
};

// Numbers of tasks.
constexpr size_t kBounded = 0;
constexpr size_t kFirstUnit = 1;
constexpr size_t kFirstPart = size_t{1} << 48;

class ParallelSearch final : public ProcessTasks {
 public:
  ParallelSearch(const Experiment& experiment, const ExploreOptions& options,
                 const DivisionOptions& division)
      : experiment_(experiment), options_(options), parts_(options), end_(parts_.size()) {
    if (const std::optional<int64_t> schedules = parts_.exhaustive()) {
      divided_.emplace(experiment, options_, *schedules, division);
    }
  }

  absl::StatusOr<Exploration> Run(int jobs) {
    REDOUBLE_RETURN_IF_ERROR(RunInProcesses(*this, jobs));
    Exploration sum;
    if (bounded_) AddPart(*bounded_, sum);
    if (divided_ && !IsDecidedByBounded()) AddPart(divided_->found(), sum);
    // Whether a part after the last one of use has run depends on the processes.
    for (auto& [part, result] : results_) {
      if (part >= end_) break;
      AddPart(std::move(result), sum);
    }
    if (options_.faults_must_match && !sum.violation && sum.mistake.ok()) {
      sum.mistake = CheckFaultMatches(options_, sum);
    }
    if (sum.violation) {
      REDOUBLE_ASSIGN_OR_RETURN(sum.violation, ShrinkOne(*sum.violation));
    }
    return sum;
  }

  std::optional<size_t> Next() override {
    if (divided_ && !has_begun_) {
      has_begun_ = true;
      return kBounded;
    }
    if (divided_ && !IsDecidedByBounded()) {
      if (const std::optional<size_t> unit = divided_->Next(bounded_)) return kFirstUnit + *unit;
    }
    if (next_part_ >= end_) return std::nullopt;
    return kFirstPart + next_part_++;
  }

  std::string Work(size_t task) override {
    if (task >= kFirstPart) return ToText(Explore(experiment_, parts_[task - kFirstPart]));
    if (task >= kFirstUnit) return divided_->Work(task - kFirstUnit);
    return ToText(ExploreBounded(experiment_, options_, BoundedSchedules(*parts_.exhaustive())));
  }

  void Done(size_t task, const std::string& text) override {
    if (task >= kFirstPart) {
      const size_t part = task - kFirstPart;
      const Exploration& result = results_[part] = FromText(text);
      if (IsLast(options_, result) || (result.schedules == 0 && IsOver(options_))) {
        end_ = std::min(end_, part + 1);
      }
    } else if (task >= kFirstUnit) {
      divided_->Done(task - kFirstUnit, text);
    } else {
      bounded_ = FromText(text);
    }
    if (!divided_ || !bounded_) return;
    const bool is_last =
        IsLast(options_, *bounded_) ||
        (!IsDecidedByBounded() && divided_->has_ended() && IsLast(options_, divided_->found()));
    if (is_last) end_ = 0;
  }

  bool IsNeeded(size_t task) const override {
    if (task >= kFirstPart) return task - kFirstPart < end_;
    if (task >= kFirstUnit) return !IsDecidedByBounded() && divided_->IsNeeded(task - kFirstUnit);
    return true;
  }

 private:
  // The search without a bound has nothing to add.
  bool IsDecidedByBounded() const {
    return bounded_ && (bounded_->complete || IsLast(options_, *bounded_));
  }

  absl::StatusOr<Violation> ShrinkOne(const Violation& found) const {
    const RunOutcome outcome = Replay(experiment_, options_, found.seed, found.decisions);
    if (outcome.violation.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat("schedule ", Schedule{found.seed, found.decisions}.ToString(),
                       " violates an invariant in one run and not in the next: the runs do not "
                       "repeat themselves"));
    }
    return Shrink(experiment_, options_, MakeViolation(found.seed, found.decisions, outcome));
  }

  const Experiment& experiment_;
  const ExploreOptions& options_;
  const Parts parts_;
  bool has_begun_ = false;
  std::optional<Exploration> bounded_;     // What the search with a bound has found.
  std::optional<DividedRuns> divided_;     // The search without a bound.
  std::map<size_t, Exploration> results_;  // By part.
  size_t next_part_ = 0;
  size_t end_;  // The parts from this one on are of no use.
};

}  // namespace

absl::StatusOr<Exploration> ExploreInProcesses(const Experiment& experiment,
                                               const ExploreOptions& options, int jobs,
                                               const DivisionOptions& division) {
  return ParallelSearch(experiment, options, division).Run(jobs);
}

}  // namespace redouble::inline v0_1::sim
