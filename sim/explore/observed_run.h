// ObservedDecisions and SequenceDecisions: a run as the order in which its actors took their turns.
//
// The decisions of a run are indices of options, which mean something else as soon as an earlier
// decision changes. The order of actors and, for each actor, the decisions about its faults keep
// their meaning, so that a run can be changed in one place.
//
//   ObservedDecisions observed(source);
//   ...                            // One run.
//   SequenceDecisions again(observed.sequence());
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_EXPLORE_OBSERVED_RUN_H_
#define REDOUBLE_SIM_EXPLORE_OBSERVED_RUN_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "redouble/sim/decision/decisions.h"
#include "redouble/sim/decision/footprint.h"

namespace redouble::inline v0_1::sim {

struct ActorSequence {
  std::vector<int> actors;                       // The actor of each turn.
  std::map<int, std::vector<uint32_t>> answers;  // By actor, the decisions about its faults.
};

// Passes on the decisions of a source and observes the run.
class ObservedDecisions final : public DecisionSource {
 public:
  // `source` must outlive this.
  explicit ObservedDecisions(DecisionSource& source) : source_(source) {}

  size_t ChooseNext(std::span<const ScheduleOption> options) override;
  size_t Pick(size_t count) override;
  bool Chance(double probability) override;
  void OnTurn(const ScheduleOption& turn) override;
  bool WantsFootprints() const override { return true; }
  void OnTurnDone(const TurnReport& report) override;
  void OnClockMove() override;
  void OnRunEnd(std::span<const ScheduleOption> pending) override { source_.OnRunEnd(pending); }
  bool EndsRun() const override { return source_.EndsRun(); }

  const ActorSequence& sequence() const { return sequence_; }
  // How often another actor ran although the last one could continue.
  int preemptions() const { return preemptions_; }
  // Cause::conflicts.
  std::set<std::string> Conflicts() const;

 private:
  struct Users {
    std::set<int> readers;
    std::set<int> writers;
  };

  void Touch(const std::string& key, int actor, bool writes);

  DecisionSource& source_;
  ActorSequence sequence_;
  int preemptions_ = 0;
  int last_actor_ = -1;
  std::map<std::string, Users> users_;
  // By two actors, the keys by which a turn of the second followed one of the first.
  std::map<std::pair<int, int>, std::set<std::string>> follows_;
};

// Follows an order of actors: the first actor of the rest that can take a turn is the next one.
// After the end of the sequence, the decisions are the default ones.
class SequenceDecisions final : public DecisionSource {
 public:
  explicit SequenceDecisions(ActorSequence sequence) : sequence_(std::move(sequence)) {}

  size_t ChooseNext(std::span<const ScheduleOption> options) override;
  size_t Pick(size_t count) override;
  bool Chance(double) override { return Pick(2) == 1; }
  void OnTurn(const ScheduleOption& turn) override;

 private:
  ActorSequence sequence_;  // The rest of it.
  int actor_ = 0;           // The actor of the current turn.
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_EXPLORE_OBSERVED_RUN_H_
