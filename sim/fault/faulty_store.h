// FaultyStore: a store that injects faults into the requests that pass through it.
//
// Use it to test client code against lost replies, error replies, delays and closed connections,
// over any other store: a session of the memory engine, a live client, a fake. The faults are rows
// of the fault table (sim/fault/fault.h); rules say which requests they apply to and how often. The
// same seed and the same requests give the same faults.
//
//   FaultyStore faulty(store, clock, {
//       .seed = 7,
//       .faults = {{.fault = Fault::kDropReply, .command = "INCR", .probability = 0.3}}});
//   absl::StatusOr<int64_t> count = co_await store::Incr(faulty, "k");
//   // About every third INCR is executed and fails with an unknown outcome.
//
// | fault        | what happens to the request                                                    |
// | ------------ | ------------------------------------------------------------------------------ |
// | drop_request | It is not forwarded; fails with kOutcomeUnknown.                               |
// | drop_reply   | It is forwarded; fails with kOutcomeUnknown unless the inner store failed.     |
// | delay        | It is forwarded after FaultRule::duration on the clock.                        |
// | duplicate    | It is forwarded, and again once the first reply has arrived; returns the       |
// |              | second reply. A first attempt that blocks delays the second one.               |
// | error_reply  | It is not forwarded; the reply is the error FaultRule::error.                  |
// | disconnect   | It is not forwarded; fails with kNotSent after FaultyStoreOptions::disconnect. |
//
// Cost: requests pass without a coroutine if there are no rules, otherwise as InterceptingStore.
//
// Thread-safety: that of the inner store.
#ifndef REDOUBLE_SIM_FAULT_FAULTY_STORE_H_
#define REDOUBLE_SIM_FAULT_FAULTY_STORE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/base/time/clock.h"
#include "redouble/core/store/reply.h"
#include "redouble/core/store/store.h"
#include "redouble/core/store/wrappers/intercepting_store.h"
#include "redouble/sim/decision/decisions.h"
#include "redouble/sim/fault/fault.h"

namespace redouble::inline v0_1::sim {

struct FaultyStoreOptions {
  // Decides whether a rule with a probability fires.
  uint64_t seed = 1;
  // The rules, in the order in which they are tried. Every fault must apply to FaultSite::kStore.
  std::vector<FaultRule> faults = {};
  // The name that FaultRule::actor is compared with.
  std::string client = {};
  // Makes the decisions instead of the seed if not null; must outlive the store.
  DecisionSource* decisions = nullptr;
  // Closes the connection of the inner store when the fault "disconnect" is injected. Without it
  // the request fails and the inner store keeps its MULTI, WATCH and SELECT state.
  std::function<void()> disconnect = {};
};

class FaultyStore final : public store::InterceptingStore {
 public:
  // `inner` and `clock` must outlive this store. If a rule has a fault that does not apply to
  // stores, every request fails with InvalidArgument and is not sent.
  FaultyStore(store::Store& inner, base::Clock& clock, FaultyStoreOptions options);
  FaultyStore(const FaultyStore&) = delete;
  FaultyStore& operator=(const FaultyStore&) = delete;

  // How many faults were injected.
  int64_t faults_injected() const { return plan_.injected(); }
  // Injects no further faults.
  void Heal() { plan_ = FaultPlan(); }

 private:
  using Result = absl::StatusOr<store::Reply>;

  bool Intercepts(const store::Request& request) override;
  base::Task<Result> Intercept(const store::Request& request) override;
  base::Task<Result> Inject(FaultRule rule, const store::Request& request);

  base::Clock& clock_;
  const std::string client_;
  RandomDecisions seeded_decisions_;
  DecisionSource& decisions_;
  const std::function<void()> disconnect_;
  absl::Status status_;
  FaultPlan plan_;
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_FAULT_FAULTY_STORE_H_
