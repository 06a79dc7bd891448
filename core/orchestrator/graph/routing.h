// Routing: the successors of a completed node. Pure functions; the coordinator executes the result.
//
//   const Completion done = {.node = "review", .output_json = R"({"approved":true})"};
//   const Routing routing = Route(ir, done);
//   for (const Hop& hop : routing.hops) ...   // hop.target gets a token.
//
// A node is evaluated in this order: loop, branch, decision of an approval, dependents. An absorber
// (a branch or loop that no worker executes) is resolved on the way: its condition sees the output
// of the node that reached it, and its targets become targets of that node. An absorber that joins
// gets a token, which the coordinator completes.
//
// A condition that cannot be evaluated skips its rule and breaks its loop. On the last permitted
// iteration the condition of a loop is not evaluated, and the run takes timeout_path
// (docs/systems/orchestrator.md D3).
//
// Thread-safety: pure functions and plain values.
// Source: docs/systems/orchestrator.md 4.5, 4.6.
#ifndef REDOUBLE_CORE_ORCHESTRATOR_GRAPH_ROUTING_H_
#define REDOUBLE_CORE_ORCHESTRATOR_GRAPH_ROUTING_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "redouble/core/orchestrator/graph/conditions.h"
#include "redouble/core/orchestrator/graph/ir.h"
#include "redouble/core/orchestrator/scripts/run_scripts.h"
#include "redouble/core/orchestrator/token_ids.h"

namespace redouble::inline v0_1::orchestrator {

// The views must outlive the call.
struct Completion {
  std::string_view node;  // Empty at the start of a run: the entry nodes follow.
  std::string_view output_json;
  std::span<const NodeOutput> outputs = {};  // Of other nodes, as conditions see them.
  LoopCounts loops;
};

// One token to be emitted.
struct Hop {
  std::string target;
  std::string via;  // The node or absorber immediately before the target; empty for an entry node.
  LoopCounts loops;
  // The number of predecessors that the target waits for; 0 if it does not join on this path.
  int64_t needed = 0;

  friend bool operator==(const Hop&, const Hop&) = default;
};

struct Routing {
  std::vector<Hop> hops;
  std::vector<std::string> absorbers;  // The absorbers that were resolved, each once.
  std::vector<LoopState> loops;        // The new state of each loop that was passed.
};

// The successors of a completed node. A node that the graph does not contain has no successors. A
// chain of more than 10,000 absorbers ends there.
Routing Route(const Ir& ir, const Completion& completion);

// Which outputs Route reads, so that a caller loads no others.
struct RoutingNeeds {
  bool output = false;
  bool other_outputs = false;
};
RoutingNeeds NeedsOf(const Ir& ir, std::string_view node);

// Whether a token from `via` joins at the node. Only edges of the graph join; the back edge of a
// loop does not.
bool JoinsAt(const Node& node, std::string_view via);

// The hops as one text, "B/A/,C/A/.iR:2,D/A//2", and back; nullopt if the text is not such a list.
// Source: docs/systems/orchestrator.md 2.7.
std::string FormatHops(std::span<const Hop> hops);
std::optional<std::vector<Hop>> ParseHops(std::string_view text);

// The tokens of joins that fired by quiescence and are not consumed, computed from the operations
// applied to a run. Such a token may have been published or not; publishing it again is harmless.
struct FiredToken {
  std::string join;
  std::string token_id;

  friend bool operator==(const FiredToken&, const FiredToken&) = default;
};
std::vector<FiredToken> FindUnpublished(std::span<const std::string> applied);

}  // namespace redouble::inline v0_1::orchestrator

#endif  // REDOUBLE_CORE_ORCHESTRATOR_GRAPH_ROUTING_H_
