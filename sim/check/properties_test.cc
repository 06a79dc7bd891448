// Each property finds the world that breaks it, and holds in the world that is mended.

#include "redouble/sim/check/properties.h"

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/typed/keys.h"
#include "redouble/core/store/typed/lists.h"
#include "redouble/core/store/typed/strings.h"
#include "redouble/sim/explore/explore.h"

namespace redouble::inline v0_1::sim {
namespace {

using base::Task;

std::string Read(World& world, std::string_view key) {
  const std::unique_ptr<memory::Session> session = world.Connect();
  return base::Run(store::Get(*session, key)).value().value_or("0");
}

// How the violation begins; "holds" if all schedules were run without one.
std::string Verdict(const Experiment& experiment, ExploreOptions options = {}) {
  options.strategy = Strategy::kExhaustive;
  const Exploration found = Explore(experiment, options);
  EXPECT_EQ(found.mistake, absl::OkStatus());
  if (!found.violation) return found.complete ? "holds" : "not complete";
  const std::string message(found.violation->status.message());
  return message.substr(0, message.find('\n'));
}

Experiment Adders(bool atomic) {
  return [atomic](World& world) {
    const auto history = std::make_shared<History>();
    for (const char* name : {"a", "b"}) {
      world.Spawn(name, [history, atomic](Actor& actor) -> Task<void> {
        const size_t operation = history->Begin(actor.name(), "n", {"INCR"});
        int64_t count = 0;
        if (atomic) {
          count = (co_await store::Incr(actor.store(), "n")).value();
        } else {
          const auto before = co_await store::Get(actor.store(), "n");
          count = std::stoll(before.value().value_or("0")) + 1;
          const std::string text = std::to_string(count);
          (void)co_await store::Set(actor.store(), "n", text);
        }
        history->End(operation, store::Reply::Integer(count));
      });
    }
    AddLinearizable(world, "count", history, CounterModel());
  };
}

TEST(Properties, LinearizableFindsALostUpdate) {
  EXPECT_EQ(Verdict(Adders(/*atomic=*/false)),
            "count: no order of the operations on n gives these replies");
  EXPECT_EQ(Verdict(Adders(/*atomic=*/true)), "holds");
}

// A model of one's own: a flag that is raised once.
class OnceModel final : public SequentialModel {
 public:
  std::optional<Step> Apply(std::string_view state, std::span<const std::string>) const override {
    return Step{"raised", store::Reply::Integer(state.empty() ? 1 : 0)};
  }
};

TEST(Properties, LinearizableTakesAModelOfOnesOwn) {
  static const OnceModel model;
  const auto raisers = [](bool atomic) -> Experiment {
    return [atomic](World& world) {
      const auto history = std::make_shared<History>();
      for (const char* name : {"a", "b"}) {
        world.Spawn(name, [history, atomic](Actor& actor) -> Task<void> {
          const size_t operation = history->Begin(actor.name(), "flag", {"RAISE"});
          bool is_first = false;
          if (atomic) {
            is_first = (co_await store::Incr(actor.store(), "flag")).value() == 1;
          } else {
            is_first = !(co_await store::Get(actor.store(), "flag")).value().has_value();
            (void)co_await store::Set(actor.store(), "flag", "1");
          }
          history->End(operation, store::Reply::Integer(is_first ? 1 : 0));
        });
      }
      AddLinearizable(world, "once", history, model);
    };
  };
  EXPECT_EQ(Verdict(raisers(false)),
            "once: no order of the operations on flag gives these replies");
  EXPECT_EQ(Verdict(raisers(true)), "holds");
}

TEST(Properties, MonotoneFindsAnOffsetThatGoesBack) {
  const auto committers = [](const char* second) -> Experiment {
    return [second](World& world) {
      for (const char* value : {"5", second}) {
        world.Spawn(value, [value](Actor& actor) -> Task<void> {
          (void)co_await store::Set(actor.store(), "offset", value);
        });
      }
      AddMonotone(world, "offset", [&world] { return std::stod(Read(world, "offset")); });
    };
  };
  EXPECT_EQ(Verdict(committers("3")), "offset: goes back from 5 to 3");
  EXPECT_EQ(Verdict(committers("5.0")), "holds");
}

TEST(Properties, ExactlyOnceFindsAJobThatTwoTake) {
  const auto workers = [](bool atomic) -> Experiment {
    return [atomic](World& world) {
      const std::unique_ptr<memory::Session> session = world.Connect();
      const std::string_view job = "j1";
      EXPECT_TRUE(base::Run(store::RPush(*session, "jobs", std::span(&job, 1))).ok());
      const auto deliveries = std::make_shared<Deliveries>();
      deliveries->Expect("j1");
      for (const char* name : {"a", "b"}) {
        world.Spawn(name, [deliveries, atomic](Actor& actor) -> Task<void> {
          const store::Command look(store::CommandId::kLIndex, {"jobs", "0"});
          const store::Command pop(store::CommandId::kLPop, {"jobs"});
          const auto taken = co_await actor.store().Execute(atomic ? pop : look);
          if (!atomic) (void)co_await actor.store().Execute(pop);
          if (!taken.value().is_nil()) deliveries->Deliver(std::string(taken.value().text()));
        });
      }
      AddExactlyOnce(world, "jobs", deliveries);
    };
  };
  EXPECT_EQ(Verdict(workers(false)), "jobs: j1 came 2 times");
  EXPECT_EQ(Verdict(workers(true)), "holds");
}

TEST(Deliveries, MayBeMissing) {
  Deliveries deliveries;
  deliveries.Expect("a");
  EXPECT_EQ(deliveries.Check().message(), "a is missing");
  EXPECT_TRUE(deliveries.Check(/*may_be_missing=*/true).ok());
}

TEST(Properties, SerializableFindsALostUpdate) {
  const auto fill = [](bool atomic) {
    return [atomic](World& world) -> std::function<std::string()> {
      for (const char* name : {"a", "b"}) {
        world.Spawn(name, [atomic](Actor& actor) -> Task<void> {
          if (atomic) {
            (void)co_await store::Append(actor.store(), "log", actor.name());
            co_return;
          }
          const auto log = co_await store::Get(actor.store(), "log");
          const std::string longer = log.value().value_or("") + actor.name();
          (void)co_await store::Set(actor.store(), "log", longer);
        });
      }
      return [&world] { return Read(world, "log"); };
    };
  };
  for (const bool atomic : {false, true}) {
    const std::set<std::string> serial = SerialOutcomes(fill(atomic));
    EXPECT_EQ(serial, (std::set<std::string>{"ab", "ba"}));
    const std::string verdict =
        Verdict([&](World& world) { AddSerializable(world, "log", serial, fill(atomic)(world)); });
    EXPECT_EQ(verdict.substr(0, verdict.find(" gives")), atomic ? "holds" : "log: no serial order");
  }
}

TEST(Properties, EventuallyWaitsForDaemonsAndTime) {
  const auto swept = [](absl::Duration within) -> Experiment {
    return [within](World& world) {
      world.Spawn("worker", [](Actor& actor) -> Task<void> {
        (void)co_await store::Set(actor.store(), "busy", "1");
        const std::string_view key = "busy";
        (void)co_await store::Del(actor.store(), std::span(&key, 1));
      });
      world.Spawn("sweeper",
                  [](Actor& actor) -> Task<void> {
                    while (true) {
                      co_await actor.clock().Sleep(absl::Seconds(10));
                      const std::string_view key = "busy";
                      (void)co_await store::Del(actor.store(), std::span(&key, 1));
                    }
                  },
                  {.daemon = true});
      world.AddEventually(
          "swept",
          [&world] {
            return Read(world, "busy") == "0" ? absl::OkStatus() : absl::InternalError("busy");
          },
          within);
    };
  };
  const ExploreOptions crashes{.world = {.faults = {{.fault = Fault::kCrash,
                                                     .actor = "worker",
                                                     .command = "DEL",
                                                     .probability = 0.5,
                                                     .duration = absl::InfiniteDuration()}}}};
  EXPECT_EQ(Verdict(swept(absl::Seconds(9)), crashes), "swept: busy, 9s after the last fault");
  EXPECT_EQ(Verdict(swept(absl::Seconds(10)), crashes), "holds");
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
