// What the tests of storms share: fixed runs, matchers of what they show, and stores that lose
// or repeat commands.
//
// Thread-safety: one thread. For tests only.
#ifndef REDOUBLE_SIM_STORM_STORM_FOR_TEST_H_
#define REDOUBLE_SIM_STORM_STORM_FOR_TEST_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/reply.h"
#include "redouble/core/store/store.h"
#include "redouble/core/store/wrappers/intercepting_store.h"
#include "redouble/sim/storm/storm_run.h"

namespace redouble::inline v0_1::sim {

inline StormTally RunStorms(const StormSystem& system, const StormVariant& variant, int64_t runs) {
  const StormRunner runner(system, variant, /*seed=*/1);
  StormTally tally;
  for (int64_t run = 0; run < runs; ++run) tally.Add(runner.Run(run));
  EXPECT_EQ(tally.mistake, absl::OkStatus());
  return tally;
}

// The findings as a text, for messages.
inline std::string FindingsOf(const StormTally& tally) {
  std::string text;
  for (const auto& [finding, found] : tally.findings) {
    absl::StrAppend(&text, finding.Name(), ": in ", found.runs, " runs; run ", found.first_run,
                    ": ", found.what, "\n");
  }
  return text;
}

// The sections of the hazards that were found.
inline std::set<std::string> SectionsOf(const StormTally& tally) {
  std::set<std::string> sections;
  for (const auto& [finding, found] : tally.findings) sections.insert(finding.section);
  return sections;
}

MATCHER(FindsNothing, "has no finding") {
  *result_listener << FindingsOf(arg);
  return arg.findings.empty();
}

MATCHER(ChecksEveryPromise, "has checked every promise") {
  for (size_t promise = 0; promise < arg.checks.size(); ++promise) {
    if (arg.checks[promise] > 0) continue;
    *result_listener << "promise " << promise << " was never checked";
    return false;
  }
  return !arg.checks.empty();
}

// No promise breaks that the documents say holds: with all remedies none but for hazards that have
// no remedy in the variant's layout, and with the defaults by documented hazards only. Returns what
// the runs with all remedies showed.
inline StormTally ExpectKeepsPromises(const StormSystem& system, StormVariant variant,
                                      int64_t runs) {
  StormTally tally;
  for (const bool hardened : {false, true}) {
    variant.hardened = hardened;
    tally = RunStorms(system, variant, runs);
    EXPECT_FALSE(tally.HasUnexpected(hardened)) << FindingsOf(tally);
    EXPECT_THAT(tally, ChecksEveryPromise());
  }
  return tally;
}

// Masters of the cluster were lost, and the documented hazard explains what was lost with them.
inline void ExpectLosesMasters(const StormTally& tally, const std::string& section) {
  EXPECT_THAT(tally.faults, testing::Contains(testing::Key("promote")));
  EXPECT_THAT(tally.limits, testing::Contains(testing::Key(section)));
}

inline StormVariant InTheClusterLayout() { return {.key_layout = store::KeyLayout::kCluster}; }
// On a Redis Cluster whose slots move, and whose masters fail over if the system has `failover`.
inline StormVariant WhileSlotsMove() {
  return {.key_layout = store::KeyLayout::kCluster, .masters = 3};
}

// The same runs give the same hash, whatever ran before them.
inline void ExpectSameRuns(const StormSystem& system, int64_t runs,
                           const StormVariant& variant = {}) {
  const std::string hash = RunStorms(system, variant, runs).hash;
  EXPECT_EQ(RunStorms(system, variant, runs).hash, hash);
  const StormRunner runner(system, variant, /*seed=*/1);
  const std::string last = runner.Run(runs - 1).trace_hash;
  runner.Run(0);
  EXPECT_EQ(runner.Run(runs - 1).trace_hash, last);
}

// The most that a shrunk run may have.
struct SmallRun {
  size_t actors;
  size_t operations;
};

// The first run that has the finding shrinks to a run that breaks the promise as well.
inline void ExpectShrinks(const StormRunner& runner, const Finding& finding, SmallRun most) {
  constexpr int64_t kMostRuns = 500;
  int64_t run = 0;
  while (run < kMostRuns && !runner.Run(run).breaches.contains(finding)) ++run;
  const std::optional<ShrunkStorm> shrunk = runner.Shrink(run, finding, /*runs=*/1000);
  ASSERT_TRUE(shrunk.has_value()) << "no run has the finding";
  EXPECT_LE(shrunk->plan.size(), most.actors);
  EXPECT_LE(OperationsOf(shrunk->plan), most.operations);
  const Recording recording = runner.Record(*shrunk);
  EXPECT_TRUE(absl::StartsWith(recording.failure, finding.Name())) << recording.failure;
  EXPECT_EQ(recording.trace_hash, shrunk->violation.trace_hash);
}

// Does not execute some commands, or executes them twice.
class AlteredStore final : public store::InterceptingStore {
 public:
  using Wrap = std::function<std::unique_ptr<store::Store>(store::Store& inner)>;

  // Answers every n-th request of a connection that begins with that command without executing it:
  // the reply is 1 for each command.
  static Wrap Dropping(std::string command, int nth) {
    return WrapOf(std::move(command), nth, /*doubles=*/false);
  }
  static Wrap Doubling(std::string command, int nth) {
    return WrapOf(std::move(command), nth, /*doubles=*/true);
  }

  AlteredStore(store::Store& inner, std::string command, int nth, bool doubles)
      : InterceptingStore(inner), command_(std::move(command)), nth_(nth), doubles_(doubles) {}

 private:
  static Wrap WrapOf(std::string command, int nth, bool doubles) {
    return [command = std::move(command), nth, doubles](store::Store& inner) {
      return std::make_unique<AlteredStore>(inner, command, nth, doubles);
    };
  }

  bool Intercepts(const store::Request& request) override {
    return absl::EqualsIgnoreCase(base::ToAbsl(request.commands()[0].name()), command_) &&
           ++matches_ % nth_ == 0;
  }

  base::Task<absl::StatusOr<store::Reply>> Intercept(const store::Request& request) override {
    if (doubles_) {
      REDOUBLE_CO_RETURN_IF_ERROR((co_await Forward(request)).status());
      co_return co_await Forward(request);
    }
    const store::Reply one = store::Reply::Integer(1);
    if (request.kind() == store::Request::Kind::kCommand) co_return one;
    std::vector<store::Reply> replies(request.commands().size(), one);
    co_return store::Reply::Array(std::move(replies));
  }

  const std::string command_;
  const int nth_;
  const bool doubles_;
  int matches_ = 0;
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_STORM_STORM_FOR_TEST_H_
