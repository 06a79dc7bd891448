// SplitQuotedWords: splits a line into words as Redis does, for an inline command and the first
// line of a script or library.
//
// Words may be quoted: "a\x62\n" with escapes, 'a' without.
//
//   SplitQuotedWords("set k \"a b\"")  // {"set", "k", "a b"}
//   SplitQuotedWords("set k \"a b")    // nullopt: unbalanced quotes
//
// Thread-safety: pure functions.
// Source: Redis 7.0 inline commands.
#ifndef REDOUBLE_CORE_BASE_TEXT_QUOTED_WORDS_H_
#define REDOUBLE_CORE_BASE_TEXT_QUOTED_WORDS_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redouble::inline v0_1::base {

// True for a character that ends a word without quotes. A vertical tab and a form feed do not, but
// they are skipped before a word.
inline bool EndsWord(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
inline bool IsSpaceBetweenWords(char c) { return EndsWord(c) || c == '\v' || c == '\f'; }

// Like Redis, reads a C string: bytes after a NUL are ignored. Returns nullopt if a quote is not
// closed, or a closing quote is not followed by a space.
std::optional<std::vector<std::string>> SplitQuotedWords(std::string_view line);

}  // namespace redouble::inline v0_1::base

#endif  // REDOUBLE_CORE_BASE_TEXT_QUOTED_WORDS_H_
