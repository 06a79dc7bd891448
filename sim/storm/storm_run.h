// StormRunner: runs the storms of a system, counts what they show, and shrinks what they find.
//
// A run is a number: the seed and the number decide its actors, operations, faults and schedule.
// The same numbers give the same run, in every process and build.
//
//   StormRunner runner(GatewayStorm(), {.hardened = true}, /*seed=*/1);
//   StormTally tally;
//   for (int64_t run = 0; run < 1000; ++run) tally.Add(runner.Run(run));
//   for (const auto& [finding, where] : tally.findings) {
//     const Recording page = runner.Record(*runner.Shrink(where.first_run, finding));
//   }
//
// Thread-safety: one thread; other processes can make other runs.
#ifndef REDOUBLE_SIM_STORM_STORM_RUN_H_
#define REDOUBLE_SIM_STORM_STORM_RUN_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "redouble/sim/explore/explore.h"
#include "redouble/sim/recording/recording.h"
#include "redouble/sim/storm/promise.h"
#include "redouble/sim/storm/storm.h"

namespace redouble::inline v0_1::sim {

// What one run showed.
struct StormReport {
  int64_t run = 0;
  int64_t commands = 0;
  size_t actors = 0;
  std::map<std::string, int64_t> faults;  // By name.
  std::vector<int64_t> checks;            // By promise.
  std::map<Finding, std::string> breaches;
  std::map<std::string, int64_t> limits;  // See Verdicts::limits.
  std::string trace_hash;
  absl::Status mistake;  // Not OK if the storm itself is wrong.
};

// What many runs showed.
struct StormTally {
  struct Found {
    int64_t runs = 0;
    int64_t first_run = 0;
    std::string what;  // In the first run.
  };

  int64_t runs = 0;
  int64_t commands = 0;
  std::map<std::string, int64_t> faults;
  std::vector<int64_t> checks;
  std::map<Finding, Found> findings;
  std::map<std::string, int64_t> limits;
  std::string hash;  // Of the traces of all runs, in the order in which they were added.
  absl::Status mistake;

  void Add(const StormReport& report);
  // The findings that a storm is not expected to have: none of a hardened one is, and of one with
  // defaults those that no document lists.
  bool HasUnexpected(bool hardened) const;
};

// The smallest run that was found with one finding.
struct ShrunkStorm {
  Finding finding;
  uint64_t seed = 0;
  StormPlan plan;
  Violation violation;
};

class StormRunner {
 public:
  StormRunner(StormSystem system, StormVariant variant, uint64_t seed);

  const StormSystem& system() const { return system_; }

  StormReport Run(int64_t run) const;

  // Removes actors, operations, faults and context switches that the finding does not need, in at
  // most `runs` runs. Nullopt if that run does not have the finding.
  std::optional<ShrunkStorm> Shrink(int64_t run, const Finding& finding,
                                    int64_t runs = 4'000) const;
  // Repeats it with the keyspace after each step.
  Recording Record(const ShrunkStorm& shrunk) const;

 private:
  struct Outcome;

  uint64_t SeedOf(int64_t run) const;
  ExploreOptions OptionsOf(uint64_t seed) const;
  // The world of a plan. With a finding, only that one is a violation.
  Experiment ExperimentOf(StormPlan plan, std::optional<Finding> finding, Outcome* outcome) const;

  const StormSystem system_;
  const StormVariant variant_;
  const uint64_t seed_;
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_STORM_STORM_RUN_H_
