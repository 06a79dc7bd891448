// Conditions of branches and loops: a small expression over the output of a node.
//
// The documented system uses the Common Expression Language. No library for it is in Debian 12
// (muParser and its like know no JSON values, no missing fields and no absorption of errors), so
// this is the subset that its workflows, tests and documentation use, with CEL's semantics:
//
//   const Condition condition = {"cel", "output.status != 'success' && output.score >= 0.5"};
//   const ConditionData data = {.output_json = R"({"status":"retry","score":0.7})"};
//   absl::StatusOr<bool> holds = EvaluateCondition(condition, data);   // true
//
//   | what         | how                                                                         |
//   | ------------ | --------------------------------------------------------------------------- |
//   | values       | `true`, `false`, `null`, integers, decimals, 'text' or "text" with \n \t \r |
//   |              | \\ \' \" ; `output.a.b` is a member of the output, `ctx.node.output.x` one  |
//   |              | of another node's output. `$.` is another spelling of `output.`, everywhere, |
//   |              | within texts as well                                                        |
//   | compare      | `==` `!=` `<` `<=` `>` `>=`. Numbers compare by value, texts byte by byte,  |
//   |              | false before true. Values of different kinds are not equal, and to order    |
//   |              | them, or null, arrays and objects, is an error                              |
//   | combine      | `&&` `||` `!` and parentheses, `!` before `&&` before `||`. An error on one |
//   |              | side counts for nothing when the other side decides, on either side         |
//   | calculate    | `+` `-` `*` `/` and a leading `-`, on two integers or two decimals. Numbers |
//   |              | in JSON are decimals: write `output.n + 1.0`                                |
//
// A missing member is an error, not false; so is a result that is not true or false. `%`, `? :`,
// `in`, indexes and functions are not supported, and any other name than output and ctx is unknown.
// A node whose id has a `-` cannot be named: `ctx.a-b.output` is a subtraction.
//
// Thread-safety: pure functions.
// Source: reference/orchestrator.md 6.6.
#ifndef REDOUBLE_CORE_ORCHESTRATOR_CONDITIONS_H_
#define REDOUBLE_CORE_ORCHESTRATOR_CONDITIONS_H_

#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace redouble::orchestrator {

struct Condition {
  std::string type = "cel";  // Nothing else is known.
  std::string expression;

  friend bool operator==(const Condition&, const Condition&) = default;
};

// The output of one node, as `ctx.<node_id>.output`.
struct NodeOutput {
  std::string_view node_id;
  std::string_view output_json;
};

// What an expression can see. The views must outlive the call.
struct ConditionData {
  std::string_view output_json;  // Empty: the node has no output, and to ask for it is an error.
  std::span<const NodeOutput> nodes = {};
};

// OK when the expression can be read: its type is "cel" and its text is of the language above.
// Errors: InvalidArgument that tells the position, counted in bytes from 0, and what was expected.
absl::Status CheckCondition(const Condition& condition);

// Whether the condition holds. Errors: those of CheckCondition; InvalidArgument when an output is
// not JSON or nested deeper than 500; FailedPrecondition when the expression cannot be evaluated on
// this data: a member that is missing, operands of the wrong kind, an integer that overflows or is
// divided by 0, a result that is not true or false. How a branch or a loop takes an error is theirs
// to say. Linear in the expression and the outputs it names.
absl::StatusOr<bool> EvaluateCondition(const Condition& condition, const ConditionData& data);

}  // namespace redouble::orchestrator

#endif  // REDOUBLE_CORE_ORCHESTRATOR_CONDITIONS_H_
