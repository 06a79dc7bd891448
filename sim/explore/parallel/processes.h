// Divides independent tasks, such as seeds, among child processes.
//
//   RunInProcesses(/*tasks=*/20, /*jobs=*/2, [](size_t task) { return Explore(task); },
//                  [&](size_t task, const std::string& result) { return IsFound(result); });
//
// The children are forks: their only output is the bytes that `work` returns.
//
// Thread-safety: one thread; no other thread may run when it is called.
#ifndef REDOUBLE_SIM_EXPLORE_PARALLEL_PROCESSES_H_
#define REDOUBLE_SIM_EXPLORE_PARALLEL_PROCESSES_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "absl/status/status.h"

namespace redouble::inline v0_1::sim {

// Tasks of which some are known only when others are done.
class ProcessTasks {
 public:
  virtual ~ProcessTasks() = default;
  // Returns the task to begin next; nullopt if no task can begin before another one is done, and
  // when all tasks have begun.
  virtual std::optional<size_t> Next() = 0;
  // Does the task. Called in a process of its own.
  virtual std::string Work(size_t task) = 0;
  // Called with each result, in the order in which the processes end.
  virtual void Done(size_t task, const std::string& result) = 0;
  // Returns false for a task that has begun and that is to be killed. Called after Done().
  virtual bool IsNeeded(size_t task) const = 0;
};
// Does all tasks, at most `jobs` at once. Errors: as below.
absl::Status RunInProcesses(ProcessTasks& tasks, int jobs);

// Calls `work` with 0, 1, ... tasks - 1, each in its own process, at most `jobs` at once, and calls
// `done` in this process with each result, in the order in which the processes end. When `done`
// returns true, the tasks with a higher number are killed or not started; those with a lower number
// finish. Errors: Unavailable if a process cannot be created; Internal if one dies.
absl::Status RunInProcesses(size_t tasks, int jobs, const std::function<std::string(size_t)>& work,
                            const std::function<bool(size_t, const std::string&)>& done);

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_EXPLORE_PARALLEL_PROCESSES_H_
