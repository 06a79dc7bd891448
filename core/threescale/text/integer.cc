#include "redouble/core/threescale/text/integer.h"

#include <cstdint>
#include <utility>

#include "absl/strings/ascii.h"

namespace redouble::inline v0_1::threescale {
namespace {

// Collects digits until a machine word is full, so that long texts need few long multiplications.
class Digits {
 public:
  void Append(char digit) {
    word_ = word_ * 10 + static_cast<uint64_t>(digit - '0');
    scale_ *= 10;
    if (scale_ == kFull) Flush();
  }
  Integer Take() {
    Flush();
    return std::move(value_);
  }

 private:
  static constexpr uint64_t kFull = 1'000'000'000'000'000'000;

  void Flush() {
    value_ *= scale_;
    value_ += word_;
    word_ = 0;
    scale_ = 1;
  }

  Integer value_ = 0;
  uint64_t word_ = 0;
  uint64_t scale_ = 1;
};

}  // namespace

Integer ToInteger(std::string_view text) {
  size_t at = 0;
  while (at < text.size() && absl::ascii_isspace(text[at])) ++at;
  const bool negative = at < text.size() && text[at] == '-';
  if (at < text.size() && (text[at] == '-' || text[at] == '+')) ++at;
  Digits digits;
  bool after_digit = false;
  for (; at < text.size(); ++at) {
    if (absl::ascii_isdigit(text[at])) {
      digits.Append(text[at]);
      after_digit = true;
    } else if (text[at] == '_' && after_digit) {
      after_digit = false;
    } else {
      break;
    }
  }
  Integer number = digits.Take();
  return negative ? -number : number;
}

Integer ToIntegerOrZero(const std::optional<std::string>& text) {
  return text ? ToInteger(std::string_view(*text)) : Integer(0);
}

std::string FormatInteger(const Integer& value) { return value.str(); }

}  // namespace redouble::inline v0_1::threescale
