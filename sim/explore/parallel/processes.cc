#include "redouble/sim/explore/parallel/processes.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"

namespace redouble::inline v0_1::sim {
namespace {

struct Child {
  pid_t pid;
  int pipe;
  std::string result;
};

void WriteAll(int file, const std::string& text) {
  for (size_t written = 0; written < text.size();) {
    const ssize_t count = write(file, text.data() + written, text.size() - written);
    if (count <= 0) _exit(1);
    written += static_cast<size_t>(count);
  }
}

class Pool {
 public:
  Pool(ProcessTasks& tasks, size_t jobs) : tasks_(tasks), jobs_(jobs) {}
  ~Pool() {
    for (const auto& [task, child] : children_) Kill(child);
  }

  absl::Status Run() {
    while (true) {
      while (children_.size() < jobs_) {
        const std::optional<size_t> task = tasks_.Next();
        if (!task) break;
        REDOUBLE_RETURN_IF_ERROR(Begin(*task));
      }
      if (children_.empty()) return absl::OkStatus();
      REDOUBLE_RETURN_IF_ERROR(Wait());
    }
  }

 private:
  absl::Status Begin(size_t task) {
    std::array<int, 2> ends;
    if (pipe(ends.data()) != 0) return Failed("pipe");
    const pid_t pid = fork();
    if (pid < 0) {
      const absl::Status failed = Failed("fork");
      close(ends[0]);
      close(ends[1]);
      return failed;
    }
    if (pid == 0) {
      close(ends[0]);
      WriteAll(ends[1], tasks_.Work(task));
      // Ends the child without running destructors and exit handlers of the parent.
      _exit(0);
    }
    close(ends[1]);
    children_.emplace(task, Child{pid, ends[0], {}});
    return absl::OkStatus();
  }

  // Waits until a child has written or ended.
  absl::Status Wait() {
    std::vector<pollfd> files;
    std::vector<size_t> tasks;
    for (const auto& [task, child] : children_) {
      files.push_back(pollfd{child.pipe, POLLIN, 0});
      tasks.push_back(task);
    }
    if (poll(files.data(), files.size(), -1) < 0 && errno != EINTR) return Failed("poll");
    for (size_t i = 0; i < files.size(); ++i) {
      if (files[i].revents == 0 || !children_.contains(tasks[i])) continue;
      REDOUBLE_RETURN_IF_ERROR(Read(tasks[i]));
    }
    return absl::OkStatus();
  }

  absl::Status Read(size_t task) {
    Child& child = children_.at(task);
    std::array<char, 64 * 1024> chunk;
    const ssize_t count = read(child.pipe, chunk.data(), chunk.size());
    if (count > 0) {
      child.result.append(chunk.data(), static_cast<size_t>(count));
      return absl::OkStatus();
    }
    const std::string result = std::move(child.result);
    const int state = End(child);
    children_.erase(task);
    if (state != 0) {
      return absl::InternalError(absl::StrCat("the process of task ", task, " died: ", state));
    }
    tasks_.Done(task, result);
    std::erase_if(children_, [this](const auto& entry) {
      const bool is_needed = tasks_.IsNeeded(entry.first);
      if (!is_needed) Kill(entry.second);
      return !is_needed;
    });
    return absl::OkStatus();
  }

  static int End(const Child& child) {
    close(child.pipe);
    int state = 0;
    while (waitpid(child.pid, &state, 0) < 0 && errno == EINTR) {
    }
    return state;
  }

  static void Kill(const Child& child) {
    kill(child.pid, SIGKILL);
    End(child);
  }

  static absl::Status Failed(const char* what) {
    return absl::UnavailableError(absl::StrCat(what, ": ", std::strerror(errno)));
  }

  ProcessTasks& tasks_;
  const size_t jobs_;
  std::map<size_t, Child> children_;
};

// Tasks that are all known at the beginning.
class NumberedTasks final : public ProcessTasks {
 public:
  NumberedTasks(size_t tasks, const std::function<std::string(size_t)>& work,
                const std::function<bool(size_t, const std::string&)>& done)
      : end_(tasks), work_(work), done_(done) {}

  std::optional<size_t> Next() override {
    if (next_ >= end_) return std::nullopt;
    return next_++;
  }
  std::string Work(size_t task) override { return work_(task); }
  void Done(size_t task, const std::string& result) override {
    if (done_(task, result)) end_ = std::min(end_, task + 1);
  }
  bool IsNeeded(size_t task) const override { return task < end_; }

 private:
  size_t end_;
  size_t next_ = 0;
  const std::function<std::string(size_t)>& work_;
  const std::function<bool(size_t, const std::string&)>& done_;
};

}  // namespace

absl::Status RunInProcesses(ProcessTasks& tasks, int jobs) {
  return Pool(tasks, static_cast<size_t>(std::max(jobs, 1))).Run();
}

absl::Status RunInProcesses(size_t tasks, int jobs, const std::function<std::string(size_t)>& work,
                            const std::function<bool(size_t, const std::string&)>& done) {
  NumberedTasks numbered(tasks, work, done);
  return RunInProcesses(numbered, jobs);
}

}  // namespace redouble::inline v0_1::sim
