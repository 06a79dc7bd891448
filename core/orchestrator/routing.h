// Routing: which nodes follow a node that has completed. Pure; the coordinator carries it out.
//
//   const Completion done = {.node = "review", .output_json = R"({"approved":true})"};
//   const Routing routing = Route(ir, done);
//   for (const Hop& hop : routing.hops) ...   // hop.target gets a token
//
// In this order: a loop, a branch, an approval's decision, the dependents. An absorber (a branch or
// loop that no worker executes) is resolved on the way: its condition sees the output of the node
// before it, and its targets are the node's own. An absorber that waits for several predecessors is
// no exception from joining: it gets a token, which the coordinator completes itself.
//
// A condition that cannot be evaluated skips its rule and breaks its loop (reference 6.3, 6.4). On
// the last permitted iteration a loop's condition is not evaluated: the run takes timeout_path
// (D3).
//
// Thread-safety: pure functions and plain values.
// Source: reference/orchestrator.md sections 4 and 6, 8.3.
#ifndef REDOUBLE_CORE_ORCHESTRATOR_ROUTING_H_
#define REDOUBLE_CORE_ORCHESTRATOR_ROUTING_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/orchestrator/conditions.h"
#include "core/orchestrator/ir.h"
#include "core/orchestrator/run_scripts.h"
#include "core/orchestrator/token_ids.h"

namespace redouble::orchestrator {

// The views must outlive the call.
struct Completion {
  std::string_view node;  // Empty: the run begins, and the entry nodes follow.
  std::string_view output_json;
  std::span<const NodeOutput> outputs = {};  // Of other nodes, as conditions see them.
  LoopCounts loops;
};

// One token to be emitted.
struct Hop {
  std::string target;
  std::string via;  // The node or absorber right before the target; empty for an entry node.
  LoopCounts loops;
  // How many predecessors the target waits for, when it joins what comes this way; otherwise 0.
  int64_t needed = 0;

  friend bool operator==(const Hop&, const Hop&) = default;
};

struct Routing {
  std::vector<Hop> hops;
  std::vector<std::string> absorbers;  // Resolved on the way, each once.
  std::vector<LoopState> loops;        // What becomes of each loop that was passed.
};

// Where the run goes from a completed node. Nothing follows a node that the graph does not have.
// More than 10,000 absorbers in a row end the way there.
Routing Route(const Ir& ir, const Completion& completion);

// Whether Route reads the output of the node, or that of other nodes: then they are worth loading.
struct RoutingNeeds {
  bool output = false;
  bool other_outputs = false;
};
RoutingNeeds NeedsOf(const Ir& ir, std::string_view node);

// Whether a token that comes from `via` waits at the node for others: only edges of the graph join,
// the way back of a loop does not.
bool JoinsAt(const Node& node, std::string_view via);

// The hops as one text, and back: "B/A/,C/A/.iR:2,D/A//2". None for a text that is no such list.
std::string FormatHops(std::span<const Hop> hops);
std::optional<std::vector<Hop>> ParseHops(std::string_view text);

// Of the operations that were applied to a run: the tokens of joins that fired by quiescence and
// were not consumed. Each may have been published or not; publishing it again does no harm.
struct FiredToken {
  std::string join;
  std::string token_id;

  friend bool operator==(const FiredToken&, const FiredToken&) = default;
};
std::vector<FiredToken> FindUnpublished(std::span<const std::string> applied);

}  // namespace redouble::orchestrator

#endif  // REDOUBLE_CORE_ORCHESTRATOR_ROUTING_H_
