// Watched: a storm whose worlds a test looks at now and then.
//
//   const sim::StormRunner runner(Watched(sim::GatewayStorm(), 150, look), variant, /*seed=*/1);
//
// Thread-safety: as StormSystem. For tests only.
#ifndef REDOUBLE_TESTS_PROPERTY_WATCHED_STORM_H_
#define REDOUBLE_TESTS_PROPERTY_WATCHED_STORM_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "redouble/sim/storm/storm.h"

namespace redouble::inline v0_1::tests {

using LookAtWorld = std::function<void(sim::World&)>;

class WatchedStorm final : public sim::Storm {
 public:
  WatchedStorm(sim::World& world, std::unique_ptr<sim::Storm> inner, int64_t every,
               LookAtWorld look)
      : world_(world), inner_(std::move(inner)), every_(every), look_(std::move(look)) {}

  base::Task<void> Act(sim::Actor& actor, store::Store& store, size_t role,
                       sim::StormWork& work) override {
    return inner_->Act(actor, store, role, work);
  }
  base::Task<void> Drain(sim::Actor& actor, store::Store& store) override {
    return inner_->Drain(actor, store);
  }
  void Observe() override {
    inner_->Observe();
    if (++steps_ % every_ == 0) look_(world_);
  }
  void Judge(sim::Verdicts& verdicts) override {
    inner_->Judge(verdicts);
    look_(world_);
  }

 private:
  sim::World& world_;
  const std::unique_ptr<sim::Storm> inner_;
  const int64_t every_;
  const LookAtWorld look_;
  int64_t steps_ = 0;
};

// The system, with `look` called after every so many steps of each world and at its end.
inline sim::StormSystem Watched(sim::StormSystem system, int64_t every, LookAtWorld look) {
  const auto make = system.make;
  system.make = [=](sim::World& world,
                    const sim::StormVariant& variant) -> std::unique_ptr<sim::Storm> {
    return std::make_unique<WatchedStorm>(world, make(world, variant), every, look);
  };
  return system;
}

}  // namespace redouble::inline v0_1::tests

#endif  // REDOUBLE_TESTS_PROPERTY_WATCHED_STORM_H_
