// ShortestDecimal: the fewest decimal digits that parse back to the same double.
//
// The documented systems lay these digits out in different ways (core/gateway, core/python), which
// are built from this one.
//
//   const ShortestDecimal decimal = ShortestDecimalOf(1.5e-7);   // digits "15", exponent -7
//   decimal.Mantissa()                                           // "1.5"
//
// Thread-safety: plain values and pure functions.
#ifndef REDOUBLE_CORE_BASE_TEXT_SHORTEST_DECIMAL_H_
#define REDOUBLE_CORE_BASE_TEXT_SHORTEST_DECIMAL_H_

#include <string>

namespace redouble::inline v0_1::base {

// A finite number that is not negative: d.ddd * 10^exponent.
struct ShortestDecimal {
  std::string digits;  // Without trailing zeros; "0" for zero.
  int exponent = 0;

  // Returns "1.5", or "1" if there is one digit.
  std::string Mantissa() const;
  // Returns the number without an exponent: "0.00015", "1500", "1.5".
  std::string Positional() const;
};

// Returns the digits and exponent of `value`, which must be finite and not negative.
ShortestDecimal ShortestDecimalOf(double value);

}  // namespace redouble::inline v0_1::base

#endif  // REDOUBLE_CORE_BASE_TEXT_SHORTEST_DECIMAL_H_
