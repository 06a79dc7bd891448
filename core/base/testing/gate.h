// Gate: something for a test's coroutine to wait for.
//
//   base::Gate gate;
//   base::Task<void> task = [](base::Gate& gate) -> base::Task<void> { co_await gate; }(gate);
//   task.Start();
//   gate.Open();  // task.done() now
//
// For tests only. Thread-safety: one thread.
#ifndef REDOUBLE_CORE_BASE_TESTING_GATE_H_
#define REDOUBLE_CORE_BASE_TESTING_GATE_H_

#include <coroutine>
#include <utility>

#include "core/base/resume.h"

namespace redouble::base {

// One coroutine at a time can wait at a gate.
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

  // Lets the waiting coroutine go on, during this call, and all that come later.
  void Open() {
    open_ = true;
    if (awaiting_) Resume(std::exchange(awaiting_, {}));
  }
  // Lets later ones wait again.
  void Close() { open_ = false; }
  bool has_waiter() const { return awaiting_ != nullptr; }

 private:
  bool open_ = false;
  std::coroutine_handle<> awaiting_;
};

}  // namespace redouble::base

#endif  // REDOUBLE_CORE_BASE_TESTING_GATE_H_
