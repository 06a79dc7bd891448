// The invariants of world files: what must hold, as data.
//
//   | kind       | what must hold                                                                 |
//   | ---------- | ------------------------------------------------------------------------------ |
//   | reply      | The reply of "command" is "expect", or one of "one_of", or a number from       |
//   |            | "at_least" to "at_most" (a bulk string that says a number counts as one).      |
//   | equal      | All "commands" have the same reply.                                            |
//   | expires    | Every key that matches the glob "keys" has a time to live.                     |
//   | references | Each element of the reply of "command" has its key: "key" with {} replaced by  |
//   |            | the element.                                                                   |
//   | results    | Of the calls of "operation", those whose result contains "where" (an error:    |
//   |            | {"error": "part of its message"}) are from "at_least" to "at_most".            |
//   | serial     | The keys that match "keys" (default *), and the results of all calls unless    |
//   |            | "results" is false, are what they are when the actors run one after another,   |
//   |            | in some order and without faults.                                              |
//
// Each may have a "name", which a violation is known by (default: its kind), and "when": "end", the
// default, or "always", after every step. "results" and "serial" are asked at the end.
//
// Thread-safety: an invariant is constant once read.
#ifndef REDOUBLE_SIM_EXPLORE_INVARIANT_H_
#define REDOUBLE_SIM_EXPLORE_INVARIANT_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sim/scenario/operation.h"
#include "sim/world/world.h"

namespace redouble::sim {

// The result of one call of an actor.
struct CallResult {
  std::string actor;
  int step;  // Of the actor, counted from 0.
  std::string operation;
  Json result;  // {"error": message} when it failed.
};

// What an invariant may look at.
struct WorldView {
  World& world;
  const std::vector<CallResult>& results;
  // What the keyspace and results came to in each serial order: "serial" of SerialState.
  const std::vector<Json>& serial_states;
};

class WorldInvariant {
 public:
  virtual ~WorldInvariant() = default;

  const std::string& name() const { return name_; }
  // Asked after every step, not at the end alone.
  bool always() const { return always_; }
  // Whether `serial_states` must be there.
  virtual bool needs_serial_states() const { return false; }

  // Ok, or what is wrong.
  virtual absl::Status Check(const WorldView& view) const = 0;

 private:
  friend absl::StatusOr<std::shared_ptr<const WorldInvariant>> ParseInvariant(
      const Json& json, std::string_view path);

  std::string name_;
  bool always_ = false;
};

// Reads one invariant; `path` is its JSON pointer. Errors: InvalidArgument with the place.
absl::StatusOr<std::shared_ptr<const WorldInvariant>> ParseInvariant(const Json& json,
                                                                     std::string_view path);

// The whole keyspace and all results, in a form that does not tell who came first.
Json SerialState(World& world, const std::vector<CallResult>& results);

}  // namespace redouble::sim

#endif  // REDOUBLE_SIM_EXPLORE_INVARIANT_H_
