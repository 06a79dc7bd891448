#include "redouble/backends/redis/spawn/child_process.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif

#include <cerrno>
#include <climits>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "redouble/core/base/posix/sockets.h"
#include "redouble/core/base/status/status_macros.h"

namespace redouble::inline v0_1::redis {
namespace {

// The data that the child needs between fork and exec, prepared before the fork. After the fork
// only async-signal-safe calls are allowed, because another thread may have held any lock at that
// moment.
struct ExecPlan {
  const char* executable;
  std::vector<char*> arguments;
  std::vector<char*> environment;
  pid_t parent;
  int input;
  int output;
  int error_pipe;
  bool leads_group;
};

[[noreturn]] void ExecInChild(const ExecPlan& plan) {
#ifdef PR_SET_PDEATHSIG
  prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
  // If the parent died before the line above, the kernel would not kill this child any more.
  if (getppid() != plan.parent) _exit(127);
  if (plan.leads_group) setpgid(0, 0);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  dup2(plan.input, STDIN_FILENO);
  dup2(plan.output, STDOUT_FILENO);
  dup2(plan.output, STDERR_FILENO);
#ifdef SYS_close_range
  constexpr unsigned kCloseOnExec = 1U << 2;
  syscall(SYS_close_range, 3U, ~0U, kCloseOnExec);
#endif
  execve(plan.executable, plan.arguments.data(), plan.environment.data());
  const int error = errno;
  const ssize_t ignored = write(plan.error_pipe, &error, sizeof(error));
  (void)ignored;
  _exit(127);
}

std::vector<std::string> EnvironmentWith(
    const std::vector<std::pair<std::string, std::string>>& changes) {
  std::vector<std::string> result;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    bool replaced = false;
    for (const auto& [name, value] : changes) replaced |= absl::StartsWith(text, name + "=");
    if (!replaced) result.push_back(text);
  }
  for (const auto& [name, value] : changes) result.push_back(absl::StrCat(name, "=", value));
  return result;
}

std::vector<char*> PointersTo(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// The errno of a failed exec; nullopt once exec has closed the pipe.
std::optional<int> ReadExecError(int error_pipe) {
  int error = 0;
  ssize_t count;
  do {
    count = read(error_pipe, &error, sizeof(error));
  } while (count < 0 && errno == EINTR);
  if (count == static_cast<ssize_t>(sizeof(error))) return error;
  return std::nullopt;
}

absl::StatusOr<pid_t> ForkAndExec(const ChildProcessOptions& options) {
  std::vector<std::string> arguments = {options.executable};
  arguments.insert(arguments.end(), options.arguments.begin(), options.arguments.end());
  std::vector<std::string> environment = EnvironmentWith(options.environment);
  ExecPlan plan = {options.executable.c_str(),
                   PointersTo(arguments),
                   PointersTo(environment),
                   getpid(),
                   -1,
                   -1,
                   -1,
                   options.leads_group};
  plan.output = open(options.output_path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (plan.output < 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot open ", options.output_path));
  }
  absl::Cleanup output_closer = [&plan] { close(plan.output); };
  plan.input = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (plan.input < 0) return absl::ErrnoToStatus(errno, "cannot open /dev/null");
  absl::Cleanup input_closer = [&plan] { close(plan.input); };
  int ends[2];
  if (base::OpenPipe(ends) != 0) return absl::ErrnoToStatus(errno, "cannot make a pipe");
  absl::Cleanup reader_closer = [&ends] { close(ends[0]); };
  plan.error_pipe = ends[1];

  const pid_t pid = fork();
  if (pid == 0) ExecInChild(plan);
  const int fork_error = errno;
  close(ends[1]);
  if (pid < 0) return absl::ErrnoToStatus(fork_error, "cannot fork");
  const std::optional<int> exec_error = ReadExecError(ends[0]);
  if (!exec_error.has_value()) return pid;
  waitpid(pid, nullptr, 0);
  return absl::ErrnoToStatus(*exec_error, absl::StrCat("cannot execute ", options.executable));
}

bool CanExecute(const std::string& path) { return access(path.c_str(), X_OK) == 0; }

}  // namespace

absl::StatusOr<std::unique_ptr<ChildProcess>> ChildProcess::Start(
    const ChildProcessOptions& options) {
  std::unique_ptr<ChildProcess> child(new ChildProcess);
  child->leads_group_ = options.leads_group;
  std::promise<absl::StatusOr<pid_t>> launched;
  std::future<absl::StatusOr<pid_t>> result = launched.get_future();
  // The thread owns the promise: it may still use it when this function returns.
  child->supervisor_ =
      std::thread([self = child.get(), options, launched = std::move(launched)]() mutable {
        self->Supervise(options, std::move(launched));
      });
  REDOUBLE_RETURN_IF_ERROR(result.get().status());
  return child;
}

void ChildProcess::Supervise(const ChildProcessOptions& options,
                             std::promise<absl::StatusOr<pid_t>> launched) {
  absl::StatusOr<pid_t> pid = ForkAndExec(options);
  const bool started = pid.ok();
  if (started) pid_ = *pid;
  launched.set_value(std::move(pid));
  if (!started) return;

  // Wait without reaping, then reap under the lock, so that no signal reaches a reused process id.
  siginfo_t info;
  while (waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
  }
  std::lock_guard<std::mutex> lock(mutex_);
  if (leads_group_) kill(-pid_, SIGKILL);
  int status = 0;
  waitpid(pid_, &status, 0);
  wait_status_ = status;
  changed_.notify_all();
}

ChildProcess::~ChildProcess() {
  if (pid_ != 0) Signal(SIGKILL);
  if (supervisor_.joinable()) supervisor_.join();
}

bool ChildProcess::Signal(int signal) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (wait_status_.has_value()) return false;
  return kill(leads_group_ ? -pid_ : pid_, signal) == 0;
}

bool ChildProcess::WaitForExit(absl::Duration timeout) {
  std::unique_lock<std::mutex> lock(mutex_);
  return changed_.wait_for(lock, absl::ToChronoNanoseconds(timeout),
                           [this] { return wait_status_.has_value(); });
}

std::string ChildProcess::DescribeExit() const {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!wait_status_.has_value()) return "still runs";
  if (WIFSIGNALED(*wait_status_)) {
    return absl::StrCat("was killed by signal ", WTERMSIG(*wait_status_));
  }
  return absl::StrCat("exited with status ", WEXITSTATUS(*wait_status_));
}

std::optional<int> ChildProcess::ExitStatus() const {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!wait_status_.has_value() || !WIFEXITED(*wait_status_)) return std::nullopt;
  return WEXITSTATUS(*wait_status_);
}

absl::StatusOr<std::string> FindExecutable(const std::string& name) {
  if (absl::StrContains(name, "/")) {
    char absolute[PATH_MAX];
    if (CanExecute(name) && realpath(name.c_str(), absolute) != nullptr) return absolute;
    return absl::NotFoundError(absl::StrCat(name, " is no program that can be executed"));
  }
  const char* path = getenv("PATH");
  const std::string folders = path == nullptr ? "" : path;
  for (const std::string& folder :
       std::vector<std::string>(absl::StrSplit(folders, ':', absl::SkipEmpty()))) {
    const std::string candidate = absl::StrCat(folder, "/", name);
    if (CanExecute(candidate)) return candidate;
  }
  return absl::NotFoundError(absl::StrCat(name, " is in no folder of PATH (", folders, ")"));
}

}  // namespace redouble::inline v0_1::redis
