// Gate: an awaitable for tests that is completed by Open().
//
// Use it to suspend a task at a known place and to resume it later:
//
//   base::Gate gate;
//   base::Task<void> task = [](base::Gate& gate) -> base::Task<void> { co_await gate; }(gate);
//   task.Start();
//   gate.Open();  // task.done() is true now.
//
// For tests only.
// Thread-safety: one thread.
#ifndef REDOUBLE_CORE_BASE_TASK_GATE_FOR_TEST_H_
#define REDOUBLE_CORE_BASE_TASK_GATE_FOR_TEST_H_

#include <coroutine>
#include <utility>

#include "redouble/core/base/task/resume.h"

namespace redouble::inline v0_1::base {

// At most one coroutine can wait at a gate.
class Gate {
 public:
  class Awaiter {
   public:
    explicit Awaiter(Gate& gate) : gate_(gate) {}
    Awaiter(const Awaiter&) = delete;
    Awaiter& operator=(const Awaiter&) = delete;
    ~Awaiter() {
      if (waits_) gate_.awaiting_ = {};
    }
    bool await_ready() const { return gate_.open_; }
    void await_suspend(std::coroutine_handle<> awaiting) {
      gate_.awaiting_ = awaiting;
      waits_ = true;
    }
    void await_resume() { waits_ = false; }

   private:
    Gate& gate_;
    bool waits_ = false;
  };

  // Waits until the gate is open.
  Awaiter operator co_await() { return Awaiter(*this); }

  // Resumes the waiting coroutine during this call. Later ones do not wait.
  void Open() {
    open_ = true;
    if (awaiting_) Resume(std::exchange(awaiting_, {}));
  }
  // Makes later coroutines wait again.
  void Close() { open_ = false; }
  bool has_waiter() const { return awaiting_ != nullptr; }

 private:
  bool open_ = false;
  std::coroutine_handle<> awaiting_;
};

}  // namespace redouble::inline v0_1::base

#endif  // REDOUBLE_CORE_BASE_TASK_GATE_FOR_TEST_H_
