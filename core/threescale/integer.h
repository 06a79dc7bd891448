// Integer: the whole numbers of counters, limits and usage, and how the original reads them out of
// text.
//
// Why it exists: the original reads every number with Ruby's String#to_i, which never fails, and
// its integers have no end: sums are made before Redis sees them. Redis counts in 64 bits; what
// does not fit is its error, never a number that was made smaller here.
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

#include "boost/multiprecision/cpp_int.hpp"

namespace redouble::threescale {

// Without end; up to 128 bits take no memory of their own.
using Integer = boost::multiprecision::number<boost::multiprecision::cpp_int_backend<>,
                                              boost::multiprecision::et_off>;

// The number at the beginning of `text`, behind white space: an optional sign and digits, with
// single `_` between them skipped, up to the first other character. 0 when there are no digits.
// O(n^2) in the digits, with a small constant.
Integer ToInteger(std::string_view text);
// The same; 0 for none.
Integer ToIntegerOrZero(const std::optional<std::string>& text);

// Decimal digits, with a minus sign for what is below 0.
std::string FormatInteger(const Integer& value);

}  // namespace redouble::threescale

#endif  // REDOUBLE_CORE_THREESCALE_INTEGER_H_
