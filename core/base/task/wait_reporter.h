// WaitReporter: says what keeps the tasks of a thread waiting, for a message about a deadlock.
//
// base::Run aborts a program whose task can never finish. What the task waits for is known by the
// store below it: one that keeps requests waiting derives from WaitReporter.
//
//   class Engine : private base::WaitReporter {
//     std::vector<std::string> DescribeWaits() const override { return {"client 3: BLPOP q 0"}; }
//   };
//
// Thread-safety: reporters of different threads are independent. A reporter is asked only by the
// thread that made it.
#ifndef REDOUBLE_CORE_BASE_TASK_WAIT_REPORTER_H_
#define REDOUBLE_CORE_BASE_TASK_WAIT_REPORTER_H_

#include <string>
#include <vector>

namespace redouble::inline v0_1::base {

class WaitReporter {
 public:
  WaitReporter(const WaitReporter&) = delete;
  WaitReporter& operator=(const WaitReporter&) = delete;

  // Returns one line for each request that waits, in a deterministic order.
  virtual std::vector<std::string> DescribeWaits() const = 0;

 protected:
  WaitReporter();
  ~WaitReporter();
};

// Returns the lines of all reporters that this thread made, the oldest first.
std::vector<std::string> DescribeAllWaits();

}  // namespace redouble::inline v0_1::base

#endif  // REDOUBLE_CORE_BASE_TASK_WAIT_REPORTER_H_
