// Work spread over child processes: for seeds that know nothing of each other.
//
//   RunInProcesses(/*tasks=*/20, /*jobs=*/2, [](size_t task) { return Explore(task); },
//                  [&](size_t task, const std::string& result) { return IsFound(result); });
//
// The children are forks: what they compute comes back as the bytes that they return, and nothing
// else does.
//
// Thread-safety: one thread, and no other thread may run when it is called.
#ifndef REDOUBLE_SIM_CLI_PROCESSES_H_
#define REDOUBLE_SIM_CLI_PROCESSES_H_

#include <cstddef>
#include <functional>
#include <string>

#include "absl/status/status.h"

namespace redouble::sim {

// Calls `work` with 0, 1, ... tasks - 1, each in a process of its own, at most `jobs` at once, and
// `done` here with what it returned, in the order in which they end. When `done` returns true, the
// tasks behind that one are ended or never begun; those before it still come to their end.
// Errors: Unavailable when a process cannot be made; Internal when one dies.
absl::Status RunInProcesses(size_t tasks, int jobs, const std::function<std::string(size_t)>& work,
                            const std::function<bool(size_t, const std::string&)>& done);

}  // namespace redouble::sim

#endif  // REDOUBLE_SIM_CLI_PROCESSES_H_
