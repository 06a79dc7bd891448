// Conditions of branches and loops: a subset of the Common Expression Language (CEL) over the
// outputs of nodes.
//
// Debian 12 has no CEL library, and its expression libraries have neither JSON values nor missing
// fields nor absorption of errors. This subset covers the workflows, tests and documents of the
// system, with the semantics of CEL:
//
//   const Condition condition = {"cel", "output.status != 'success' && output.score >= 0.5"};
//   const ConditionData data = {.output_json = R"({"status":"retry","score":0.7})"};
//   absl::StatusOr<bool> holds = EvaluateCondition(condition, data);   // true
//
//   | group      | syntax and semantics                                                          |
//   | ---------- | ----------------------------------------------------------------------------- |
//   | values     | `true`, `false`, `null`, integers, decimals, 'text' or "text" with \n \t \r   |
//   |            | \\ \' \" ; `output.a.b` is a member of the output, `ctx.node.output.x` one of |
//   |            | another node's output. `$.` is another spelling of `output.` everywhere,      |
//   |            | including inside string literals                                              |
//   | compare    | `==` `!=` `<` `<=` `>` `>=`. Numbers compare by value, strings byte by byte,  |
//   |            | false before true. Values of different types are not equal. Ordering them,    |
//   |            | or null, arrays and objects, is an error                                      |
//   | combine    | `&&` `||` `!` and parentheses, `!` before `&&` before `||`. An error in one   |
//   |            | operand is ignored if the other operand decides, on either side               |
//   | calculate  | `+` `-` `*` `/` and a leading `-`, on two integers or two decimals. Numbers   |
//   |            | in JSON are decimals: write `output.n + 1.0`                                  |
//
// A missing member is an error, not false; so is a result that is not a boolean. `%`, `? :`, `in`,
// indexes and functions are not supported, and names other than output and ctx are unknown. A node
// id with a `-` cannot be named: `ctx.a-b.output` is a subtraction.
//
// Thread-safety: pure functions.
// Source: docs/systems/orchestrator.md 2.9.
#ifndef REDOUBLE_CORE_ORCHESTRATOR_GRAPH_CONDITIONS_H_
#define REDOUBLE_CORE_ORCHESTRATOR_GRAPH_CONDITIONS_H_

#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace redouble::inline v0_1::orchestrator {

struct Condition {
  std::string type = "cel";  // The only supported type.
  std::string expression;

  friend bool operator==(const Condition&, const Condition&) = default;
};

// The output of one node, as `ctx.<node_id>.output`.
struct NodeOutput {
  std::string_view node_id;
  std::string_view output_json;
};

// The data of an expression. The views must outlive the call.
struct ConditionData {
  std::string_view output_json;  // Empty: the node has no output, and reading it is an error.
  std::span<const NodeOutput> nodes = {};
};

// OK if the type is "cel" and the expression can be parsed. Errors: InvalidArgument with the
// position, in bytes from 0, and the expected token.
absl::Status CheckCondition(const Condition& condition);

// Whether the condition is true. Linear in the expression and the outputs that it names. Errors:
// those of CheckCondition; InvalidArgument if an output is not JSON or nested deeper than 500
// levels; FailedPrecondition if the expression cannot be evaluated on this data: a missing member,
// operands of the wrong type, an integer overflow, a division by 0, a result that is not a boolean.
// routing.h says how branches and loops treat an error.
absl::StatusOr<bool> EvaluateCondition(const Condition& condition, const ConditionData& data);

}  // namespace redouble::inline v0_1::orchestrator

#endif  // REDOUBLE_CORE_ORCHESTRATOR_GRAPH_CONDITIONS_H_
