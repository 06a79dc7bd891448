// The faults that a scenario can cause: one table.
//
//   | fault   | what happens                                                                     |
//   | ------- | -------------------------------------------------------------------------------- |
//   | flush   | All keys are gone, as after FLUSHALL; connections stay.                          |
//   | restart | The server dies and comes back empty. Every connection breaks, and each command  |
//   |         | that a started call holds fails as `in_flight` says; connections are made anew   |
//   |         | when they are next used, without MULTI, WATCH or SELECT of before.               |
//
// Thread-safety: constant data.
#ifndef REDOUBLE_SIM_SCENARIO_FAULT_H_
#define REDOUBLE_SIM_SCENARIO_FAULT_H_

#include <span>
#include <string_view>

#include "absl/status/status.h"
#include "sim/scenario/backend.h"

namespace redouble::sim {

struct FaultKind {
  std::string_view name;
  // Whether connections break, so that the step has to say what becomes of commands in flight.
  bool breaks_connections;
  // Does it to the server.
  absl::Status (ScenarioBackend::*apply)();
};

// All rows, in the order of the table above.
std::span<const FaultKind> FaultKinds();

// The row of that name; null when there is none.
const FaultKind* FindFault(std::string_view name);

}  // namespace redouble::sim

#endif  // REDOUBLE_SIM_SCENARIO_FAULT_H_
