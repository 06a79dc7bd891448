// Trace: the record of a run, as one line of JSON per event, with a hash over all lines.
//
// Use the hash to check determinism: equal runs have equal lines, so two runs are equal if their
// hashes are, on two machines, in two processes, with two compilers, and on the memory engine and a
// Redis whose clock is controlled. Events are recorded when they complete:
//
//   {"index":0,"us":1778335382000000,"client":"main","command":["GET","k"],"reply":"v"}
//   {"index":1,"us":1778335382000000,"client":"a","transaction":[["INCR","n"]],"reply":[1]}
//   {"index":2,"us":1778335442000000,"advance":60000000}
//   {"index":3,"us":1778335442000000,"fault":"restart"}
//   {"index":4,"us":1778335442000000,"client":"a","command":["GET","k"],
//    "reply":{"failure":"outcome unknown"}}
//   {"index":5,"us":1778335442000000,"client":"a","event":"receives"}
//
// A world with several servers names the one that a command was sent to, and the replica that
// applied a change of its master:
//
//   {"index":6,"us":1778335442000000,"client":"a","server":"replica","command":["GET","k"], ...}
//   {"index":7,"us":1778335442000000,"client":"replica","event":"applies"}
//
// In a world with split events, a command is recorded when it is executed, and "receives" is
// recorded when the client gets a reply or a push.
//
// `us` is the virtual time after the event, in microseconds since the Unix epoch. Replies and byte
// strings are encoded as in sim/json/reply_json.h and sim/json/bytes.h.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_TRACE_TRACE_H_
#define REDOUBLE_SIM_TRACE_TRACE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/core/base/hash/digest.h"
#include "redouble/core/base/time/clock.h"
#include "redouble/core/store/reply.h"
#include "redouble/core/store/store.h"
#include "redouble/sim/json/json.h"
#include "redouble/sim/json/json_text.h"

namespace redouble::inline v0_1::sim {

// Called after each event with its line; returns true to end the run there.
using StopAfter = std::function<bool(std::string_view line)>;

class Trace {
 public:
  // `clock` gives the time of the events and must outlive the trace. For each event, `listener` is
  // called with the line, without a line break, and then `stop_after`. Both may be empty.
  explicit Trace(const base::Clock& clock, std::function<void(std::string_view)> listener = {},
                 StopAfter stop_after = {});

  // Records that a command or batch of `client` got a reply or failed. `server`: which of several
  // servers the client named; empty if it named none.
  void AddRequest(std::string_view client, const store::Request& request,
                  const absl::StatusOr<store::Reply>& result, std::string_view server = {});
  // Records that the clock advanced by `by` to its current time.
  void AddAdvance(absl::Duration by);
  // Records a fault. `client` is the client whose request it affected; empty if it affected none.
  void AddFault(std::string_view name, std::string_view client = {});

  // Records that a client got a reply or a push that was recorded before.
  void AddDelivery(std::string_view client);

  // Records that a replica applied the next change of its master.
  void AddApplication(std::string_view server);

  // Records that a node of a cluster heard which slots another one has.
  void AddNews(std::string_view receiver);

  // Ends the run: nothing is recorded afterwards. The code that produces events must check
  // stopped() before the next one.
  void Stop() { stopped_ = true; }
  bool stopped() const { return stopped_; }

  // The SHA-256 of all lines so far, each with a line break: 64 hexadecimal digits.
  std::string Hash() const;
  // The number of commands recorded, as a server counts them: a transaction of n commands counts n
  // + 2.
  int64_t commands() const { return commands_; }

 private:
  void AddEvent(std::string_view client, std::string_view event);
  void Begin();
  void AddText(std::string_view name, std::string_view text);
  void End();

  const base::Clock& clock_;
  std::function<void(std::string_view)> listener_;
  StopAfter stop_after_;
  bool stopped_ = false;
  // Of the lines so far; null before the first one: most worlds of a search have no trace, and
  // preparing a digest takes a tenth of their time.
  std::optional<base::Sha256> digest_;
  JsonText line_;  // The current line.
  // The time of the last event, and its text: few events move the clock.
  std::optional<int64_t> us_;
  std::string us_text_;
  int64_t events_ = 0;
  int64_t commands_ = 0;
};

// Returns a command as JSON: its name in upper case, and its encoded arguments.
Json CommandToJson(const store::Command& command);

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_TRACE_TRACE_H_
