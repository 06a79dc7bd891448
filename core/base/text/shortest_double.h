// FormatShortestDouble: a double with few digits, as Redis 7.2 and later write scores.
//
//   base::FormatShortestDouble(0.1);      // "0.1"; FormatDouble: "0.10000000000000001"
//   base::FormatShortestDouble(1e17);     // "100000000000000000"
//   base::FormatShortestDouble(5e-324);   // "5e-324"
//
// Thread-safety: a pure function.
// Source: Redis 7.2 util.c, d2string; fpconv_dtoa.c.
#ifndef REDOUBLE_CORE_BASE_TEXT_SHORTEST_DOUBLE_H_
#define REDOUBLE_CORE_BASE_TEXT_SHORTEST_DOUBLE_H_

#include <string>

namespace redouble::inline v0_1::base {

// An integer below 2^62 has all its digits. Other values have the digits of Grisu2, which give the
// same double when they are read and are the fewest for over 99 of 100 values, with an
// exponent if that would be far from the digits; "inf", "-inf", "-0" for negative zero, "nan".
std::string FormatShortestDouble(double value);

}  // namespace redouble::inline v0_1::base

#endif  // REDOUBLE_CORE_BASE_TEXT_SHORTEST_DOUBLE_H_
