// Faults: what goes wrong between clients and a server under test, because a client asked for it.
//
//   SIM FAULT ERROR SET "OOM command not allowed"   the next SET is not run and gets this error
//   SIM FAULT DROP GET COUNT 3                      the server hangs up before the next three GETs
//   SIM FAULT LOSE INCR                             INCR is run; the connection ends in its reply's
//   place SIM FAULT LIST / SIM FAULT CLEAR
//
// Rules are tried in the order in which they were made; a command of "*" is any command.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_SERVER_FAULTS_H_
#define REDOUBLE_SIM_SERVER_FAULTS_H_

#include <cstdint>
#include <list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/store/reply.h"

namespace redouble::sim {

class Faults {
 public:
  enum class Kind { kError, kDrop, kLose };
  struct Fault {
    Kind kind;
    std::string text;  // Of an error.
  };

  // What follows SIM FAULT.
  store::Reply Run(std::span<const std::string_view> arguments);
  // What happens to a command of that name; none: nothing. Uses the rule up.
  std::optional<Fault> Next(std::string_view command);
  bool empty() const { return rules_.empty(); }

 private:
  struct Rule {
    Fault fault;
    std::string command;
    int64_t left;
  };

  store::Reply Add(Kind kind, std::span<const std::string_view> arguments);
  store::Reply List() const;

  std::list<Rule> rules_;
};

}  // namespace redouble::sim

#endif  // REDOUBLE_SIM_SERVER_FAULTS_H_
