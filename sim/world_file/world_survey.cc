#include "redouble/sim/world_file/world_survey.h"

#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "redouble/sim/check/serial.h"
#include "redouble/sim/explore/bounded.h"
#include "redouble/sim/explore/exhaustive.h"
#include "redouble/sim/explore/explore.h"

namespace redouble::inline v0_1::sim {
namespace {

class Surveyor {
 public:
  Surveyor(const WorldFile& world, WorldVariant variant, SurveyLimits limits)
      : actors_(world.actors.size()),
        limits_(limits),
        world_experiment_(world, variant),
        experiment_(world_experiment_.experiment()),
        options_(world_experiment_.Options()) {}

  WorldSurvey Run() {
    RunRandom();
    RunSerial();
    RunAll();
    RunBounded();
    return std::move(survey_);
  }

 private:
  // Runs one schedule; returns true if it breaks an invariant.
  bool Fails(DecisionSource& decisions, uint64_t seed = kFirstSeed,
             std::vector<uint32_t>* made = nullptr) {
    RunOutcome outcome = RunOnce(experiment_, options_, seed, decisions);
    if (!outcome.mistake.ok()) survey_.mistake = std::move(outcome.mistake);
    if (made != nullptr) *made = std::move(outcome.decisions);
    // A run that was ended early, because it is equivalent to another one, is not a run.
    if (outcome.violation.ok() && !decisions.EndsRun()) survey_.some_pass = true;
    return !outcome.violation.ok();
  }

  void RunRandom() {
    for (int64_t i = 0; i < limits_.random && survey_.mistake.ok(); ++i) {
      const uint64_t seed = kFirstSeed + static_cast<uint64_t>(i);
      RandomDecisions decisions(seed);
      ++survey_.random_schedules;
      survey_.random_failing += Fails(decisions, seed) ? 1 : 0;
    }
  }

  void RunSerial() {
    ForEachSerialOrder(actors_, [this](DecisionSource& decisions) {
      ++survey_.serial_orders;
      survey_.serial_failing += Fails(decisions) ? 1 : 0;
    });
  }

  void RunAll() {
    ExhaustiveDecisions all(ExhaustiveDecisions::Reduction::kSourceSets, options_.max_faults);
    // An exhaustive search begins again when it learns what an invariant reads.
    std::set<std::vector<uint32_t>> passing;
    std::set<std::vector<uint32_t>> failing;
    for (int64_t i = 0; i < limits_.all && survey_.mistake.ok(); ++i) {
      std::vector<uint32_t> made;
      const bool fails = Fails(all, kFirstSeed, &made);
      if (!all.redundant()) (fails ? failing : passing).insert(std::move(made));
      if (all.Next()) continue;
      survey_.complete = !all.limited();
      break;
    }
    survey_.failing = static_cast<int64_t>(failing.size());
    survey_.schedules = survey_.failing + static_cast<int64_t>(passing.size());
  }

  void RunBounded() {
    BoundedDecisions bounded(std::numeric_limits<int>::max());
    for (int64_t i = 0; i < limits_.bounded && survey_.mistake.ok(); ++i) {
      const int bound = bounded.bound();
      if (Fails(bounded) && !survey_.fewest) survey_.fewest = bound;
      if (survey_.fewest && (survey_.complete || limits_.all == 0)) return;
      const bool has_more = bounded.Next();
      survey_.complete_bound = has_more ? bounded.bound() - 1 : bound;
      if (!has_more) return;
    }
  }

  static constexpr uint64_t kFirstSeed = 1;

  const size_t actors_;
  const SurveyLimits limits_;
  const WorldExperiment world_experiment_;
  const Experiment experiment_;
  const ExploreOptions options_;
  WorldSurvey survey_;
};

}  // namespace

WorldSurvey SurveyWorld(const WorldFile& world, WorldVariant variant, SurveyLimits limits) {
  return Surveyor(world, variant, limits).Run();
}

}  // namespace redouble::inline v0_1::sim
