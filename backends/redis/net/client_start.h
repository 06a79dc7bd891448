// What the clients of several servers share: their clock, and awaiting a start that calls back.
//
// Internal to the cluster and sentinel clients.
//
// Thread-safety: as the clients.
#ifndef REDOUBLE_BACKENDS_REDIS_NET_CLIENT_START_H_
#define REDOUBLE_BACKENDS_REDIS_NET_CLIENT_START_H_

#include <chrono>
#include <coroutine>
#include <cstdint>

#include "core/base/resume.h"

namespace redouble::redis {

// The time of the machines: microseconds that never go back.
inline int64_t SteadyMicros() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Awaits core.Start(callback); going away before it has called back closes the core.
template <typename Core>
class StartAwaiter {
 public:
  explicit StartAwaiter(Core& core) : core_(core) {}
  ~StartAwaiter() {
    if (!done_) core_.Close("nobody waits for the client any more");
  }
  StartAwaiter(const StartAwaiter&) = delete;
  StartAwaiter& operator=(const StartAwaiter&) = delete;

  bool await_ready() { return false; }
  void await_suspend(std::coroutine_handle<> awaiting) {
    core_.Start([this, awaiting] {
      done_ = true;
      base::Resume(awaiting);
    });
  }
  void await_resume() {}

 private:
  Core& core_;
  bool done_ = false;
};

}  // namespace redouble::redis

#endif  // REDOUBLE_BACKENDS_REDIS_NET_CLIENT_START_H_
