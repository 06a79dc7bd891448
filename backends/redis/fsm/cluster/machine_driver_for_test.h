// MachineDriver: the part of a test that every driver of a ClusterMachine or a SentinelMachine has.
//
// A driver owns the machine and the time, passes requests to the machine, and takes its actions
// after each event.
//
//   class Model : public MachineDriver<SentinelMachine> {
//    public:
//     explicit Model(const Options& options) : MachineDriver(options, nullptr) {}
//     void Collect() override { while (auto action = machine.NextAction()) ... }
//   };
//
// Thread-safety: one thread at a time.
#ifndef REDOUBLE_BACKENDS_REDIS_FSM_CLUSTER_MACHINE_DRIVER_FOR_TEST_H_
#define REDOUBLE_BACKENDS_REDIS_FSM_CLUSTER_MACHINE_DRIVER_FOR_TEST_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::redis {

template <typename Machine>
class MachineDriver : public store::RequestKeeper {
 public:
  template <typename... Arguments>
  explicit MachineDriver(Arguments&&... arguments)
      : machine(std::forward<Arguments>(arguments)...) {}

  void Submit(store::Request& request) {
    request.SetKeeper(this);
    machine.Submit(request, now_us);
    Collect();
  }
  void Abandon(store::Request& request) override {
    machine.Abandon(request);
    Collect();
  }

  // Takes the actions of the machine.
  virtual void Collect() = 0;

  // Moves the time, and calls the machine's timer whenever it is due.
  void PassInSteps(int64_t duration_us) {
    const int64_t end_us = now_us + duration_us;
    while (wake_us <= end_us) {
      now_us = std::max(now_us, std::exchange(wake_us, Machine::kNever));
      machine.Timer(now_us);
      Collect();
    }
    now_us = end_us;
  }

  Machine machine;
  int64_t now_us = 1'000'000;
  int64_t wake_us = Machine::kNever;     // When the timer is due.
  std::map<uint64_t, std::string> sent;  // What is under way, by the machine's ids, and its server.
};

}  // namespace redouble::inline v0_1::redis

#endif  // REDOUBLE_BACKENDS_REDIS_FSM_CLUSTER_MACHINE_DRIVER_FOR_TEST_H_
