// Faults: the faults that clients have asked a server to inject, with SIM FAULT.
//
// Use it to make a program under test see an error reply, a lost request or a lost reply, whatever
// its language. The names are those of the fault table (sim/fault/fault.h), in any case; the table
// also says which faults a server can inject and which earlier names are still accepted.
//
//   SIM FAULT error_reply SET "OOM command not allowed"   the next SET is not executed and returns
//                                                         this error
//   SIM FAULT drop_request GET COUNT 3                    the server closes the connection instead
//                                                         of executing the next three GETs
//   SIM FAULT drop_reply INCR                             INCR is executed; the server closes the
//                                                         connection instead of replying
//   SIM FAULT LIST                                        the faults that are still to be injected
//   SIM FAULT CLEAR                                       forgets them
//
// Rules are tried in the order in which they were added; the command "*" matches every command.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_SERVER_FAULTS_H_
#define REDOUBLE_SIM_SERVER_FAULTS_H_

#include <list>
#include <optional>
#include <span>
#include <string_view>

#include "redouble/core/store/reply.h"
#include "redouble/sim/fault/fault.h"

namespace redouble::inline v0_1::sim {

class Faults {
 public:
  // Executes SIM FAULT; `arguments` are the words after FAULT. Returns OK, the list of rules, or an
  // error reply. A row of the list has the fault's name, the command, the error text (empty for
  // other faults) and how many times the fault is still to be injected.
  store::Reply Run(std::span<const std::string_view> arguments);

  // Returns the rule that applies to a command of that name, and counts it as injected; nullopt if
  // no rule applies.
  std::optional<FaultRule> Next(std::string_view command);
  bool empty() const { return rules_.empty(); }

 private:
  store::Reply Add(const FaultSpec& spec, std::span<const std::string_view> arguments);
  store::Reply List() const;

  std::list<FaultRule> rules_;  // `limit` is the number of times left.
};

// The error reply for a SIM command with an unknown subcommand or a wrong number of arguments.
store::Reply WrongSimUse();

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_SERVER_FAULTS_H_
