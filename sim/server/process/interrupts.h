// Interrupts: sees SIGTERM and SIGINT while a script keeps the event loop from running.
//
// Every signal_set of a process gets each signal, so the event loop gets them as well, later.
//
//   Interrupts interrupts;
//   while (!interrupts.arrived()) RunInstructions();
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_SERVER_PROCESS_INTERRUPTS_H_
#define REDOUBLE_SIM_SERVER_PROCESS_INTERRUPTS_H_

#include <csignal>

#include "boost/asio/io_context.hpp"
#include "boost/asio/signal_set.hpp"

namespace redouble::inline v0_1::sim {

class Interrupts {
 public:
  Interrupts() {
    signals_.async_wait([this](const boost::system::error_code& error, int) { arrived_ = !error; });
  }

  // True if one of the signals has arrived, or had not been handled when this object was created.
  bool arrived() {
    context_.poll();
    return arrived_;
  }

 private:
  boost::asio::io_context context_{1};
  boost::asio::signal_set signals_{context_, SIGTERM, SIGINT};
  bool arrived_ = false;
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_SERVER_PROCESS_INTERRUPTS_H_
