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
#include "redouble/sim/explore/parallel/processes.h"
#include "redouble/sim/explore/schedule.h"
#include "redouble/sim/json/strict_json.h"

namespace redouble::inline v0_1::sim {
namespace {

// The number of schedules of a part.
constexpr int64_t kPart = 1000;

// Divides the schedules of a search.
class Parts {
 public:
  explicit Parts(const ExploreOptions& options) : options_(options) {
    if (options.strategy == Strategy::kExhaustive) exhaustive_ = options.schedules;
    if (options.strategy == Strategy::kCombined) exhaustive_ = (options.schedules + 1) / 2;
  }

  size_t size() const {
    const int64_t drawn = options_.schedules - exhaustive_.value_or(0);
    return static_cast<size_t>((drawn + kPart - 1) / kPart) + (exhaustive_ ? 1 : 0);
  }

  // The options of the search of one part.
  ExploreOptions operator[](size_t part) const {
    ExploreOptions options = options_;
    options.shrinking_runs = 0;
    options.faults_must_match = false;  // In all parts together.
    if (exhaustive_ && part == 0) {
      options.strategy = Strategy::kExhaustive;
      options.schedules = *exhaustive_;
      return options;
    }
    if (exhaustive_) options.strategy = Strategy::kMixed;
    const int64_t first =
        exhaustive_.value_or(0) + static_cast<int64_t>(part - (exhaustive_ ? 1 : 0)) * kPart;
    options.first_seed += static_cast<uint64_t>(first);
    options.schedules = std::min(kPart, options_.schedules - first);
    return options;
  }

 private:
  const ExploreOptions& options_;
  // The schedules of the exhaustive search, which is the first part.
  std::optional<int64_t> exhaustive_ = {};
};

std::string ToText(const Exploration& exploration) {
  Json json{{"schedules", exploration.schedules}, {"violations", exploration.violations}};
  json["complete"] = exploration.complete;
  json["complete_bound"] = exploration.complete_bound;
  json["depends_on_seed"] = exploration.depends_on_seed;
  if (exploration.violation) {
    json["schedules_to_first"] = exploration.schedules_to_first;
    json["seed"] = exploration.violation->seed;
    json["decisions"] = exploration.violation->decisions;
  }
  json["probes"] = exploration.probes;
  json["fault_matches"] = exploration.fault_matches;
  if (!exploration.mistake.ok()) {
    json["mistake"] = std::string(exploration.mistake.message());
    json["code"] = static_cast<int>(exploration.mistake.code());
  }
  // A mistake may quote bytes that are no text.
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Exploration FromText(const std::string& text) {
  const Json json = *ParseStrictJson(text);
  Exploration exploration;
  exploration.schedules = json["schedules"].get<int64_t>();
  exploration.violations = json["violations"].get<int64_t>();
  exploration.complete = json["complete"].get<bool>();
  exploration.complete_bound = json["complete_bound"].get<int>();
  exploration.depends_on_seed = json["depends_on_seed"].get<bool>();
  exploration.probes = json["probes"].get<std::map<std::string, int64_t>>();
  exploration.fault_matches = json["fault_matches"].get<std::vector<int64_t>>();
  if (json.contains("seed")) {
    exploration.schedules_to_first = json["schedules_to_first"].get<int64_t>();
    exploration.violation = Violation{.seed = json["seed"].get<uint64_t>(),
                                      .decisions = json["decisions"].get<std::vector<uint32_t>>(),
                                      .status = {},
                                      .trace_hash = {},
                                      .steps = 0};
  }
  if (json.contains("mistake")) {
    exploration.mistake = absl::Status(static_cast<absl::StatusCode>(json["code"].get<int>()),
                                       json["mistake"].get_ref<const std::string&>());
  }
  return exploration;
}

class ParallelSearch {
 public:
  ParallelSearch(const Experiment& experiment, const ExploreOptions& options)
      : experiment_(experiment), options_(options), parts_(options) {}

  absl::StatusOr<Exploration> Run(int jobs) {
    REDOUBLE_RETURN_IF_ERROR(RunInProcesses(
        parts_.size(), jobs,
        [this](size_t part) { return ToText(Explore(experiment_, parts_[part])); },
        [this](size_t part, const std::string& text) {
          const Exploration& result = results_[part] = FromText(text);
          return IsLast(result) || (result.schedules == 0 && IsOver());
        }));
    Exploration sum;
    // Whether a part after the last one of use has run depends on the processes.
    for (auto& [part, result] : results_) {
      const bool is_last = IsLast(result);
      Add(std::move(result), sum);
      if (is_last) break;
    }
    if (options_.faults_must_match && !sum.violation && sum.mistake.ok()) {
      sum.mistake = CheckFaultMatches(options_, sum);
    }
    if (sum.violation) {
      REDOUBLE_ASSIGN_OR_RETURN(sum.violation, ShrinkOne(*sum.violation));
    }
    return sum;
  }

 private:
  // Parts that begin now do nothing.
  bool IsOver() const { return options_.is_over && options_.is_over(); }

  // The results of later parts are of no use.
  bool IsLast(const Exploration& result) const {
    const bool is_complete = result.complete && !result.depends_on_seed;
    const bool has_found = options_.stop_at_first && result.violation.has_value();
    return !result.mistake.ok() || is_complete || has_found;
  }

  static void Add(Exploration part, Exploration& sum) {
    if (part.violation && !sum.violation) {
      sum.schedules_to_first = sum.schedules + part.schedules_to_first;
      sum.violation = std::move(part.violation);
    }
    sum.schedules += part.schedules;
    sum.violations += part.violations;
    sum.complete = sum.complete || part.complete;
    sum.depends_on_seed = sum.depends_on_seed || part.depends_on_seed;
    sum.complete_bound = std::max(sum.complete_bound, part.complete_bound);
    for (const auto& [name, count] : part.probes) sum.probes[name] += count;
    sum.fault_matches.resize(std::max(sum.fault_matches.size(), part.fault_matches.size()));
    for (size_t i = 0; i < part.fault_matches.size(); ++i) {
      sum.fault_matches[i] += part.fault_matches[i];
    }
    sum.mistake = std::move(part.mistake);
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
  std::map<size_t, Exploration> results_;  // By part.
};

}  // namespace

absl::StatusOr<Exploration> ExploreInProcesses(const Experiment& experiment,
                                               const ExploreOptions& options, int jobs) {
  return ParallelSearch(experiment, options).Run(jobs);
}

}  // namespace redouble::inline v0_1::sim
