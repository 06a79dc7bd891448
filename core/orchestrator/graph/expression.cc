#include "redouble/core/orchestrator/graph/expression.h"

#include <array>
#include <cstddef>
#include <optional>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/orchestrator/errors.h"
#include "redouble/core/store/reply.h"

namespace redouble::inline v0_1::orchestrator {
namespace {

using base::ToAbsl;

constexpr int kMaxDepth = 100;
// A chain of operators of one level is a tree as deep as the chain is long.
constexpr int kMaxOperators = 200;

// The binary operators in rising order of precedence. If one text is a prefix of another, the
// longer text comes first.
struct BinaryRow {
  int level;
  std::string_view text;
  Operator op;
};
constexpr std::array kBinary = {
    BinaryRow{0, "||", Operator::kOr},
    BinaryRow{1, "&&", Operator::kAnd},
    BinaryRow{2, "==", Operator::kEqual},
    BinaryRow{2, "!=", Operator::kNotEqual},
    BinaryRow{2, "<=", Operator::kLessOrEqual},
    BinaryRow{2, "<", Operator::kLess},
    BinaryRow{2, ">=", Operator::kGreaterOrEqual},
    BinaryRow{2, ">", Operator::kGreater},
    BinaryRow{3, "+", Operator::kAdd},
    BinaryRow{3, "-", Operator::kSubtract},
    BinaryRow{4, "*", Operator::kMultiply},
    BinaryRow{4, "/", Operator::kDivide},
};
constexpr int kLevels = 5;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsNameStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsName(char c) { return IsNameStart(c) || IsDigit(c); }

template <typename Node>
ExpressionPtr Make(Node node) {
  return std::make_unique<const Expression>(Expression{std::move(node)});
}

// A recursive descent parser. After the first error every function returns null.
class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  absl::StatusOr<ExpressionPtr> Parse() && {
    ExpressionPtr expression = ParseLevel(0);
    SkipBlanks();
    if (status_.ok() && at_ < text_.size()) Fail("an operator or the end");
    REDOUBLE_RETURN_IF_ERROR(status_);
    return expression;
  }

 private:
  ExpressionPtr ParseLevel(int level) {
    if (level == kLevels) return ParseUnary();
    ExpressionPtr left = ParseLevel(level + 1);
    while (status_.ok()) {
      const std::optional<Operator> op = TakeOperator(level);
      if (!op) break;
      if (++operators_ > kMaxOperators) return Fail("fewer operators");
      ExpressionPtr right = ParseLevel(level + 1);
      left = Make(Binary{*op, std::move(left), std::move(right)});
    }
    return left;
  }

  std::optional<Operator> TakeOperator(int level) {
    for (const BinaryRow& row : kBinary) {
      if (row.level == level && Take(row.text)) return row.op;
    }
    return std::nullopt;
  }

  ExpressionPtr ParseUnary() {
    if (++depth_ > kMaxDepth) return Fail("less nesting");
    ExpressionPtr expression;
    if (Take("!")) {
      expression = Make(Unary{Operator::kNot, ParseUnary()});
    } else if (Take("-")) {
      expression = Make(Unary{Operator::kNegate, ParseUnary()});
    } else {
      expression = ParsePrimary();
    }
    --depth_;
    return expression;
  }

  ExpressionPtr ParsePrimary() {
    if (Take("(")) {
      ExpressionPtr inside = ParseLevel(0);
      if (status_.ok() && !Take(")")) return Fail("')'");
      return inside;
    }
    const char first = at_ < text_.size() ? text_[at_] : '\0';
    if (first == '\'' || first == '"') return ParseText(first);
    if (IsDigit(first)) return ParseNumber();
    if (IsNameStart(first)) return ParseName();
    return Fail("a value");
  }

  ExpressionPtr ParseText(char quote) {
    std::string value;
    for (++at_; at_ < text_.size() && text_[at_] != quote; ++at_) {
      if (text_[at_] != '\\') {
        value += text_[at_];
        continue;
      }
      ++at_;
      constexpr std::string_view kEscapes = "ntr\\'\"";
      constexpr std::string_view kMeanings = "\n\t\r\\'\"";
      const size_t escape = at_ < text_.size() ? kEscapes.find(text_[at_]) : kEscapes.npos;
      if (escape == kEscapes.npos) return Fail("one of n t r \\ ' \" behind the backslash");
      value += kMeanings[escape];
    }
    if (at_ >= text_.size()) return Fail("the closing quote");
    ++at_;
    return Make(Literal{std::move(value)});
  }

  ExpressionPtr ParseNumber() {
    const size_t begin = at_;
    bool decimal = false;
    SkipDigits();
    if (at_ + 1 < text_.size() && text_[at_] == '.' && IsDigit(text_[at_ + 1])) {
      decimal = true;
      ++at_;
      SkipDigits();
    }
    if (at_ < text_.size() && (text_[at_] == 'e' || text_[at_] == 'E')) {
      decimal = true;
      ++at_;
      if (at_ < text_.size() && (text_[at_] == '+' || text_[at_] == '-')) ++at_;
      if (at_ >= text_.size() || !IsDigit(text_[at_])) return Fail("an exponent");
      SkipDigits();
    }
    if (at_ < text_.size() && IsName(text_[at_])) return Fail("an operator or the end");
    const absl::string_view digits = ToAbsl(text_.substr(begin, at_ - begin));
    double number = 0;
    int64_t integer = 0;
    if (decimal && absl::SimpleAtod(digits, &number)) return Make(Literal{number});
    if (!decimal && absl::SimpleAtoi(digits, &integer)) return Make(Literal{integer});
    at_ = begin;
    return Fail("an integer of 64 bits");
  }

  ExpressionPtr ParseName() {
    Path path;
    const size_t begin = at_;
    path.names.push_back(TakeName());
    const std::string& first = path.names.front();
    if (first == "true" || first == "false") return Make(Literal{first == "true"});
    if (first == "null") return Make(Literal{nullptr});
    if (first != "output" && first != "ctx") {
      at_ = begin;
      return Fail("output, ctx or a value");
    }
    while (Take(".")) {
      SkipBlanks();
      if (at_ >= text_.size() || !IsNameStart(text_[at_])) return Fail("a name behind the dot");
      path.names.push_back(TakeName());
    }
    return Make(std::move(path));
  }

  std::string TakeName() {
    const size_t begin = at_;
    while (at_ < text_.size() && IsName(text_[at_])) ++at_;
    return std::string(text_.substr(begin, at_ - begin));
  }

  void SkipDigits() {
    while (at_ < text_.size() && IsDigit(text_[at_])) ++at_;
  }
  void SkipBlanks() {
    constexpr std::string_view kBlanks = " \t\r\n";
    while (at_ < text_.size() && kBlanks.find(text_[at_]) != kBlanks.npos) ++at_;
  }
  bool Take(std::string_view token) {
    SkipBlanks();
    if (!text_.substr(at_).starts_with(token)) return false;
    at_ += token.size();
    return true;
  }

  ExpressionPtr Fail(std::string_view expected) {
    if (!status_.ok()) return nullptr;
    const std::string got =
        at_ < text_.size() ? store::QuoteBytes(text_.substr(at_, 1)) : std::string("the end");
    status_ =
        MakeError(ErrorCode::kInvalidCondition,
                  absl::StrCat("position ", at_, ": expected ", ToAbsl(expected), ", got ", got));
    return nullptr;
  }

  std::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
  int operators_ = 0;
  absl::Status status_;
};

}  // namespace

std::string_view OperatorText(Operator op) {
  for (const BinaryRow& row : kBinary) {
    if (row.op == op) return row.text;
  }
  return op == Operator::kNot ? "!" : "-";
}

absl::StatusOr<ExpressionPtr> ParseExpression(std::string_view text) {
  return Parser(text).Parse();
}

}  // namespace redouble::inline v0_1::orchestrator
