// Reads and writes integers and floats as text exactly as Redis 7.0.15 does.
//
// Use these functions wherever text from or for Redis becomes a number or the reverse: the text is
// observable. "007" is an integer for strtoll and not for Redis; 0.1 + 0.2 is "0.3" after
// INCRBYFLOAT (80-bit arithmetic, 17 decimals) and "0.30000000000000004" as a score (64-bit, 17
// significant digits). Redis has three kinds of numbers:
//
//   | kind        | read by         | written by            | used for                          |
//   | ----------- | --------------- | --------------------- | --------------------------------- |
//   | int64       | ParseInt64      | FormatInt64           | INCR, lengths, TTLs               |
//   | long double | ParseLongDouble | FormatLongDoubleHuman | INCRBYFLOAT, HINCRBYFLOAT, GEOPOS |
//   | double      | ParseDouble     | FormatDouble          | scores, ZINCRBY, GEO radius       |
//
// The functions do not depend on the process's locale: the decimal point is always ".".
//
//   base::ParseInt64("42");                                         // 42
//   base::ParseInt64("+42");                                        // nullopt: no plus sign
//   base::FormatLongDoubleHuman(*base::ParseLongDouble("5.0e3"));   // "5000"
//   base::FormatDouble(0.1);                                        // "0.10000000000000001"
//
// Thread-safety: pure functions.
// Source: Redis 7.0 INCR, INCRBYFLOAT, ZADD, ZSCORE, GEODIST; the rows of redis_number_test.cc were
// recorded from redis-server 7.0.15 on x86-64, whose long double is Extended.
#ifndef REDOUBLE_CORE_BASE_TEXT_REDIS_NUMBER_H_
#define REDOUBLE_CORE_BASE_TEXT_REDIS_NUMBER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "redouble/core/base/number/extended.h"

namespace redouble::inline v0_1::base {

// Holds the longest int64, "-9223372036854775808".
using Int64Buffer = std::array<char, 20>;

// Holds the longest double with 17 significant digits, "-2.2250738585072014e-308".
using DoubleBuffer = std::array<char, 24>;

// The longest text that ParseLongDouble reads, in bytes. Redis copies the text to a buffer of 5 KiB
// first.
inline constexpr size_t kMaxLongDoubleTextBytes = 5 * 1024 - 1;

// Returns the value of `text` if it is the canonical decimal form of a 64-bit integer, otherwise
// nullopt. A plus sign, a leading zero, a space, "-0", bytes after the digits and values out of
// range are refused, so that a text that parses is exactly the one that FormatInt64 writes; Redis
// therefore can store such a string as a number.
// Source: Redis 7.0 string2ll.
std::optional<int64_t> ParseInt64(std::string_view text);

// Writes the decimal form of `value` to the front of `buffer` and returns a view of it, valid as
// long as the buffer. Does not allocate. ParseInt64 of the result is `value`.
std::string_view FormatInt64(int64_t value, Int64Buffer& buffer);

// As above; returns a string.
std::string FormatInt64(int64_t value);

// Returns the value of `text` as INCRBYFLOAT reads its increment and the old value, otherwise
// nullopt.
//
// Accepted: decimal and hexadecimal floats in C syntax with either sign ("+1", "01", "1.", ".5",
// "5.0e3", "0x1.8p1"), "inf" and "infinity" with either sign in any case, and values that round to
// a subnormal number. Refused: the empty text, a leading or trailing space, NaN, an embedded NUL, a
// value that overflows or underflows to zero, and any text longer than kMaxLongDoubleTextBytes. The
// caller checks that a sum is finite, because the error text depends on the command.
// Source: Redis 7.0 string2ld.
std::optional<Extended> ParseLongDouble(std::string_view text);

// Returns `value` with at most 17 decimals, never in exponent form, without trailing zeros or a
// trailing point; a value that rounds to zero is "0", never "-0". Infinities are "inf" and "-inf".
// Parsing the text returns the same value only if 17 decimals are enough for it. At most 4,934
// bytes.
// Source: Redis 7.0 INCRBYFLOAT, HINCRBYFLOAT, GEOPOS.
std::string FormatLongDoubleHuman(const Extended& value);

// Returns the value of `text` as ZADD reads a score, otherwise nullopt. The syntax is that of
// ParseLongDouble, without its limit of length; the range is that of a double.
// Source: Redis 7.0 getDoubleFromObject.
std::optional<double> ParseDouble(std::string_view text);

// Writes `value` to the front of `buffer`, as a score in a RESP2 reply, and returns a view of it:
// 17 significant digits, in exponent form from 1e17 up and below 1e-4; "inf", "-inf"; "-0" for
// negative zero. (A sorted set with the encoding listpack has already lost that sign, one with the
// encoding skiplist has not.) NaN, which no command accepts, is "nan" or "-nan". ParseDouble of the
// result of any other value is that value.
// Source: Redis 7.0 ZSCORE.
std::string_view FormatDouble(double value, DoubleBuffer& buffer);

// As above; returns a string.
std::string FormatDouble(double value);

// Returns `value` with exactly four decimals, as in the replies of GEODIST and WITHDIST:
// "166274.1516".
// Source: Redis 7.0 GEODIST.
std::string FormatDistance(double value);

}  // namespace redouble::inline v0_1::base

#endif  // REDOUBLE_CORE_BASE_TEXT_REDIS_NUMBER_H_
