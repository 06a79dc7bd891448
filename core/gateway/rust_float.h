// Numbers as text in the formats of the gateway's Rust code, which reads and writes f64 values.
//
// One operation writes a number in two formats: the client library formats a command's argument,
// and the gateway formats the amount in a reservation. Both are visible, the first on the wire and
// the second in the key space. Reading follows Rust's grammar, which differs from strtod's and from
// Redis's.
//
//   FormatFloatArgument(1e21)   // "1e21"
//   FormatFloatDisplay(1e21)    // "1000000000000000000000"
//   ParseFloat(" 1")            // nullopt
//
// Thread-safety: pure functions.
// Source: docs/systems/gateway.md 2.5, 2.6.
#ifndef REDOUBLE_CORE_GATEWAY_RUST_FLOAT_H_
#define REDOUBLE_CORE_GATEWAY_RUST_FLOAT_H_

#include <optional>
#include <string>
#include <string_view>

namespace redouble::inline v0_1::gateway {

// The text of a number in a command, in the layout of the ryu crate: the fewest digits that read
// back to `value`, with a point ("1.0", "0.25") from 1e-5 to below 1e16, otherwise with an exponent
// ("1e16", "9.9e-6"). Values that are not finite: "NaN", "inf", "-inf".
// Source: docs/systems/gateway.md 2.5.
std::string FormatFloatArgument(double value);

// The text of a number in a reservation, in the layout of Rust's Display: the same digits, never
// with an exponent, and without ".0" after a whole number ("1", "0.0000001"). At most 327
// characters. Values that are not finite: as FormatFloatArgument.
// Source: docs/systems/gateway.md 2.5.
std::string FormatFloatDisplay(double value);

// Parses a whole text as Rust's f64::from_str does, correctly rounded; nullopt if it is not a
// number. Accepted: an optional sign; "inf", "infinity" or "nan" in any case; digits with an
// optional point ("5.", ".5") and an optional exponent. A number that is too large becomes
// infinite, one that is too small becomes 0. Refused: the empty text, spaces, hexadecimal digits,
// separators. ParseFloat inverts both formats. Source: docs/systems/gateway.md 2.6.
std::optional<double> ParseFloat(std::string_view text);

}  // namespace redouble::inline v0_1::gateway

#endif  // REDOUBLE_CORE_GATEWAY_RUST_FLOAT_H_
