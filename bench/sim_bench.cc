// The speed of the simulator on one core: commands per second with and without the trace hash,
// whole schedules of a three-actor world per second, both with atomic requests and with split
// events, and a year of minute boundaries.
//
//   bazel run --config=opt //bench:sim

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "benchmark/benchmark.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/store/typed/expiry.h"
#include "redouble/core/store/typed/strings.h"
#include "redouble/sim/explore/explore.h"
#include "redouble/sim/world/world.h"

namespace redouble::inline v0_1::sim {
namespace {

base::Task<void> CountTo(Actor& actor, int64_t times) {
  for (int64_t i = 0; i < times; ++i) (void)co_await store::Incr(actor.store(), "count");
}

// An argument of the benchmarks: whether events are split.
Events EventsOf(int64_t split) { return split != 0 ? Events::kSplit : Events::kAtomic; }

// Three actors increment one counter; each command is a decision of the schedule, and with split
// events three.
void BM_SimulatedCommands(benchmark::State& state) {
  constexpr int64_t kCommands = 10'000;
  for (auto _ : state) {
    World world({.events = EventsOf(state.range(1)), .traced = state.range(0) != 0});
    for (const char* name : {"a", "b", "c"}) {
      world.Spawn(name, [](Actor& actor) { return CountTo(actor, kCommands); });
    }
    world.Run();
  }
  state.SetItemsProcessed(state.iterations() * kCommands * 3);
}
BENCHMARK(BM_SimulatedCommands)
    ->ArgNames({"traced", "split"})
    ->ArgsProduct({{0, 1}, {0, 1}})
    ->Unit(benchmark::kMillisecond);

base::Task<void> AddByReadAndWrite(Actor& actor) {
  const auto count = co_await store::Get(actor.store(), "count");
  const std::string next = std::to_string(std::stoll(count->value_or("0")) + 1);
  (void)co_await store::Set(actor.store(), "count", next);
}

// A world from creation to its end, with an invariant over the result: six commands. The arguments
// are the strategy, where an exhaustive search runs all schedules, which are fewer, and whether
// events are split.
void BM_Schedules(benchmark::State& state) {
  constexpr int64_t kSchedules = 1000;
  const StrategyName& strategy = AllStrategies()[static_cast<size_t>(state.range(0))];
  const auto experiment = [](World& world) {
    for (const char* name : {"a", "b", "c"}) world.Spawn(name, AddByReadAndWrite);
    world.AddFinalInvariant("it exists", [&world] {
      const std::unique_ptr<memory::Session> session = world.Connect();
      const auto count = base::Run(store::Get(*session, "count"));
      return count->has_value() ? absl::OkStatus() : absl::InternalError("it does not");
    });
  };
  int64_t schedules = 0;
  for (auto _ : state) {
    schedules += Explore(experiment, {.world = {.events = EventsOf(state.range(1))},
                                      .strategy = strategy.strategy,
                                      .schedules = kSchedules})
                     .schedules;
  }
  state.SetItemsProcessed(schedules);
  state.SetLabel(std::string(strategy.name));
}
BENCHMARK(BM_Schedules)
    ->ArgNames({"strategy", "split"})
    ->ArgsProduct({benchmark::CreateDenseRange(static_cast<int>(Strategy::kExhaustive),
                                               static_cast<int>(Strategy::kMutation), /*step=*/1),
                   {0, 1}})
    ->Unit(benchmark::kMillisecond);

// One new key each minute that expires 70 seconds later, like the counter of a rate limit.
void BM_YearOfMinutes(benchmark::State& state) {
  constexpr int64_t kMinutes = 365 * 24 * 60;
  for (auto _ : state) {
    World world;
    world.Spawn("a", [](Actor& actor) -> base::Task<void> {
      const store::SetOptions options{.expiry = store::Expiry::In(absl::Seconds(70))};
      for (int64_t minute = 0; minute < kMinutes; ++minute) {
        const std::string key = "rate:" + std::to_string(minute);
        (void)co_await store::Set(actor.store(), key, "1", options);
        co_await actor.clock().Sleep(absl::Minutes(1));
      }
    });
    world.Run({.max_steps = INT64_MAX});
  }
  state.SetItemsProcessed(state.iterations() * kMinutes);
}
BENCHMARK(BM_YearOfMinutes)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace redouble::inline v0_1::sim
