// The syntax tree of a condition, and its parser.
//
// conditions.h has the language and the evaluation; this header serves conditions.cc only.
//
//   absl::StatusOr<ExpressionPtr> tree = ParseExpression("output.n < 3");
//
// Thread-safety: plain values and a pure function.
// Source: docs/systems/orchestrator.md 2.9.
#ifndef REDOUBLE_CORE_ORCHESTRATOR_GRAPH_EXPRESSION_H_
#define REDOUBLE_CORE_ORCHESTRATOR_GRAPH_EXPRESSION_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"

namespace redouble::inline v0_1::orchestrator {

enum class Operator {
  kOr,
  kAnd,
  kEqual,
  kNotEqual,
  kLess,
  kLessOrEqual,
  kGreater,
  kGreaterOrEqual,
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kNot,
  kNegate,
};

// "||", "&&", "==" and so on.
std::string_view OperatorText(Operator op);

struct Expression;
using ExpressionPtr = std::unique_ptr<const Expression>;

struct Literal {
  std::variant<std::nullptr_t, bool, int64_t, double, std::string> value;
};
// The names of a path, for example {"output", "a", "b"}; never empty.
struct Path {
  std::vector<std::string> names;
};
struct Unary {
  Operator op;
  ExpressionPtr operand;
};
struct Binary {
  Operator op;
  ExpressionPtr left;
  ExpressionPtr right;
};
struct Expression {
  std::variant<Literal, Path, Unary, Binary> node;
};

// Parses an expression. Errors: InvalidArgument with the position in bytes and the expected token.
// A tree is at most 100 levels deep and has at most 200 operators, so that neither parsing nor
// evaluation can exhaust the stack.
absl::StatusOr<ExpressionPtr> ParseExpression(std::string_view text);

}  // namespace redouble::inline v0_1::orchestrator

#endif  // REDOUBLE_CORE_ORCHESTRATOR_GRAPH_EXPRESSION_H_
