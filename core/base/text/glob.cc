#include "redouble/core/base/text/glob.h"

#include <cstddef>
#include <utility>

namespace redouble::inline v0_1::base {
namespace {

// ASCII only, in any locale. Bytes are signed, because Redis on x86-64 compares ranges of signed
// bytes.
signed char Lower(signed char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<signed char>(c + 32) : c;
}

bool SameByte(signed char a, signed char b, GlobCase glob_case) {
  return glob_case == GlobCase::kSensitive ? a == b : Lower(a) == Lower(b);
}

bool InRange(signed char first, signed char last, signed char c, GlobCase glob_case) {
  // Redis orders the ends before it folds their case, so that [Z-a] without regard to case is the
  // empty range z..a.
  if (first > last) std::swap(first, last);
  if (glob_case == GlobCase::kInsensitive) {
    first = Lower(first);
    last = Lower(last);
    c = Lower(c);
  }
  return first <= c && c <= last;
}

struct Step {
  bool matches;
  // The number of bytes of the pattern that were matched.
  size_t size;
};

// `pattern` starts after the opening bracket.
Step MatchClass(std::string_view pattern, signed char c, GlobCase glob_case) {
  size_t i = 0;
  const bool negated = !pattern.empty() && pattern[0] == '^';
  if (negated) ++i;
  bool found = false;
  while (i < pattern.size() && pattern[i] != ']') {
    const size_t left = pattern.size() - i;
    if (pattern[i] == '\\' && left >= 2) {
      found |= static_cast<signed char>(pattern[i + 1]) == c;
      i += 2;
    } else if (left >= 3 && pattern[i + 1] == '-') {
      found |= InRange(static_cast<signed char>(pattern[i]),
                       static_cast<signed char>(pattern[i + 2]), c, glob_case);
      i += 3;
    } else {
      found |= SameByte(static_cast<signed char>(pattern[i]), c, glob_case);
      ++i;
    }
  }
  if (i < pattern.size()) ++i;
  return {found != negated, i};
}

// Matches one byte of text with the element at the front of `pattern`, which is not a star.
Step MatchOne(std::string_view pattern, signed char c, GlobCase glob_case) {
  switch (pattern.front()) {
    case '?':
      return {true, 1};
    case '[': {
      const Step step = MatchClass(pattern.substr(1), c, glob_case);
      return {step.matches, step.size + 1};
    }
    case '\\':
      if (pattern.size() >= 2) {
        return {SameByte(static_cast<signed char>(pattern[1]), c, glob_case), 2};
      }
      [[fallthrough]];
    default:
      return {SameByte(static_cast<signed char>(pattern.front()), c, glob_case), 1};
  }
}

size_t SkipStars(std::string_view pattern, size_t i) {
  while (i < pattern.size() && pattern[i] == '*') ++i;
  return i;
}

}  // namespace

bool GlobMatch(std::string_view pattern, std::string_view text, GlobCase glob_case) {
  if (text.empty()) return pattern.empty();
  size_t p = 0;
  size_t t = 0;
  // Only the last star is retried: if the pattern after it matches nowhere, a longer match of an
  // earlier star cannot help, because it leaves less text. The work is at most pattern * text.
  int stars = 0;
  size_t after_star = 0;
  size_t star_text = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      p = SkipStars(pattern, p);
      if (p == pattern.size()) return true;
      if (++stars > kMaxGlobStars) return false;
      after_star = p;
      star_text = t;
      continue;
    }
    if (p < pattern.size()) {
      const Step step = MatchOne(pattern.substr(p), static_cast<signed char>(text[t]), glob_case);
      if (step.matches) {
        p += step.size;
        ++t;
        continue;
      }
    }
    if (stars == 0) return false;
    p = after_star;
    t = ++star_text;
  }
  return SkipStars(pattern, p) == pattern.size();
}

}  // namespace redouble::inline v0_1::base
