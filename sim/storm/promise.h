// Promises: what a system promises about a whole run, and the documented hazards that break it.
//
// A storm (sim/storm/storm.h) judges its run at the end. For each promise it says how often it saw
// the promise kept, and each breach, with the hazard that explains it:
//
//   Verdicts verdicts(promises, /*hardened=*/false);
//   verdicts.Keep(kChargedOnce);
//   verdicts.Break(kChargedOnce, "R6", "hot: 1.5 and not 0.75");
//   verdicts.Break(kChargedOnce, kUndocumented, "hot: 2 and not 0.75");
//
// A hazard with a remedy cannot explain anything in a hardened run: there the breach is reported
// all the same. A hazard without a remedy is a limit that the documents state: in a hardened run,
// what it explains is counted and is no breach.
//
// Thread-safety: values.
#ifndef REDOUBLE_SIM_STORM_PROMISE_H_
#define REDOUBLE_SIM_STORM_PROMISE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"

namespace redouble::inline v0_1::sim {

// A documented hazard.
struct StormHazard {
  std::string section;  // Of the system's page: "R6".
  std::string remedy;   // The option that removes it; empty if none does.
};

struct Promise {
  std::string text;  // "a request is charged once"
  // Every hazard that can break it.
  std::vector<StormHazard> hazards;
};

// The section of a breach that no document lists.
inline constexpr std::string_view kUndocumented = "";

// What breaks a promise: its text, and the section of the hazard. The text comes first in the name
// of an invariant, so that BrokenInvariant returns the name.
struct Finding {
  std::string promise;
  std::string section;  // kUndocumented if no document lists it.

  bool documented() const { return !section.empty(); }
  // "a request is charged once (R6)".
  std::string Name() const;

  friend auto operator<=>(const Finding&, const Finding&) = default;
};

class Verdicts {
 public:
  // `promises` must outlive this. A hardened run has the remedies of all hazards.
  Verdicts(const std::vector<Promise>& promises, bool hardened);

  bool hardened() const { return hardened_; }

  // `promise` is an index of the promises.
  void Keep(size_t promise) { ++checks_[promise]; }
  // `section` is one of the hazards of the promise, or kUndocumented. Counts as a check too.
  void Break(size_t promise, std::string_view section, std::string what);
  // Keep or Break.
  void Check(size_t promise, bool holds, std::string_view section, std::string what);

  // By promise, how often it was checked.
  const std::vector<int64_t>& checks() const { return checks_; }
  // The first breach by each finding.
  const std::map<Finding, std::string>& breaches() const { return breaches_; }
  // By section, what a hazard without a remedy explains in a hardened run.
  const std::map<std::string, int64_t>& limits() const { return limits_; }

  // The breach by that finding; OK if there is none.
  absl::Status StatusOf(const Finding& finding) const;
  // Every finding that is possible: what no document lists first.
  std::vector<Finding> AllFindings() const;

 private:
  const std::vector<Promise>& promises_;
  const bool hardened_;
  std::vector<int64_t> checks_;
  std::map<Finding, std::string> breaches_;
  std::map<std::string, int64_t> limits_;
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_STORM_PROMISE_H_
