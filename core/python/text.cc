#include "redouble/core/python/text.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <vector>

#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/python/code_points.h"
#include "redouble/core/python/float_text.h"
#include "redouble/core/python/iso_time.h"

namespace redouble::inline v0_1::python {
namespace {

struct LowerRange {
  uint32_t first;
  uint32_t last;
  uint32_t stride;
  int32_t distance;
};

struct Range {
  uint32_t first;
  uint32_t last;
};

constexpr LowerRange kLower[] = {
#define LOWER(first, last, stride, distance) {first, last, stride, distance},
#include "redouble/core/python/lower_case.inc"
#undef LOWER
};

constexpr Range kCased[] = {
#define CASED(first, last) {first, last},
#include "redouble/core/python/lower_case.inc"
#undef CASED
};

constexpr Range kIgnorable[] = {
#define IGNORABLE(first, last) {first, last},
#include "redouble/core/python/lower_case.inc"
#undef IGNORABLE
};

// Returns the range that may contain `code_point`, or null.
template <typename Ranges>
auto* FindRange(const Ranges& ranges, char32_t code_point) {
  const auto* found =
      std::lower_bound(std::begin(ranges), std::end(ranges), code_point,
                       [](const auto& range, char32_t value) { return range.last < value; });
  return found == std::end(ranges) || found->first > code_point ? nullptr : found;
}

bool IsCased(char32_t c) { return FindRange(kCased, c) != nullptr; }
bool IsIgnorable(char32_t c) { return FindRange(kIgnorable, c) != nullptr; }

char32_t LowerOf(char32_t c) {
  if (c >= 'A' && c <= 'Z') return c + ('a' - 'A');
  const LowerRange* range = FindRange(kLower, c);
  if (range == nullptr || (c - range->first) % range->stride != 0) return c;
  return c + range->distance;
}

// Returns whether the capital sigma at `index` has a cased letter before it and none after it.
bool IsFinalSigma(const std::vector<char32_t>& text, size_t index) {
  const auto before =
      std::find_if_not(std::make_reverse_iterator(text.begin() + index), text.rend(), IsIgnorable);
  if (before == text.rend() || !IsCased(*before)) return false;
  const auto after = std::find_if_not(text.begin() + index + 1, text.end(), IsIgnorable);
  return after == text.end() || !IsCased(*after);
}

bool IsAscii(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

bool IsSpace(char32_t c) {
  return (c >= 0x09 && c <= 0x0D) || (c >= 0x1C && c <= 0x20) || c == 0x85 || c == 0xA0 ||
         c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F ||
         c == 0x205F || c == 0x3000;
}

// Returns the number of bytes of the white space character at the end of `text`; 0 if there is
// none.
size_t TrailingSpace(std::string_view text) {
  size_t begin = text.size() - 1;
  while (begin > 0 && (static_cast<unsigned char>(text[begin]) & 0xC0) == 0x80) --begin;
  std::string_view last = text.substr(begin);
  const std::optional<char32_t> code_point = TakeCodePoint(last);
  return code_point && last.empty() && IsSpace(*code_point) ? text.size() - begin : 0;
}

}  // namespace

std::string_view Strip(std::string_view text) {
  while (!text.empty()) {
    std::string_view rest = text;
    const std::optional<char32_t> code_point = TakeCodePoint(rest);
    if (!code_point || !IsSpace(*code_point)) break;
    text = rest;
  }
  while (!text.empty()) {
    const size_t space = TrailingSpace(text);
    if (space == 0) break;
    text.remove_suffix(space);
  }
  return text;
}

std::string Lower(std::string_view text) {
  constexpr char32_t kCapitalIWithDot = 0x130, kDotAbove = 0x307;
  constexpr char32_t kCapitalSigma = 0x3A3, kFinalSigma = 0x3C2;
  std::string lower;
  if (IsAscii(text)) {
    std::transform(text.begin(), text.end(), std::back_inserter(lower),
                   [](char c) { return static_cast<char>(LowerOf(c)); });
    return lower;
  }
  std::vector<char32_t> code_points;
  for (std::string_view rest = text; !rest.empty();) {
    const std::optional<char32_t> code_point = TakeCodePoint(rest);
    if (!code_point) return std::string(text);
    code_points.push_back(*code_point);
  }
  for (size_t i = 0; i < code_points.size(); ++i) {
    const char32_t c = code_points[i];
    if (c == kCapitalSigma && IsFinalSigma(code_points, i)) {
      AppendCodePoint(lower, kFinalSigma);
    } else if (c == kCapitalIWithDot) {
      AppendCodePoint(lower, 'i');
      AppendCodePoint(lower, kDotAbove);
    } else {
      AppendCodePoint(lower, LowerOf(c));
    }
  }
  return lower;
}

absl::StatusOr<std::string> TextOf(const Value& value) {
  if (value.is_null()) return "None";
  if (value.boolean() != nullptr) return *value.boolean() ? "True" : "False";
  if (value.integer() != nullptr) return value.integer()->digits;
  if (value.real() != nullptr) return FloatRepr(*value.real());
  if (value.text() != nullptr) return *value.text();
  if (value.date_time() != nullptr) return FormatIsoWithSpace(*value.date_time());
  if (value.opaque() != nullptr) return value.opaque()->text;
  return absl::InvalidArgumentError(value.array() != nullptr ? "an array has no text form here"
                                                             : "an object has no text form here");
}

absl::StatusOr<std::optional<std::string>> NormalizedText(const Value* value) {
  if (value == nullptr || value->is_null()) return std::nullopt;
  REDOUBLE_ASSIGN_OR_RETURN(const std::string text, TextOf(*value));
  const std::string_view stripped = Strip(text);
  if (stripped.empty()) return std::nullopt;
  return std::string(stripped);
}

}  // namespace redouble::inline v0_1::python
