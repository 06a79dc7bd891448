// Redis's number formats: how Redis 7.0.15 reads an integer or a float from a client's bytes, and
// how it writes one back.
//
// Why it exists: a counter, a score or a budget is text on the wire, and the text is observable.
// "007" is a fine integer to strtoll and no integer to Redis; 0.1 + 0.2 is "0.3" after INCRBYFLOAT
// (80-bit arithmetic, 17 decimals) and "0.30000000000000004" as a score (64-bit, 17 significant
// digits). Every part of the double that turns text into numbers or back goes through this header,
// so that there is one set of rules.
//
// Three kinds of number, as in Redis:
//
//   | kind        | read by         | written by            | used for                          |
//   | ----------- | --------------- | --------------------- | --------------------------------- |
//   | int64       | ParseInt64      | FormatInt64           | INCR, lengths, TTLs               |
//   | long double | ParseLongDouble | FormatLongDoubleHuman | INCRBYFLOAT, HINCRBYFLOAT, GEOPOS |
//   | double      | ParseDouble     | FormatDouble          | scores, ZINCRBY, GEO radius       |
//
// Nothing here depends on the process's locale: a host program that calls setlocale(LC_ALL,
// "de_DE") still reads and writes a decimal point. All functions are pure and safe to call from any
// thread.
//
//   base::ParseInt64("42");                                         // 42
//   base::ParseInt64("+42");                                        // nullopt: no plus sign
//   base::FormatLongDoubleHuman(*base::ParseLongDouble("5.0e3"));   // "5000"
//   base::FormatDouble(0.1);                                        // "0.10000000000000001"
//
// Source: Redis 7.0 INCR, INCRBYFLOAT, ZADD, ZSCORE, GEODIST; every row of redis_number_test.cc was
// answered by redis-server 7.0.15 on x86-64, whose long double has a 64-bit mantissa.

#ifndef REDOUBLE_CORE_BASE_REDIS_NUMBER_H_
#define REDOUBLE_CORE_BASE_REDIS_NUMBER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace redouble::base {

// Enough room for the longest int64, "-9223372036854775808".
using Int64Buffer = std::array<char, 20>;

// Enough room for the longest double in 17 significant digits, "-2.2250738585072014e-308".
using DoubleBuffer = std::array<char, 24>;

// The longest text that ParseLongDouble reads, in bytes. Redis copies the text to a buffer of 5 KiB
// first.
inline constexpr size_t kMaxLongDoubleTextBytes = 5 * 1024 - 1;

// Returns the value of `text` when it is the canonical decimal form of a 64-bit integer, otherwise
// nullopt: no plus sign, no leading zero, no space, no "-0", nothing after the digits, nothing out
// of range. So a text that parses is exactly what FormatInt64 writes, which is why Redis may store
// such a string as a number. Source: Redis 7.0 string2ll.
std::optional<int64_t> ParseInt64(std::string_view text);

// Writes the decimal form of `value` to the front of `buffer` and returns it. The view lives as
// long as the buffer; nothing is allocated. ParseInt64 of the result is `value` again.
std::string_view FormatInt64(int64_t value, Int64Buffer& buffer);

// The same as a string of its own.
std::string FormatInt64(int64_t value);

// Returns the value of `text` as INCRBYFLOAT reads its increment and the old value, otherwise
// nullopt.
//
// Accepted: decimal and hexadecimal floats in C syntax with either sign ("+1", "01", "1.", ".5",
// "5.0e3", "0x1.8p1"), "inf" and "infinity" with either sign in any case, and values that round to
// a subnormal number. Refused: the empty text, a leading or trailing space, NaN, an embedded NUL, a
// value that overflows or that underflows to zero, and any text longer than
// kMaxLongDoubleTextBytes. That a sum is not finite is for the caller to refuse, with the text of
// the command in question. Source: Redis 7.0 string2ld.
std::optional<long double> ParseLongDouble(std::string_view text);

// Returns `value` with at most 17 decimals, never in exponent form, without trailing zeros or a
// trailing point; a value that rounds to zero is "0", never "-0". Infinities are "inf" and "-inf".
// Reading the text back gives the same value only when 17 decimals are enough for it. At most 4,934
// bytes long. Source: Redis 7.0 INCRBYFLOAT, HINCRBYFLOAT, GEOPOS.
std::string FormatLongDoubleHuman(long double value);

// Returns the value of `text` as ZADD reads a score, otherwise nullopt. The syntax is that of
// ParseLongDouble, without its limit of length; the range is that of a double. Source: Redis 7.0
// getDoubleFromObject.
std::optional<double> ParseDouble(std::string_view text);

// Writes `value` as a RESP2 reply carries a score to the front of `buffer` and returns it: 17
// significant digits, in exponent form from 1e17 up and below 1e-4, "inf", "-inf", and "-0" for a
// negative zero (a sorted set kept as a listpack has lost that sign already, one kept as a skiplist
// has not; that is the caller's to know). NaN, which no command lets in, is "nan" or "-nan".
// ParseDouble of the result of any other value is that value again. Source: Redis 7.0 ZSCORE.
std::string_view FormatDouble(double value, DoubleBuffer& buffer);

// The same as a string of its own.
std::string FormatDouble(double value);

// Returns `value` with exactly four decimals, as GEODIST and WITHDIST answer: "166274.1516".
// Source: Redis 7.0 GEODIST.
std::string FormatDistance(double value);

}  // namespace redouble::base

#endif  // REDOUBLE_CORE_BASE_REDIS_NUMBER_H_
