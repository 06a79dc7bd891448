// Integer: the whole numbers of counters, limits and usage, and how the original reads them out of
// text.
//
// Why it exists: the original reads every number with Ruby's String#to_i, which never fails and
// never overflows; sums are made before Redis sees them. Here a number has 128 bits: texts of up to
// 38 digits are exact, longer ones stand at the end of the range.
//
//   ToInteger("12")          // 12
//   ToInteger(" -1_000x")    // -1000
//   ToInteger("junk")        // 0
//
// Thread-safety: pure functions.
// Source: reference/threescale.md 1.4.
#ifndef REDOUBLE_CORE_THREESCALE_INTEGER_H_
#define REDOUBLE_CORE_THREESCALE_INTEGER_H_

#include <optional>
#include <string>
#include <string_view>

#include "absl/numeric/int128.h"

namespace redouble::threescale {

using Integer = absl::int128;

// The number at the beginning of `text`, behind white space: an optional sign and digits, with
// single `_` between them skipped, up to the first other character. 0 when there are no digits.
Integer ToInteger(std::string_view text);
// The same; 0 for none.
Integer ToIntegerOrZero(const std::optional<std::string>& text);

// Decimal digits, with a minus sign for what is below 0.
std::string FormatInteger(Integer value);

}  // namespace redouble::threescale

#endif  // REDOUBLE_CORE_THREESCALE_INTEGER_H_
