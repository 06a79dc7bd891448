#include "redouble/core/base/text/nearest_word.h"

#include <algorithm>
#include <cstddef>

namespace redouble::inline v0_1::base {
namespace {

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// The optimal string alignment distance, with three rows of the table.
size_t Edits(std::string_view a, std::string_view b) {
  std::vector<size_t> before_last(b.size() + 1);
  std::vector<size_t> last(b.size() + 1);
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    std::swap(before_last, last);
    std::swap(last, row);
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const bool same = Lower(a[i - 1]) == Lower(b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && Lower(a[i - 1]) == Lower(b[j - 2]) &&
                           Lower(a[i - 2]) == Lower(b[j - 1]);
      if (swapped) row[j] = std::min(row[j], before_last[j - 2] + 1);
    }
  }
  return row[b.size()];
}

}  // namespace

std::optional<std::string> NearestWord(std::string_view word,
                                       const std::vector<std::string>& candidates) {
  std::optional<std::string> nearest;
  size_t limit = std::max<size_t>(1, word.size() / 3);
  for (const std::string& candidate : candidates) {
    const size_t edits = Edits(word, candidate);
    // A word of which no letter is left is another word.
    if (edits > limit || edits >= word.size() || (nearest && edits == limit)) continue;
    nearest = candidate;
    limit = edits;
  }
  return nearest;
}

std::string DidYouMean(std::string_view word, const std::vector<std::string>& candidates) {
  const std::optional<std::string> nearest = NearestWord(word, candidates);
  return nearest ? "; did you mean \"" + *nearest + "\"?" : "";
}

}  // namespace redouble::inline v0_1::base
