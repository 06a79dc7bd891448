// The expressions of conditions, read into a tree. For conditions.cc only.
//
//   absl::StatusOr<ExpressionPtr> tree = ParseExpression("output.n < 3");
//
// Thread-safety: plain values and a pure function.
#ifndef REDOUBLE_CORE_ORCHESTRATOR_EXPRESSION_H_
#define REDOUBLE_CORE_ORCHESTRATOR_EXPRESSION_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"

namespace redouble::orchestrator {

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
// {"output", "a", "b"}: never empty.
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

// Errors: InvalidArgument with the position in bytes and what was expected there. Nests at most 100
// deep and holds at most 200 operators, so that neither reading nor evaluating a tree can exhaust
// the stack.
absl::StatusOr<ExpressionPtr> ParseExpression(std::string_view text);

}  // namespace redouble::orchestrator

#endif  // REDOUBLE_CORE_ORCHESTRATOR_EXPRESSION_H_
