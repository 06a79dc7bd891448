#include "redouble/sim/storm/orchestrator/workflows.h"

#include "absl/strings/str_cat.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::sim {
namespace {

constexpr std::string_view kChain = R"({"version":"1.0","nodes":{
  "A":{"id":"A","type":"http","dependents":["B"]},
  "B":{"id":"B","type":"function","dependents":["C"]},
  "C":{"id":"C","type":"http","dependents":[]}}})";

constexpr std::string_view kJoin = R"({"version":"1.0","nodes":{
  "A":{"id":"A","type":"http","dependents":["B","C"]},
  "B":{"id":"B","type":"function","dependents":["D"]},
  "C":{"id":"C","type":"http","dependents":["D"]},
  "D":{"id":"D","type":"function","dependents":["E"]},
  "E":{"id":"E","type":"http","dependents":[]}}})";

// D waits for both paths, and one of them is never taken.
constexpr std::string_view kBranch = R"({"version":"1.0","entry_nodes":["A"],"nodes":{
  "A":{"id":"A","type":"http","dependents":[],"branch":{"enabled":true,"type":"conditional",
    "rules":[{"condition":{"type":"cel","expression":"output.n == 1"},"next_nodes":["B"]}],
    "default":["C"]}},
  "B":{"id":"B","type":"function","dependents":["D"]},
  "C":{"id":"C","type":"http","dependents":["D"]},
  "D":{"id":"D","type":"function","dependents":[]}}})";

constexpr std::string_view kLoop = R"({"version":"1.0","entry_nodes":["A"],"nodes":{
  "A":{"id":"A","type":"http","dependents":["L"]},
  "L":{"id":"L","type":"function","dependents":[],"loop":{"enabled":true,"max_iterations":3,
    "condition":{"type":"cel","expression":"output.n == 1"},"loop_back_to":"A",
    "break_path":["Z"],"timeout_path":["T"]}},
  "T":{"id":"T","type":"http","dependents":[]},
  "Z":{"id":"Z","type":"http","dependents":[]}}})";

// The timeout extends the run (H21).
constexpr std::string_view kApproval = R"({"version":"1.0","entry_nodes":["A"],"nodes":{
  "A":{"id":"A","type":"http","dependents":["H"]},
  "H":{"id":"H","type":"hitl","dependents":["B"],"rejection_path":["R"],
    "config":{"timeout_seconds":180}},
  "B":{"id":"B","type":"function","dependents":[]},
  "R":{"id":"R","type":"http","dependents":[]}}})";

}  // namespace

std::string_view IrOf(Workflow workflow) {
  switch (workflow) {
    case Workflow::kChain:
      return kChain;
    case Workflow::kJoin:
      return kJoin;
    case Workflow::kBranch:
      return kBranch;
    case Workflow::kLoop:
      return kLoop;
    case Workflow::kApproval:
      break;
  }
  return kApproval;
}

std::string OutputOf(const PlannedRun& run, std::string_view node) {
  return absl::StrCat(R"({"n":)", run.number, R"(,"node":")", base::ToAbsl(node), R"(","run":")",
                      run.id, R"("})");
}

std::set<std::string> NodesOf(const PlannedRun& run, bool approved) {
  switch (run.workflow) {
    case Workflow::kChain:
      return {"A", "B", "C"};
    case Workflow::kJoin:
      return {"A", "B", "C", "D", "E"};
    case Workflow::kBranch:
      return {"A", run.number == 1 ? "B" : "C", "D"};
    case Workflow::kLoop:
      return {"A", "L", run.number == 1 ? "T" : "Z"};
    case Workflow::kApproval:
      break;
  }
  return {"A", "H", approved ? "B" : "R"};
}

}  // namespace redouble::inline v0_1::sim
