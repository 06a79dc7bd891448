// Glob patterns as Redis matches them in KEYS, SCAN MATCH, PSUBSCRIBE and CONFIG GET.
//
// Redis's globs differ from the shell's and from fnmatch's. The special characters are:
//
//   | pattern  | matches                                                                     |
//   | -------- | --------------------------------------------------------------------------- |
//   | *        | any number of bytes                                                         |
//   | ?        | one byte                                                                    |
//   | [a-cx]   | one byte of the class; the ends of a range may be swapped                   |
//   | [^a-c]   | one byte that is not in the class                                           |
//   | \x       | the byte x itself, inside a class as well                                   |
//
// Redis's edge cases are kept, because clients can observe them:
//
// - A class that is not closed ends with the pattern.
// - "[]" matches nothing, and "[^]" matches any byte.
// - A backslash at the end of the pattern matches a backslash.
// - The bytes of a range are compared as signed, so that [\x01-\xff] is the range -1 to 1.
// - An escaped byte inside a class is compared with its case even by kInsensitive.
// - Once the text is used up, the rest of the pattern may only be stars. An empty text does not
//   match even "*"; KEYS and SCAN treat the pattern "*" as "all keys" without matching.
//
//   base::GlobMatch("user:[0-9]*:name", "user:17:name", base::GlobCase::kSensitive)  // true
//
// Complexity: O(pattern * text), without recursion, also for patterns such as "*a*a*a*a*b".
//
// Thread-safety: pure functions.
// Source: Redis 7.0 KEYS; the rows of glob_test.cc were recorded from redis-server 7.0.15.
#ifndef REDOUBLE_CORE_BASE_TEXT_GLOB_H_
#define REDOUBLE_CORE_BASE_TEXT_GLOB_H_

#include <string_view>

namespace redouble::inline v0_1::base {

// The number of stars that one match may use; a match that needs more fails. A run of stars counts
// once, and a run at the end of the pattern does not count. Debian's redis-server 7.0.15 has this
// protection against patterns that are expensive to match.
inline constexpr int kMaxGlobStars = 1000;

// Whether the case of ASCII letters matters: it does for keys and channels, and does not for the
// names of commands and configuration parameters.
enum class GlobCase { kSensitive, kInsensitive };

// Returns whether the whole of `text` matches `pattern`. Both are arbitrary bytes, NUL included;
// every pattern is valid.
// Source: Redis 7.0 stringmatchlen.
bool GlobMatch(std::string_view pattern, std::string_view text,
               GlobCase glob_case = GlobCase::kSensitive);

}  // namespace redouble::inline v0_1::base

#endif  // REDOUBLE_CORE_BASE_TEXT_GLOB_H_
