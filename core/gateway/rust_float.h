// Numbers as text, the way the gateway's Rust code writes and reads an f64.
//
// Why it exists: two formatters meet in one operation. The client library writes a command's
// argument in one layout, the reservation's value holds the same number in another, and both are
// seen: the first on the wire, the second in the key space. Reading follows Rust's grammar, which
// is neither strtod's nor Redis's.
//
//   FormatFloatArgument(1e21)   // "1e21"
//   FormatFloatDisplay(1e21)    // "1000000000000000000000"
//   ParseFloat(" 1")            // none
//
// Thread-safety: pure functions.
// Source: reference/gateway.md section 4.
#ifndef REDOUBLE_CORE_GATEWAY_RUST_FLOAT_H_
#define REDOUBLE_CORE_GATEWAY_RUST_FLOAT_H_

#include <optional>
#include <string>
#include <string_view>

namespace redouble::gateway {

// The text of a number in a command: the fewest digits that read back to `value`, with a point
// ("1.0", "0.25") from 1e-5 up to below 1e16, otherwise with an exponent ("1e16", "9.9e-6"). Not
// finite: "NaN", "inf", "-inf". Source: reference/gateway.md 4.1 (the layout of the ryu crate).
std::string FormatFloatArgument(double value);

// The text of a number in a reservation: the same digits, never with an exponent, no ".0" behind a
// whole number ("1", "0.0000001"). At most 327 characters. Not finite: as above. Source:
// reference/gateway.md 4.2 (Rust's Display).
std::string FormatFloatDisplay(double value);

// Reads a whole text as Rust's f64::from_str does, rounded correctly; none when it is no number.
// Accepted: an optional sign; "inf", "infinity" or "nan" in any case; digits with an optional point
// ("5.", ".5") and an optional exponent. What is too large is infinite, what is too small is 0.
// Refused: the empty text, spaces, hexadecimal digits, separators. ParseFloat of either format of a
// number is that number. Source: reference/gateway.md 4.3.
std::optional<double> ParseFloat(std::string_view text);

}  // namespace redouble::gateway

#endif  // REDOUBLE_CORE_GATEWAY_RUST_FLOAT_H_
