// DeferredTasks: what the server does in a later turn of its event loop.
//
//   DeferredTasks tasks(context, [&] { FlushDirty(); }, [&] { return KeySaveDelay(options); });
//   tasks.Later([&] { ... });         // Before the next commands.
//   tasks.InBackground([&] { ... });  // A part of a long job, which passes on its next part.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_SERVER_PROCESS_DEFERRED_TASKS_H_
#define REDOUBLE_SIM_SERVER_PROCESS_DEFERRED_TASKS_H_

#include <chrono>
#include <functional>

#include "boost/asio/io_context.hpp"

namespace redouble::inline v0_1::sim {

class DeferredTasks {
 public:
  // `after_each` is called after each task. `part_delay` returns how long a further part of work in
  // the background waits; it is asked again while that part waits.
  DeferredTasks(boost::asio::io_context& context, std::function<void()> after_each,
                std::function<std::chrono::microseconds()> part_delay);

  void Later(std::function<void()> task);
  // The first part of work in the background runs before the next commands, as a task of Later
  // does, so that a small file is whole by then. The further parts, which are those that a part
  // passes, do not keep the server from polling again.
  void InBackground(std::function<void()> task);
  // True if a task of Later has not run.
  bool pending() const { return pending_ > 0; }

 private:
  void RunAfterDelay(std::function<void()> part, std::chrono::microseconds waited);

  boost::asio::io_context& context_;
  const std::function<void()> after_each_;
  const std::function<std::chrono::microseconds()> part_delay_;
  int pending_ = 0;
  bool in_background_ = false;  // A part runs.
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_SERVER_PROCESS_DEFERRED_TASKS_H_
