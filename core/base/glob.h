// Glob patterns as Redis matches them: KEYS, SCAN MATCH, PSUBSCRIBE, CONFIG GET.
//
// Why it exists: Redis's globs are neither the shell's nor fnmatch's. There are no special
// characters but these:
//
//   | pattern  | matches                                                                     |
//   | -------- | --------------------------------------------------------------------------- |
//   | *        | any number of bytes                                                         |
//   | ?        | one byte                                                                    |
//   | [a-cx]   | one byte of the class; ranges may be given backwards                        |
//   | [^a-c]   | one byte that is not of the class                                           |
//   | \x       | the byte x itself, inside a class as well                                   |
//
// and its corners are kept, because tests and key inventories rest on them: a class that is never
// closed ends with the pattern; "[]" matches nothing and "[^]" any byte; a backslash at the end
// stands for itself; bytes in a range compare as signed (so [\x01-\xff] is -1..1); an escape inside
// a class ignores `nocase`; and a pattern whose text is used up matches only when all that is left
// of it is stars, yet against an empty text even "*" does not match. (KEYS and SCAN take the
// pattern "*" for "everything" before they get here.)
//
// Complexity: O(pattern * text) at most, and no recursion; patterns like "*a*a*a*a*b" are harmless.
// Pure; safe to call from any thread.
//
//   base::GlobMatch("user:[0-9]*:name", "user:17:name", base::GlobCase::kSensitive)  // true
//
// Source: Redis 7.0 KEYS; every row of glob_test.cc was answered by redis-server 7.0.15.

#ifndef REDOUBLE_CORE_BASE_GLOB_H_
#define REDOUBLE_CORE_BASE_GLOB_H_

#include <string_view>

namespace redouble::base {

// The number of stars that one match may use. A run of stars counts once, and a run that ends the
// pattern does not count; when matching arrives at one more, the answer is "no match". Debian's
// 7.0.15 carries this protection against abusive patterns.
inline constexpr int kMaxGlobStars = 1000;

// Whether ASCII letters match without regard to case: keys and channels are sensitive, names of
// commands and configuration parameters are not.
enum class GlobCase { kSensitive, kInsensitive };

// Returns whether the whole of `text` matches `pattern`. Both are arbitrary bytes, NUL included;
// every pattern is valid. Source: Redis 7.0 stringmatchlen.
bool GlobMatch(std::string_view pattern, std::string_view text,
               GlobCase glob_case = GlobCase::kSensitive);

}  // namespace redouble::base

#endif  // REDOUBLE_CORE_BASE_GLOB_H_
