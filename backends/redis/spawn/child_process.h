// ChildProcess: one program run beside this one, which never outlives it.
//
// The kernel kills a child "with its parent" (PR_SET_PDEATHSIG) when the *thread* that forked it
// ends. Each ChildProcess therefore has a thread of its own that forks the child, waits for it and
// reaps it; the child dies with the object, with this process, even one killed by SIGKILL, and with
// nothing less.
//
// Thread-safety: every function may be called from any thread. A signal is never sent to a process
// id that the kernel may have given to someone else: reaping and signalling exclude each other.
//
//     ChildProcessOptions options;
//     options.executable = "/usr/bin/redis-server";
//     options.output_path = "/tmp/x/redis.log";
//     auto child = ChildProcess::Start(options);
//     if (!child.ok()) return child.status();
//     (*child)->Signal(SIGTERM);
//     bool gone = (*child)->WaitForExit(absl::Seconds(5));

#ifndef REDOUBLE_BACKENDS_REDIS_SPAWN_CHILD_PROCESS_H_
#define REDOUBLE_BACKENDS_REDIS_SPAWN_CHILD_PROCESS_H_

#include <sys/types.h>

#include <condition_variable>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace redouble::redis {

struct ChildProcessOptions {
  // Absolute path of the program.
  std::string executable;

  // What follows argv[0]. argv[0] is `executable`.
  std::vector<std::string> arguments;

  // Set on top of this process's environment, replacing variables of the same name.
  std::vector<std::pair<std::string, std::string>> environment;

  // Standard output and error are appended to this file, created at need. Standard input is empty.
  std::string output_path;
};

class ChildProcess {
 public:
  // Starts the program and returns once it runs: exec has succeeded.
  // Errors: the errno of fork, exec or of opening `output_path` as a status, with the path.
  static absl::StatusOr<std::unique_ptr<ChildProcess>> Start(const ChildProcessOptions& options);

  // Kills the child with SIGKILL if it still runs, and waits until it is gone.
  ~ChildProcess();

  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // The process id, also after the child has gone.
  pid_t pid() const { return pid_; }

  // Sends a signal; false, and nothing is sent, when the child has gone.
  bool Signal(int signal);

  // Blocks until the child has gone or `timeout` (real time) has passed; true when it has gone.
  bool WaitForExit(absl::Duration timeout);

  // How the child ended: "exited with status 1", "was killed by signal 9"; "still runs" before.
  std::string DescribeExit() const;

 private:
  ChildProcess() = default;

  // What the supervising thread does: starts the child, says so, and waits for its end.
  void Supervise(const ChildProcessOptions& options, std::promise<absl::StatusOr<pid_t>> launched);

  pid_t pid_ = 0;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<int> wait_status_;  // Guarded by mutex_; set when the child has been reaped.
  std::thread supervisor_;
};

// The absolute path of a program: `name` itself when it has a slash and can be executed, else the
// first of that name on $PATH.
// Errors: NotFound, saying where it was looked for.
absl::StatusOr<std::string> FindExecutable(const std::string& name);

}  // namespace redouble::redis

#endif  // REDOUBLE_BACKENDS_REDIS_SPAWN_CHILD_PROCESS_H_
