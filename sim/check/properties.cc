#include "redouble/sim/check/properties.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "redouble/sim/check/serial.h"
#include "redouble/sim/decision/decisions.h"

namespace redouble::inline v0_1::sim {

void AddLinearizable(World& world, std::string name, std::shared_ptr<History> history,
                     const SequentialModel& model, std::string keys) {
  history->SetObserver([&world](bool ends) { world.OnShared("the history", ends); });
  world.AddFinalInvariant(
      std::move(name),
      [history = std::move(history), &model, keys = std::move(keys)]() -> absl::Status {
        const auto violation = CheckLinearizable(*history, model, keys);
        if (!violation) return absl::OkStatus();
        return absl::FailedPreconditionError(absl::StrCat("no order of the operations on ",
                                                          violation->key, " gives these replies\n",
                                                          violation->history));
      });
}

void AddMonotone(World& world, std::string name, std::function<double()> value) {
  world.AddInvariant(
      std::move(name),
      [value = std::move(value), last = std::optional<double>()]() mutable -> absl::Status {
        const double now = value();
        const double before = std::exchange(last, now).value_or(now);
        if (now >= before) return absl::OkStatus();
        return absl::FailedPreconditionError(absl::StrCat("goes back from ", before, " to ", now));
      },
      InvariantReads::kServerOnly);
}

absl::Status Deliveries::Check(bool may_be_missing) const {
  for (const auto& [id, count] : counts_) {
    if (count == 1 || (count == 0 && may_be_missing)) continue;
    return absl::FailedPreconditionError(count == 0 ? absl::StrCat(id, " is missing")
                                                    : absl::StrCat(id, " came ", count, " times"));
  }
  return absl::OkStatus();
}

void AddExactlyOnce(World& world, std::string name, std::shared_ptr<const Deliveries> deliveries,
                    bool may_be_missing) {
  world.AddFinalInvariant(std::move(name),
                          [deliveries = std::move(deliveries), may_be_missing]() -> absl::Status {
                            return deliveries->Check(may_be_missing);
                          });
}

std::set<std::string> SerialOutcomes(
    const std::function<std::function<std::string()>(World&)>& fill, WorldOptions options) {
  std::set<std::string> outcomes;
  options.faults.clear();
  options.events = Events::kAtomic;
  options.clock_moves = 0;
  size_t actors = 0;
  {
    RecordedDecisions quiet({});
    options.decisions = &quiet;
    World world(options);
    fill(world);
    actors = world.actors().size();
  }
  ForEachSerialOrder(actors, [&](DecisionSource& decisions) {
    options.decisions = &decisions;
    World world(options);
    const std::function<std::string()> outcome = fill(world);
    world.Run();
    outcomes.insert(outcome());
  });
  return outcomes;
}

void AddSerializable(World& world, std::string name, std::set<std::string> serial_outcomes,
                     std::function<std::string()> outcome) {
  world.AddFinalInvariant(
      std::move(name),
      [serial_outcomes = std::move(serial_outcomes),
       outcome = std::move(outcome)]() -> absl::Status {
        const std::string got = outcome();
        if (serial_outcomes.contains(got)) return absl::OkStatus();
        return absl::FailedPreconditionError(absl::StrCat("no serial order gives ", got));
      });
}

}  // namespace redouble::inline v0_1::sim
