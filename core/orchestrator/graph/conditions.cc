#include "redouble/core/orchestrator/graph/conditions.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/orchestrator/errors.h"
#include "redouble/core/orchestrator/graph/expression.h"
#include "redouble/core/store/reply.h"

namespace redouble::inline v0_1::orchestrator {
namespace {

using base::ToAbsl;
// A JSON type with sorted members, so that objects compare by value.
using Value = nlohmann::json;
using ValueOr = absl::StatusOr<Value>;

// Bounds the recursion of copying and comparing values.
constexpr int kMaxDataDepth = 500;

absl::Status Failed(std::string_view what) { return MakeError(ErrorCode::kConditionFailed, what); }

// The name of a value's type in error messages.
std::string_view KindOf(const Value& value) {
  if (value.is_null()) return "null";
  if (value.is_boolean()) return "a boolean";
  if (value.is_number_float()) return "a decimal";
  if (value.is_number()) return "an integer";
  if (value.is_string()) return "a text";
  return value.is_array() ? "an array" : "an object";
}

absl::Status WrongOperands(Operator op, const Value& left, const Value& right) {
  return Failed(absl::StrCat(ToAbsl(OperatorText(op)), " does not take ", ToAbsl(KindOf(left)),
                             " and ", ToAbsl(KindOf(right))));
}

bool Compare(Operator op, int order) {
  switch (op) {
    case Operator::kLess:
      return order < 0;
    case Operator::kLessOrEqual:
      return order <= 0;
    case Operator::kGreater:
      return order > 0;
    default:
      return order >= 0;
  }
}

template <typename T>
int OrderOf(const T& left, const T& right) {
  if (left < right) return -1;
  return right < left ? 1 : 0;
}

ValueOr Order(Operator op, const Value& left, const Value& right) {
  if (left.is_number() && right.is_number()) {
    if (left.is_number_integer() && right.is_number_integer()) {
      return Compare(op, OrderOf(left.get<int64_t>(), right.get<int64_t>()));
    }
    const double numbers[] = {left.get<double>(), right.get<double>()};
    if (std::isnan(numbers[0]) || std::isnan(numbers[1])) return false;
    return Compare(op, OrderOf(numbers[0], numbers[1]));
  }
  if (left.is_string() && right.is_string()) {
    return Compare(op, left.get_ref<const std::string&>().compare(right.get<std::string>()));
  }
  if (left.is_boolean() && right.is_boolean()) {
    return Compare(op, OrderOf(left.get<bool>(), right.get<bool>()));
  }
  return WrongOperands(op, left, right);
}

ValueOr CalculateIntegers(Operator op, int64_t left, int64_t right) {
  int64_t result = 0;
  bool overflows = false;
  switch (op) {
    case Operator::kAdd:
      overflows = __builtin_add_overflow(left, right, &result);
      break;
    case Operator::kSubtract:
      overflows = __builtin_sub_overflow(left, right, &result);
      break;
    case Operator::kMultiply:
      overflows = __builtin_mul_overflow(left, right, &result);
      break;
    default:
      if (right == 0) return Failed("an integer is divided by 0");
      overflows = left == INT64_MIN && right == -1;
      if (!overflows) result = left / right;
  }
  if (overflows) return Failed("an integer overflows");
  return result;
}

Value CalculateDecimals(Operator op, double left, double right) {
  switch (op) {
    case Operator::kAdd:
      return left + right;
    case Operator::kSubtract:
      return left - right;
    case Operator::kMultiply:
      return left * right;
    default:
      return left / right;
  }
}

ValueOr Calculate(Operator op, const Value& left, const Value& right) {
  if (left.is_number_integer() && right.is_number_integer()) {
    return CalculateIntegers(op, left.get<int64_t>(), right.get<int64_t>());
  }
  if (left.is_number_float() && right.is_number_float()) {
    return CalculateDecimals(op, left.get<double>(), right.get<double>());
  }
  return WrongOperands(op, left, right);
}

// Numbers of JSON data are decimals, at any depth.
void MakeDecimal(Value& value) {
  if (value.is_number_integer()) value = value.get<double>();
  if (!value.is_structured()) return;
  for (Value& element : value) MakeDecimal(element);
}

class Evaluator {
 public:
  explicit Evaluator(const ConditionData& data) : data_(data) {}

  ValueOr Evaluate(const Expression& expression) {
    return std::visit([this](const auto& node) { return Of(node); }, expression.node);
  }

 private:
  ValueOr Of(const Literal& literal) {
    return std::visit([](const auto& value) { return Value(value); }, literal.value);
  }

  ValueOr Of(const Unary& unary) {
    REDOUBLE_ASSIGN_OR_RETURN(const Value operand, Evaluate(*unary.operand));
    if (unary.op == Operator::kNot && operand.is_boolean()) return !operand.get<bool>();
    if (unary.op == Operator::kNegate && operand.is_number_float()) {
      return -operand.get<double>();
    }
    if (unary.op == Operator::kNegate && operand.is_number()) {
      return CalculateIntegers(Operator::kSubtract, 0, operand.get<int64_t>());
    }
    return Failed(
        absl::StrCat(ToAbsl(OperatorText(unary.op)), " does not take ", ToAbsl(KindOf(operand))));
  }

  ValueOr Of(const Binary& binary) {
    if (binary.op == Operator::kAnd) return Combine(binary, /*decisive=*/false);
    if (binary.op == Operator::kOr) return Combine(binary, /*decisive=*/true);
    REDOUBLE_ASSIGN_OR_RETURN(const Value left, Evaluate(*binary.left));
    REDOUBLE_ASSIGN_OR_RETURN(const Value right, Evaluate(*binary.right));
    switch (binary.op) {
      case Operator::kEqual:
        return left == right;
      case Operator::kNotEqual:
        return left != right;
      case Operator::kAdd:
      case Operator::kSubtract:
      case Operator::kMultiply:
      case Operator::kDivide:
        return Calculate(binary.op, left, right);
      default:
        return Order(binary.op, left, right);
    }
  }

  // A `decisive` operand decides the result, even if the other operand is an error.
  ValueOr Combine(const Binary& binary, bool decisive) {
    const absl::StatusOr<bool> left = Side(binary.op, *binary.left);
    if (left.ok() && *left == decisive) return decisive;
    const absl::StatusOr<bool> right = Side(binary.op, *binary.right);
    if (right.ok() && *right == decisive) return decisive;
    REDOUBLE_RETURN_IF_ERROR(left.status());
    REDOUBLE_RETURN_IF_ERROR(right.status());
    return !decisive;
  }

  absl::StatusOr<bool> Side(Operator op, const Expression& expression) {
    REDOUBLE_ASSIGN_OR_RETURN(const Value value, Evaluate(expression));
    if (value.is_boolean()) return value.get<bool>();
    return Failed(absl::StrCat(ToAbsl(OperatorText(op)), " does not take ", ToAbsl(KindOf(value))));
  }

  ValueOr Of(const Path& path) {
    const bool is_ctx = path.names[0] == "ctx";
    if (is_ctx && (path.names.size() < 3 || path.names[2] != "output")) {
      return Failed("ctx is read as ctx.<node>.output");
    }
    REDOUBLE_ASSIGN_OR_RETURN(const Value* const root, is_ctx ? OutputOf(path.names[1]) : Output());
    const Value* value = root;
    for (size_t i = is_ctx ? 3 : 1; i < path.names.size(); ++i) {
      const auto member = value->is_object() ? value->find(path.names[i]) : value->end();
      if (!value->is_object() || member == value->end()) {
        return Failed(absl::StrCat("there is no ", absl::StrJoin(path.names, ".")));
      }
      value = &*member;
    }
    return *value;
  }

  absl::StatusOr<const Value*> Output() {
    if (data_.output_json.empty()) return Failed("there is no output");
    return Decoded("output", data_.output_json);
  }

  absl::StatusOr<const Value*> OutputOf(const std::string& node_id) {
    for (const NodeOutput& node : data_.nodes) {
      if (node.node_id == node_id) {
        return Decoded(absl::StrCat("ctx.", node_id, ".output"), node.output_json);
      }
    }
    return Failed(absl::StrCat("there is no ctx.", node_id));
  }

  // Parses each output once.
  absl::StatusOr<const Value*> Decoded(const std::string& name, std::string_view json) {
    const auto found = decoded_.find(name);
    if (found != decoded_.end()) return &found->second;
    int depth = 0;
    const auto note_depth = [&depth](int at, auto, const Value&) {
      depth = std::max(depth, at);
      return depth <= kMaxDataDepth;
    };
    Value value = Value::parse(json, note_depth, /*allow_exceptions=*/false);
    if (depth > kMaxDataDepth) {
      return MakeError(ErrorCode::kInvalidCondition,
                       absl::StrCat(name, " is nested deeper than ", kMaxDataDepth));
    }
    if (value.is_discarded()) {
      return MakeError(ErrorCode::kInvalidCondition, absl::StrCat(name, " is not JSON"));
    }
    MakeDecimal(value);
    return &decoded_.emplace(name, std::move(value)).first->second;
  }

  const ConditionData& data_;
  std::map<std::string, Value> decoded_;
};

absl::StatusOr<ExpressionPtr> Read(const Condition& condition) {
  if (condition.type != "cel") {
    return MakeError(ErrorCode::kInvalidCondition, absl::StrCat("expected the type \"cel\", got ",
                                                                store::QuoteBytes(condition.type)));
  }
  return ParseExpression(absl::StrReplaceAll(condition.expression, {{"$.", "output."}}));
}

}  // namespace

absl::Status CheckCondition(const Condition& condition) { return Read(condition).status(); }

absl::StatusOr<bool> EvaluateCondition(const Condition& condition, const ConditionData& data) {
  REDOUBLE_ASSIGN_OR_RETURN(const ExpressionPtr expression, Read(condition));
  REDOUBLE_ASSIGN_OR_RETURN(const Value value, Evaluator(data).Evaluate(*expression));
  if (value.is_boolean()) return value.get<bool>();
  return Failed(absl::StrCat("the result is ", ToAbsl(KindOf(value)), ", not true or false"));
}

}  // namespace redouble::inline v0_1::orchestrator
