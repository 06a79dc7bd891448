// DividedRuns: runs the units of a search without a bound (sim/explore/divided.h), round by round.
//
// The caller runs the units in processes: it asks for the next one (Next), does its work in a child
// (Work), and hands over what the child has told (Done). When a unit finds something, those after
// it in the round are of no use; those before it may find something earlier.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_EXPLORE_PARALLEL_DIVIDED_RUNS_H_
#define REDOUBLE_SIM_EXPLORE_PARALLEL_DIVIDED_RUNS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "redouble/sim/explore/divided.h"
#include "redouble/sim/explore/explore.h"

namespace redouble::inline v0_1::sim {

class DividedRuns {
 public:
  // `schedules`: those of the whole exhaustive search, of which the one with a bound comes first.
  // The experiment and the options must outlive this.
  DividedRuns(const Experiment& experiment, const ExploreOptions& options, int64_t schedules,
              const DivisionOptions& division);

  // Returns the number of the next unit to run; nullopt if no unit can begin before another one is
  // done. `bounded`: the result of the search with a bound, if it is known.
  std::optional<size_t> Next(const std::optional<Exploration>& bounded);
  // Runs the unit; returns what is to be told.
  std::string Work(size_t unit) const;
  void Done(size_t unit, std::string_view text);
  // Returns false for a unit that has begun and is of no use any more.
  bool IsNeeded(size_t unit) const { return unit >= first_ && unit < first_ + end_; }

  // Returns true if no unit is left, or no schedule.
  bool has_ended() const { return has_ended_; }
  // What all rounds have found so far.
  const Exploration& found() const { return found_; }

 private:
  struct Result {
    Exploration found;
    std::string unit;  // For DividedSearch::Add.
  };

  void BeginRound(const std::optional<Exploration>& bounded);
  void EndRound();

  const Experiment& experiment_;
  const ExploreOptions& options_;
  const int64_t schedules_;
  // Until these schedules are used up, no unit waits for the search with a bound. Then it is known
  // how many it has left over.
  int64_t limit_;
  bool limit_is_last_ = false;
  DividedSearch search_;
  Exploration found_;
  bool has_ended_ = false;

  // The current round.
  bool is_running_ = false;
  size_t first_ = 0;             // The number of its first unit.
  std::vector<int64_t> limits_;  // By unit, how many runs it may make.
  size_t next_ = 0;              // The next unit to begin.
  size_t end_ = 0;               // The units from this one on are of no use.
  std::map<size_t, Result> results_;
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_EXPLORE_PARALLEL_DIVIDED_RUNS_H_
