// UTF-8 taken apart into code points, surrogates included, as Python's str holds them.
//
// For the readers and writers of this folder.
//
//   std::string_view text = "é!";
//   TakeCodePoint(text)   // U+00E9; text is "!"
//
// Thread-safety: pure functions.
#ifndef REDOUBLE_CORE_PYTHON_CODE_POINTS_H_
#define REDOUBLE_CORE_PYTHON_CODE_POINTS_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace redouble::python {

// Removes the first code point of `text`, which must not be empty, and returns it. A surrogate
// written in three bytes counts as a code point. None, with `text` as it was, for bytes that are
// no code point: cut off, an overlong form, beyond U+10FFFF.
std::optional<char32_t> TakeCodePoint(std::string_view& text);

// Appends the UTF-8 of a code point up to U+10FFFF; three bytes for a surrogate.
void AppendCodePoint(std::string& text, char32_t code_point);

// How many code points begin in `text`, which should be UTF-8.
size_t CountCodePoints(std::string_view text);

}  // namespace redouble::python

#endif  // REDOUBLE_CORE_PYTHON_CODE_POINTS_H_
