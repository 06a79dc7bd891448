// ChildProcess: a program that runs beside this process and never outlives it.
//
// The kernel's "kill with the parent" (PR_SET_PDEATHSIG) applies when the *thread* that forked the
// child ends. Each ChildProcess therefore has a thread that forks the child, waits for it and reaps
// it. The child dies with the object, or with this process, even if that is killed by SIGKILL.
//
//     ChildProcessOptions options;
//     options.executable = "/usr/bin/redis-server";
//     options.output_path = "/tmp/x/redis.log";
//     auto child = ChildProcess::Start(options);
//     if (!child.ok()) return child.status();
//     (*child)->Signal(SIGTERM);
//     bool exited = (*child)->WaitForExit(absl::Seconds(5));
//
// Thread-safety: every function may be called from any thread. Reaping and signalling exclude each
// other, so no signal reaches a process id that the kernel has reused.

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

namespace redouble::inline v0_1::redis {

struct ChildProcessOptions {
  // Absolute path of the program.
  std::string executable;

  // The arguments after argv[0], which is `executable`.
  std::vector<std::string> arguments;

  // Variables added to this process's environment; they replace variables of the same name.
  std::vector<std::pair<std::string, std::string>> environment;

  // Standard output and error are appended to this file, which is created if necessary. Standard
  // input is empty.
  std::string output_path;

  // The program leads a process group of its own. Signals reach the group, that is, also what the
  // program has started, and when the program ends, the rest of the group is killed. If this
  // process is killed by SIGKILL, only the program itself dies with it.
  bool leads_group = false;
};

class ChildProcess {
 public:
  // Starts the program and returns once exec has succeeded.
  // Errors: the errno of fork, exec or of opening `output_path` as a status, with the path.
  static absl::StatusOr<std::unique_ptr<ChildProcess>> Start(const ChildProcessOptions& options);

  // Kills the child, or its group, with SIGKILL if the child still runs, and waits until it has
  // ended.
  ~ChildProcess();

  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // The process id, also after the child has ended.
  pid_t pid() const { return pid_; }

  // Sends a signal to the child, or to its group. Returns false, without sending it, if the child
  // has ended.
  bool Signal(int signal);

  // Waits until the child has ended or `timeout` (real time) has passed. Returns whether it has
  // ended.
  bool WaitForExit(absl::Duration timeout);

  // How the child ended: "exited with status 1", "was killed by signal 9"; "still runs" before.
  std::string DescribeExit() const;

  // The exit status; nullopt while the child runs, and if a signal has ended it.
  std::optional<int> ExitStatus() const;

 private:
  ChildProcess() = default;

  // The body of the supervising thread: starts the child, reports the result, and waits for its
  // end.
  void Supervise(const ChildProcessOptions& options, std::promise<absl::StatusOr<pid_t>> launched);

  pid_t pid_ = 0;
  bool leads_group_ = false;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<int> wait_status_;  // Guarded by mutex_; set once the child has been reaped.
  std::thread supervisor_;
};

// The absolute path of a program: `name` itself if it contains a slash and is executable, else the
// first match on $PATH.
// Errors: NotFound, with the searched places.
absl::StatusOr<std::string> FindExecutable(const std::string& name);

}  // namespace redouble::inline v0_1::redis

#endif  // REDOUBLE_BACKENDS_REDIS_SPAWN_CHILD_PROCESS_H_
