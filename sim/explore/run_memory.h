// RunMemory: what the runs of a search have shown so far, for the strategies that draw further ones
// (sim/explore/strategies.h).
//
//   RunMemory memory;
//   RememberingDecisions decisions(source, memory);
//   ...                 // One run of a world with these decisions.
//   decisions.Finish();
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_EXPLORE_RUN_MEMORY_H_
#define REDOUBLE_SIM_EXPLORE_RUN_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "redouble/sim/decision/decisions.h"
#include "redouble/sim/decision/footprint.h"
#include "redouble/sim/explore/conflicts.h"

namespace redouble::inline v0_1::sim {

class RunMemory {
 public:
  // A run that can be repeated or changed.
  struct Run {
    std::vector<int> actors;        // The actor of each turn.
    std::vector<uint32_t> answers;  // The decisions about faults.
  };

  // Returns true if no turn of another actor conflicts with the turn.
  bool IsPrivate(const TurnReport& report) const {
    return conflicts_.IsPrivate(report.actor, report.footprint);
  }
  // The most conflicting turns of the actor in one run; of all actors together.
  int64_t ConflictingTurnsOf(int actor) const;
  int64_t conflicting_turns() const { return conflicting_turns_; }
  // The actors that took conflicting turns.
  int64_t conflicting_actors() const { return std::ssize(turns_of_); }
  // The runs in which a turn followed another one on a key for the first time, oldest first. Old
  // ones are dropped.
  std::span<const Run> interesting_runs() const { return interesting_; }

 private:
  friend class RememberingDecisions;

  // A turn, as the number of an actor's turn; two turns and a key.
  using TurnId = std::pair<int, int>;
  using Follows = std::pair<std::pair<TurnId, TurnId>, std::string>;

  Conflicts conflicts_;
  std::map<int, int64_t> turns_of_;
  int64_t conflicting_turns_ = 0;
  std::set<Follows> follows_;
  std::vector<Run> interesting_;
};

// Passes on the decisions of a source and remembers the run.
class RememberingDecisions final : public DecisionSource {
 public:
  // Both must outlive this.
  RememberingDecisions(DecisionSource& source, RunMemory& memory)
      : source_(source), memory_(memory) {}

  size_t ChooseNext(std::span<const ScheduleOption> options) override {
    return source_.ChooseNext(options);
  }
  size_t Pick(size_t count) override;
  bool Chance(double probability) override;
  void OnTurn(const ScheduleOption& turn) override;
  bool WantsFootprints() const override { return true; }
  void OnTurnDone(const TurnReport& report) override;
  void OnClockMove() override { source_.OnClockMove(); }
  bool EndsRun() const override { return source_.EndsRun(); }

  // Adds the run to the memory. To be called once, after the run.
  void Finish();

 private:
  void Follow(const std::string& key, bool writes, RunMemory::TurnId turn);

  DecisionSource& source_;
  RunMemory& memory_;
  RunMemory::Run run_;
  std::map<int, int> turns_of_;
  std::map<int, int64_t> conflicting_turns_of_;
  std::map<std::string, RunMemory::TurnId> last_writes_;
  bool is_interesting_ = false;
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_EXPLORE_RUN_MEMORY_H_
