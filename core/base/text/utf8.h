// Validates UTF-8 as strictly as Rust and Python do, and counts its code points.
//
// A system that decodes a Redis value as text fails on bytes that are not UTF-8; code that
// reproduces it must fail on the same bytes.
//
//   base::IsValidUtf8("caf\xc3\xa9")   // true
//   base::IsValidUtf8("caf\xe9")       // false
//
// Thread-safety: pure functions.
#ifndef REDOUBLE_CORE_BASE_TEXT_UTF8_H_
#define REDOUBLE_CORE_BASE_TEXT_UTF8_H_

#include <cstddef>
#include <string_view>

namespace redouble::inline v0_1::base {

// Returns whether `bytes` is well-formed UTF-8: no overlong forms, no surrogates, no code points
// above U+10FFFF, no truncated sequence. NUL and the empty text are well-formed. O(bytes).
// Source: The Unicode Standard, table 3-7.
bool IsValidUtf8(std::string_view bytes);

// Returns the number of code points of `text`, which should be UTF-8.
size_t CountCodePoints(std::string_view text);

}  // namespace redouble::inline v0_1::base

#endif  // REDOUBLE_CORE_BASE_TEXT_UTF8_H_
