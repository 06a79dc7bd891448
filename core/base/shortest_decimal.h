// The fewest decimal digits that read back to a number.
//
// Why it exists: the documented systems write floats in layouts of their own (core/gateway,
// core/python), all of the same digits.
//
//   const ShortestDecimal decimal = ShortestDecimalOf(1.5e-7);   // digits "15", exponent -7
//   decimal.Mantissa()                                           // "1.5"
//
// Thread-safety: plain values, pure functions.
#ifndef REDOUBLE_CORE_BASE_SHORTEST_DECIMAL_H_
#define REDOUBLE_CORE_BASE_SHORTEST_DECIMAL_H_

#include <string>

namespace redouble::base {

// A finite number that is not negative, as d.ddd * 10^exponent.
struct ShortestDecimal {
  std::string digits;  // Without zeros at the end; "0" for zero.
  int exponent = 0;

  // "1.5"; "1" when there is one digit.
  std::string Mantissa() const;
  // Without an exponent: "0.00015", "1500", "1.5".
  std::string Positional() const;
};

// `value` must be finite and not negative.
ShortestDecimal ShortestDecimalOf(double value);

}  // namespace redouble::base

#endif  // REDOUBLE_CORE_BASE_SHORTEST_DECIMAL_H_
