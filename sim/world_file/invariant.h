// WorldInvariant: a condition that the runs of a world file must satisfy, as data.
//
// World files list their invariants and probes in JSON; ParseInvariant reads one of them. An
// invariant written in C++ does not need this header: use World::AddInvariant.
//
// | kind       | condition                                                                      |
// | ---------- | ------------------------------------------------------------------------------ |
// | reply      | The reply of "command" equals "expect", or one of "one_of", or is a number     |
// |            | from "at_least" to "at_most" (also as a bulk string).                          |
// | equal      | All "commands" have the same reply.                                            |
// | expires    | Every key that matches the glob "keys" has a time to live.                     |
// | references | For each element of the reply of "command", the key "key" exists, where {} is  |
// |            | replaced by the element.                                                       |
// | results    | The number of calls of "operation" whose result contains "where" is from       |
// |            | "at_least" to "at_most". {"error": "text"} matches a part of an error message. |
// | serial-    | The keys that match "keys" (default *), and the results of all calls unless    |
// | izable     | "results" is false, are those of some run in which the actors run one after    |
// |            | another without faults.                                                        |
// | lineariz-  | The replies to the single-key commands on the keys that match "keys" (default  |
// | able       | *) are those of a server that does one thing at a time: each command took      |
// |            | effect once, between its request and its reply, or, if its outcome is unknown, |
// |            | at any time after its request or never. "model": register, counter, lock, set, |
// |            | list, queue or stream (sim/check/linearizability.h).                           |
// | bound      | Each value that an actor bound to the name "value" (sim/world_file/            |
// |            | world_step.h) is as in "reply". "actor" selects the values of one actor.       |
// | monotone   | The numbers that an actor bound to "value" never decrease; or the reply of     |
// |            | "command" does not, which is checked after every step.                         |
// | exactly_   | Each of "elements" is once among the values that actors bound to "value", and  |
// | once       | among the elements of these values; with "may_be_missing", once at most. With  |
// |            | "waiting", a command, the values in its reply count as well: what waits for    |
// |            | an actor.                                                                      |
// | eventually | The condition of "reply" holds at some time within "within" ("10s") after all  |
// |            | actors have ended. There are no faults in this time; daemons go on.            |
//
// Each may have a "name" (default: its kind), which violations report, and "when": "end" (the
// default) or "always" (after every step). The first five kinds except "results", and "monotone",
// can be checked always. A kind that sends commands, or looks at keys, may have a "server": the
// name of the server that it looks at. The default is the current master, or
// all servers of a cluster.
//
//   // {"kind": "reply", "command": ["GET", "n"], "expect": "7"}
//   absl::StatusOr<std::shared_ptr<const WorldInvariant>> invariant =
//       ParseInvariant(json, "/invariants/0");
//
// Thread-safety: an invariant is constant after parsing.
#ifndef REDOUBLE_SIM_WORLD_FILE_INVARIANT_H_
#define REDOUBLE_SIM_WORLD_FILE_INVARIANT_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/core/store/store.h"
#include "redouble/sim/check/history.h"
#include "redouble/sim/operations/operation.h"
#include "redouble/sim/world/world.h"

namespace redouble::inline v0_1::sim {

// The result of one call of an actor.
struct CallResult {
  std::string actor;
  int step;  // The index of the actor's step, from 0.
  std::string operation;
  Json result;  // {"error": message} if the call failed.
};

// A value that an actor bound to a name.
struct BoundValue {
  std::string actor;
  std::string name;
  Json value;
};

class WorldInvariant;

// What was recorded in a run.
struct Observations {
  std::vector<CallResult> results = {};
  std::vector<BoundValue> bound = {};  // In the order of binding.
  // The single-key commands of the setup and of all actors, if an invariant needs them.
  History history = {};
  // By invariant, the number that its last check has seen.
  std::map<const WorldInvariant*, double> last = {};
};

// What an invariant can inspect.
struct WorldView {
  World& world;
  Observations& observed;
  // The SerialState after each serial order of the actors.
  const std::vector<Json>& serial_states;
};

class WorldInvariant {
 public:
  virtual ~WorldInvariant() = default;

  const std::string& name() const { return name_; }
  // Returns true if the invariant is checked after every step, false if only at the end. One that
  // is checked after every step reads keys only.
  bool always() const { return always_; }
  // The name of the server that Check looks at; empty for the default.
  const std::string& server() const { return server_; }
  // Returns true if Check needs WorldView::serial_states.
  virtual bool needs_serial_states() const { return false; }
  // Returns true if Check needs Observations::history.
  virtual bool needs_history() const { return false; }
  // Returns for how long after the end the condition may come true; nullopt if it must hold at the
  // end.
  virtual std::optional<absl::Duration> within() const { return std::nullopt; }

  // Returns the operation whose calls are counted; empty if it counts none.
  virtual std::string_view operation() const { return {}; }
  // Returns the name whose bound values are judged, and the actor that binds them; empty if there
  // is none.
  virtual std::string_view bound_name() const { return {}; }
  virtual std::string_view bound_actor() const { return {}; }

  // Returns OK, or an error that describes the violation; InvalidArgument if the check itself is
  // wrong, as when its command fails.
  virtual absl::Status Check(const WorldView& view) const = 0;

 private:
  friend absl::StatusOr<std::shared_ptr<const WorldInvariant>> ParseInvariant(
      const Json& json, std::string_view path);

  std::string name_;
  std::string server_;
  bool always_ = false;
};

// Parses one invariant; `path` is its JSON pointer. Errors: InvalidArgument with the place.
absl::StatusOr<std::shared_ptr<const WorldInvariant>> ParseInvariant(const Json& json,
                                                                     std::string_view path);

// Opens a connection for a check, or for the setup: to the server with this name, or, if it is
// empty, to the current master, or to all servers of a cluster (World::ConnectToAll).
std::unique_ptr<store::Store> ConnectAside(World& world, std::string_view server);

// Returns the whole keyspace and all results in a form that does not depend on the order in which
// the calls completed.
Json SerialState(World& world, const std::vector<CallResult>& results);

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_WORLD_FILE_INVARIANT_H_
