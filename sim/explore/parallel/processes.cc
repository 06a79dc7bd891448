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
  Pool(size_t tasks, size_t jobs, const std::function<std::string(size_t)>& work,
       const std::function<bool(size_t, const std::string&)>& done)
      : end_(tasks), jobs_(jobs), work_(work), done_(done) {}
  ~Pool() { StopFrom(0); }

  absl::Status Run() {
    while (next_ < end_ || !children_.empty()) {
      while (next_ < end_ && children_.size() < jobs_) {
        REDOUBLE_RETURN_IF_ERROR(Begin(next_++));
      }
      REDOUBLE_RETURN_IF_ERROR(Wait());
    }
    return absl::OkStatus();
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
      WriteAll(ends[1], work_(task));
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
    if (done_(task, result)) StopFrom(task + 1);
    return absl::OkStatus();
  }

  static int End(const Child& child) {
    close(child.pipe);
    int state = 0;
    while (waitpid(child.pid, &state, 0) < 0 && errno == EINTR) {
    }
    return state;
  }

  void StopFrom(size_t first) {
    end_ = std::min(end_, first);
    for (auto child = children_.lower_bound(first); child != children_.end();) {
      kill(child->second.pid, SIGKILL);
      End(child->second);
      child = children_.erase(child);
    }
  }

  static absl::Status Failed(const char* what) {
    return absl::UnavailableError(absl::StrCat(what, ": ", std::strerror(errno)));
  }

  size_t end_;
  const size_t jobs_;
  const std::function<std::string(size_t)>& work_;
  const std::function<bool(size_t, const std::string&)>& done_;
  size_t next_ = 0;
  std::map<size_t, Child> children_;
};

}  // namespace

absl::Status RunInProcesses(size_t tasks, int jobs, const std::function<std::string(size_t)>& work,
                            const std::function<bool(size_t, const std::string&)>& done) {
  return Pool(tasks, static_cast<size_t>(std::max(jobs, 1)), work, done).Run();
}

}  // namespace redouble::inline v0_1::sim
