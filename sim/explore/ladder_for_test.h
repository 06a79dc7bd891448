// A ladder of races that are ever harder to find, for tests and benchmarks of the explorer.
//
// A victim adds 10 to a counter `preemptions` times, with GET and SET; as many other actors add 1
// once, by INCR. The invariant breaks if every addition of the victim loses one of the others: each
// of the others must run between a GET and its SET, and no two at the same place. That takes
// exactly `preemptions` preemptions. The victim has further commands on a key of its own, so that
// the run has `steps` steps, including the starts of the actors.
//
//   Explore(RaceLadder({.preemptions = 3, .steps = 20}));
//
// Thread-safety: free functions.
#ifndef REDOUBLE_SIM_EXPLORE_LADDER_FOR_TEST_H_
#define REDOUBLE_SIM_EXPLORE_LADDER_FOR_TEST_H_

#include <cstdint>
#include <memory>
#include <set>
#include <string>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/store/typed/strings.h"
#include "redouble/sim/explore/explore.h"

namespace redouble::inline v0_1::sim {

struct LadderOptions {
  int preemptions = 1;
  int steps = 8;
  // The victim increments by INCR, so that no increment is lost.
  bool fixed = false;
};

// Adds and returns the new count.
inline base::Task<int64_t> AddToCount(Actor& actor, int64_t by, bool atomic) {
  if (atomic) co_return (co_await store::IncrBy(actor.store(), "count", by)).value_or(0);
  const auto count = co_await store::Get(actor.store(), "count");
  const int64_t next = std::stoll(count.value().value_or("0")) + by;
  const std::string text = std::to_string(next);
  (void)co_await store::Set(actor.store(), "count", text);
  co_return next;
}

constexpr int64_t kAddedByVictim = 10;

inline base::Task<void> RunVictim(Actor& actor, LadderOptions options) {
  const int others = 2 * options.preemptions;  // A start and a command each.
  const int own = 1 + (options.fixed ? 1 : 2) * options.preemptions;
  const int further = options.steps - others - own;
  for (int i = 0; i < options.preemptions; ++i) {
    // The further commands are spread evenly before the additions.
    const int until = further * (i + 1) / options.preemptions;
    for (int j = further * i / options.preemptions; j < until; ++j) {
      (void)co_await store::Incr(actor.store(), "own");
    }
    (void)co_await AddToCount(actor, kAddedByVictim, options.fixed);
  }
}

inline Experiment RaceLadder(LadderOptions options) {
  return [options](World& world) {
    world.Spawn("victim", [options](Actor& actor) { return RunVictim(actor, options); });
    // What the others saw: 1, 11, 21... if each ran at another place.
    const auto seen = std::make_shared<std::set<int64_t>>();
    for (int i = 0; i < options.preemptions; ++i) {
      world.Spawn(absl::StrCat("other-", i), [seen](Actor& actor) -> base::Task<void> {
        seen->insert(co_await AddToCount(actor, 1, /*atomic=*/true));
      });
    }
    world.AddFinalInvariant("not every addition is lost", [&world, seen, options] {
      std::set<int64_t> all_places;
      for (int i = 0; i < options.preemptions; ++i) all_places.insert(i * kAddedByVictim + 1);
      const std::unique_ptr<memory::Session> session = world.Connect();
      const std::string count = base::Run(store::Get(*session, "count"))->value_or("0");
      return count != std::to_string(options.preemptions * kAddedByVictim) || *seen != all_places;
    });
  };
}

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_EXPLORE_LADDER_FOR_TEST_H_
