// Percent-decoding of query strings, forms and the header of extensions. Use ParseForm
// (http/form.h) for parameters; this is for single texts.
//
//   DecodeQueryText("a+b%20c")   // "a b c"
//
// Thread-safety: pure functions.
// Source: docs/systems/threescale.md 4.27.
#ifndef REDOUBLE_CORE_THREESCALE_TEXT_QUERY_TEXT_H_
#define REDOUBLE_CORE_THREESCALE_TEXT_QUERY_TEXT_H_

#include <string>
#include <string_view>

namespace redouble::inline v0_1::threescale {

// Returns `text` with `+` as a space and %XX as a byte. A `%` without two hexadecimal digits stays.
std::string DecodeQueryText(std::string_view text);

}  // namespace redouble::inline v0_1::threescale

#endif  // REDOUBLE_CORE_THREESCALE_TEXT_QUERY_TEXT_H_
