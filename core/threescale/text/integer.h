// Integer: the whole numbers of counters, limits and usage, and their parser.
//
// The original reads every number with Ruby's String#to_i, which never fails, and its integers have
// arbitrary precision. Sums are computed before Redis receives them. Redis counts in 64 bits; a
// larger number is its error and is never truncated here.
//
//   ToInteger("12")          // 12
//   ToInteger(" -1_000x")    // -1000
//   ToInteger("junk")        // 0
//
// Thread-safety: pure functions.
// Source: docs/systems/threescale.md 2.3, H12.
#ifndef REDOUBLE_CORE_THREESCALE_TEXT_INTEGER_H_
#define REDOUBLE_CORE_THREESCALE_TEXT_INTEGER_H_

#include <optional>
#include <string>
#include <string_view>

#include "boost/multiprecision/cpp_int.hpp"

namespace redouble::inline v0_1::threescale {

// Arbitrary precision. Up to 128 bits need no allocation.
using Integer = boost::multiprecision::number<boost::multiprecision::cpp_int_backend<>,
                                              boost::multiprecision::et_off>;

// Returns the number at the beginning of `text`, after white space: an optional sign, and digits
// with single `_` between them. Stops at the first other character. Returns 0 without digits.
// O(n^2) in the number of digits, with a small constant.
Integer ToInteger(std::string_view text);
// As ToInteger; 0 for nullopt.
Integer ToIntegerOrZero(const std::optional<std::string>& text);

// Returns decimal digits, with a minus sign for a negative number.
std::string FormatInteger(const Integer& value);

}  // namespace redouble::inline v0_1::threescale

#endif  // REDOUBLE_CORE_THREESCALE_TEXT_INTEGER_H_
