#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/hex.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/base/text/utf8.h"
#include "redouble/core/python/code_points.h"
#include "redouble/core/python/error.h"
#include "redouble/core/python/json.h"

namespace redouble::inline v0_1::python {
namespace {

constexpr int kMaxDepth = 500;
constexpr size_t kMaxIntegerDigits = 4300;
// Up to this many members, a linear search is faster than hashing their names.
constexpr size_t kFewMembers = 16;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

bool IsHighSurrogate(uint32_t unit) { return unit >= 0xD800 && unit < 0xDC00; }
bool IsLowSurrogate(uint32_t unit) { return unit >= 0xDC00 && unit < 0xE000; }

// Merges members with the same name: the first one's position with the last one's value.
Object ObjectOf(std::vector<Object::Member> members) {
  if (members.size() <= kFewMembers) {
    Object object;
    for (Object::Member& member : members) object.Set(member.name, std::move(member.value));
    return object;
  }
  absl::flat_hash_map<std::string, size_t> places;
  std::vector<Object::Member> distinct;
  for (Object::Member& member : members) {
    const auto [place, is_new] = places.try_emplace(member.name, distinct.size());
    if (is_new) {
      distinct.push_back(std::move(member));
    } else {
      distinct[place->second].value = std::move(member.value);
    }
  }
  return Object::OfDistinct(std::move(distinct));
}

// A recursive descent parser with the structure of CPython's scanner, whose error messages and
// positions it reproduces.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  absl::StatusOr<Value> Read() {
    if (text_.starts_with("\xEF\xBB\xBF"))
      return Fail("Unexpected UTF-8 BOM (decode using utf-8-sig)", 0);
    SkipSpace();
    REDOUBLE_ASSIGN_OR_RETURN(Value value, ReadValue());
    SkipSpace();
    if (position_ != text_.size()) return Fail("Extra data", position_);
    return value;
  }

 private:
  // Returns NUL after the end, which no rule accepts.
  char At(size_t position) const { return position < text_.size() ? text_[position] : '\0'; }
  char Peek() const { return At(position_); }

  void SkipSpace() {
    while (position_ < text_.size() &&
           std::string_view(" \t\n\r").find(text_[position_]) != std::string_view::npos) {
      ++position_;
    }
  }

  absl::Status Fail(std::string_view message, size_t position) const {
    const std::string_view before = text_.substr(0, position);
    const size_t line = std::count(before.begin(), before.end(), '\n') + 1;
    const size_t newline = before.rfind('\n');
    const std::string_view in_line = newline == before.npos ? before : before.substr(newline + 1);
    return Error(absl::StatusCode::kInvalidArgument, "JSONDecodeError",
                 absl::StrCat(base::ToAbsl(message), ": line ", line, " column ",
                              base::CountCodePoints(in_line) + 1, " (char ",
                              base::CountCodePoints(before), ")"));
  }

  absl::StatusOr<Value> ReadValue() {
    switch (Peek()) {
      case '"': {
        REDOUBLE_ASSIGN_OR_RETURN(std::string text, ReadText());
        return Value(std::move(text));
      }
      case '{':
        return Nested(&Reader::ReadObject);
      case '[':
        return Nested(&Reader::ReadArray);
      default:
        break;
    }
    struct Word {
      std::string_view word;
      Value value;
    };
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    static const auto& words =
        *new std::array<Word, 6>{{{"null", Value()},
                                  {"true", true},
                                  {"false", false},
                                  {"NaN", std::numeric_limits<double>::quiet_NaN()},
                                  {"Infinity", kInfinity},
                                  {"-Infinity", -kInfinity}}};
    for (const auto& [word, value] : words) {
      if (!text_.substr(position_).starts_with(word)) continue;
      position_ += word.size();
      return value;
    }
    return ReadNumber();
  }

  absl::StatusOr<Value> Nested(absl::StatusOr<Value> (Reader::*read)()) {
    if (depth_ == kMaxDepth) {
      return Error(absl::StatusCode::kInvalidArgument, "RecursionError",
                   "maximum recursion depth exceeded while decoding a JSON document");
    }
    ++depth_;
    ++position_;
    absl::StatusOr<Value> value = (this->*read)();
    --depth_;
    return value;
  }

  // Reads the comma between two members or elements, or the closing bracket; returns true for the
  // bracket.
  absl::StatusOr<bool> AtClose(char close, std::string_view trailing_comma) {
    SkipSpace();
    if (Peek() == close) {
      ++position_;
      return true;
    }
    if (Peek() != ',') return Fail("Expecting ',' delimiter", position_);
    const size_t comma = position_++;
    SkipSpace();
    if (Peek() == close) return Fail(trailing_comma, comma);
    return false;
  }

  absl::StatusOr<Value> ReadArray() {
    Array array;
    SkipSpace();
    if (Peek() == ']') {
      ++position_;
      return Value(std::move(array));
    }
    while (true) {
      REDOUBLE_ASSIGN_OR_RETURN(Value element, ReadValue());
      array.push_back(std::move(element));
      REDOUBLE_ASSIGN_OR_RETURN(const bool closed,
                                AtClose(']', "Illegal trailing comma before end of array"));
      if (closed) return Value(std::move(array));
    }
  }

  absl::StatusOr<Value> ReadObject() {
    std::vector<Object::Member> members;
    SkipSpace();
    if (Peek() == '}') {
      ++position_;
      return Value(Object());
    }
    while (true) {
      REDOUBLE_ASSIGN_OR_RETURN(Object::Member member, ReadMember());
      members.push_back(std::move(member));
      REDOUBLE_ASSIGN_OR_RETURN(const bool closed,
                                AtClose('}', "Illegal trailing comma before end of object"));
      if (closed) return Value(ObjectOf(std::move(members)));
    }
  }

  absl::StatusOr<Object::Member> ReadMember() {
    if (Peek() != '"') {
      return Fail("Expecting property name enclosed in double quotes", position_);
    }
    REDOUBLE_ASSIGN_OR_RETURN(std::string name, ReadText());
    SkipSpace();
    if (Peek() != ':') return Fail("Expecting ':' delimiter", position_);
    ++position_;
    SkipSpace();
    REDOUBLE_ASSIGN_OR_RETURN(Value value, ReadValue());
    return Object::Member{std::move(name), std::move(value)};
  }

  absl::StatusOr<std::string> ReadText() {
    const size_t begin = position_++;
    std::string text;
    while (position_ < text_.size()) {
      const char c = text_[position_];
      if (c == '"') {
        ++position_;
        return text;
      }
      if (static_cast<unsigned char>(c) < 0x20)
        return Fail("Invalid control character at", position_);
      if (c != '\\') {
        text.push_back(c);
        ++position_;
        continue;
      }
      if (position_ + 1 == text_.size()) break;
      REDOUBLE_RETURN_IF_ERROR(ReadEscape(text));
    }
    return Fail("Unterminated string starting at", begin);
  }

  absl::Status ReadEscape(std::string& text) {
    constexpr std::string_view kNames = "\"\\/bfnrt";
    constexpr std::string_view kCharacters = "\"\\/\b\f\n\r\t";
    const char name = text_[position_ + 1];
    if (name == 'u') return ReadUnicodeEscape(text);
    const size_t found = kNames.find(name);
    if (found == kNames.npos) return Fail("Invalid \\escape", position_);
    text.push_back(kCharacters[found]);
    position_ += 2;
    return absl::OkStatus();
  }

  absl::Status ReadUnicodeEscape(std::string& text) {
    std::optional<uint32_t> unit = UnitAt(position_);
    // Python requires a character after the escape.
    if (!unit) return Fail("Invalid \\uXXXX escape", position_ + 1);
    position_ += kUnitLength;
    if (IsHighSurrogate(*unit)) {
      const std::optional<uint32_t> low = UnitAt(position_);
      if (low && IsLowSurrogate(*low)) {
        position_ += kUnitLength;
        unit = 0x10000 + ((*unit - 0xD800) << 10) + (*low - 0xDC00);
      }
    }
    AppendCodePoint(text, *unit);
    return absl::OkStatus();
  }

  // Returns the number of the \uXXXX at `position`; nullopt if there is none or the text ends with
  // it.
  std::optional<uint32_t> UnitAt(size_t position) const {
    if (At(position) != '\\' || At(position + 1) != 'u') return std::nullopt;
    if (position + kUnitLength >= text_.size()) return std::nullopt;
    uint32_t unit = 0;
    for (const char c : text_.substr(position + 2, 4)) {
      const std::optional<int> digit = base::HexDigit(c);
      if (!digit) return std::nullopt;
      unit = unit * 16 + *digit;
    }
    return unit;
  }

  size_t DigitsEnd(size_t position) const {
    while (IsDigit(At(position))) ++position;
    return position;
  }

  // A number without a fraction and an exponent is an integer. "01" is the integer 0, followed by
  // an extra character.
  absl::StatusOr<Value> ReadNumber() {
    const size_t begin = position_;
    const size_t first = begin + (Peek() == '-' ? 1 : 0);
    if (!IsDigit(At(first))) return Fail("Expecting value", begin);
    size_t end = At(first) == '0' ? first + 1 : DigitsEnd(first);
    bool is_float = false;
    if (At(end) == '.' && IsDigit(At(end + 1))) {
      end = DigitsEnd(end + 1);
      is_float = true;
    }
    if (At(end) == 'e' || At(end) == 'E') {
      const size_t digits = end + (At(end + 1) == '+' || At(end + 1) == '-' ? 2 : 1);
      if (IsDigit(At(digits))) {
        end = DigitsEnd(digits);
        is_float = true;
      }
    }
    position_ = end;
    const std::string_view token = text_.substr(begin, end - begin);
    if (!is_float) return IntegerOf(token, end - first);
    double value = 0;
    // A number that is too large becomes infinite, as in Python.
    if (!absl::SimpleAtod(base::ToAbsl(token), &value)) return Fail("Expecting value", begin);
    return Value(value);
  }

  static absl::StatusOr<Value> IntegerOf(std::string_view token, size_t digits) {
    if (digits > kMaxIntegerDigits) {
      return ValueError(absl::StrCat("Exceeds the limit (", kMaxIntegerDigits,
                                     " digits) for integer string conversion: value has ", digits,
                                     " digits; use sys.set_int_max_str_digits() to increase the "
                                     "limit"));
    }
    return Value(Integer{token == "-0" ? "0" : std::string(token)});
  }

  static constexpr size_t kUnitLength = 6;

  const std::string_view text_;
  size_t position_ = 0;
  int depth_ = 0;
};

}  // namespace

absl::StatusOr<Value> ParseJson(std::string_view text) {
  if (!base::IsValidUtf8(text)) {
    return Error(absl::StatusCode::kInvalidArgument, "UnicodeDecodeError",
                 "'utf-8' codec can't decode the bytes");
  }
  return Reader(text).Read();
}

}  // namespace redouble::inline v0_1::python
