// Trim: a text without certain characters at its ends.
//
//   Trim(" a b\r\n", " \r\n")  // "a b"
//
// absl::StripAsciiWhitespace removes white space; use Trim where the original names other
// characters.
//
// Thread-safety: a pure function.
#ifndef REDOUBLE_CORE_BASE_TEXT_TRIM_H_
#define REDOUBLE_CORE_BASE_TEXT_TRIM_H_

#include <cstddef>
#include <string_view>

namespace redouble::inline v0_1::base {

// Returns a part of `text`; empty if `text` has no other characters than `removed`.
constexpr std::string_view Trim(std::string_view text, std::string_view removed) {
  const size_t begin = text.find_first_not_of(removed);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(removed) + 1 - begin);
}

}  // namespace redouble::inline v0_1::base

#endif  // REDOUBLE_CORE_BASE_TEXT_TRIM_H_
