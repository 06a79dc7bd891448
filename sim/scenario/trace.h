// Trace: what happened in a run, as one line of JSON per event, with a hash over all of them.
//
// Equal runs have equal lines, so the hash says in 64 digits whether two runs were the same: on two
// machines, in two processes, with two compilers, on the memory engine and on a Redis with a held
// clock. Events are recorded when they complete:
//
//   {"index":0,"us":1778335382000000,"client":"main","command":["GET","k"],"reply":"v"}
//   {"index":1,"us":1778335382000000,"client":"a","transaction":[["INCR","n"]],"reply":[1]}
//   {"index":2,"us":1778335442000000,"advance":60000000}
//   {"index":3,"us":1778335442000000,"fault":"restart"}
//   {"index":4,"us":1778335442000000,"client":"a","command":["GET","k"],
//    "reply":{"failure":"outcome unknown"}}
//
// `us` is the virtual time, in microseconds since the epoch, after the event. Replies and byte
// strings are written as reply_json.h and bytes.h say.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_SCENARIO_TRACE_H_
#define REDOUBLE_SIM_SCENARIO_TRACE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/base/clock.h"
#include "core/base/digest.h"
#include "core/store/reply.h"
#include "core/store/store.h"
#include "sim/scenario/operation.h"

namespace redouble::sim {

// Asked behind each event, with its line, whether the run ends there.
using StopBehind = std::function<bool(std::string_view line)>;

class Trace {
 public:
  // Events are dated by `clock`, which must outlive the trace. `listener`, if any, gets each line
  // as it is recorded, without a line break; then `stop_behind`, if any, is asked.
  explicit Trace(const base::Clock& clock, std::function<void(std::string_view)> listener = {},
                 StopBehind stop_behind = {});

  // A command or batch of `client` was answered, or failed.
  void AddRequest(std::string_view client, const store::Request& request,
                  const absl::StatusOr<store::Reply>& result);
  // The clock was moved by `by` to where it stands now.
  void AddAdvance(absl::Duration by);
  // `client` is whose request it fell on; empty: nobody's.
  void AddFault(std::string_view name, std::string_view client = {});

  // The run ends here: from now on nothing is recorded. Whoever makes events asks stopped() before
  // it makes another.
  void Stop() { stopped_ = true; }
  bool stopped() const { return stopped_; }

  // The SHA-256 over all lines so far, each with its line break: 64 hexadecimal digits.
  std::string Hash() const { return digest_.HexDigest(); }
  // How many commands were recorded, as a server counts them: a transaction of n is n + 2.
  int64_t commands() const { return commands_; }

 private:
  void Begin();
  void AddText(std::string_view name, std::string_view text);
  void End();

  const base::Clock& clock_;
  std::function<void(std::string_view)> listener_;
  StopBehind stop_behind_;
  bool stopped_ = false;
  base::Sha256 digest_;
  std::string line_;  // Under way; kept for its memory.
  int64_t events_ = 0;
  int64_t commands_ = 0;
};

// A command as JSON: its name in upper case and its arguments, encoded.
Json CommandToJson(const store::Command& command);

}  // namespace redouble::sim

#endif  // REDOUBLE_SIM_SCENARIO_TRACE_H_
