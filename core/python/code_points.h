// Converts between UTF-8 and code points, including the lone surrogates that Python's str can hold.
//
// For the readers and writers of core/python; other code validates text with core/base/text/utf8.h.
//
//   std::string_view text = "é!";
//   TakeCodePoint(text)   // U+00E9; text is "!"
//
// Thread-safety: pure functions.
#ifndef REDOUBLE_CORE_PYTHON_CODE_POINTS_H_
#define REDOUBLE_CORE_PYTHON_CODE_POINTS_H_

#include <optional>
#include <string>
#include <string_view>

namespace redouble::inline v0_1::python {

// Removes the first code point of `text`, which must not be empty, and returns it. A surrogate
// encoded in three bytes is accepted. Returns nullopt and leaves `text` unchanged if it begins with
// a truncated sequence, an overlong form or a value above U+10FFFF.
std::optional<char32_t> TakeCodePoint(std::string_view& text);

// Appends the UTF-8 of a code point up to U+10FFFF; a surrogate takes three bytes.
void AppendCodePoint(std::string& text, char32_t code_point);

}  // namespace redouble::inline v0_1::python

#endif  // REDOUBLE_CORE_PYTHON_CODE_POINTS_H_
