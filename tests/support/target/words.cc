#include "redouble/tests/support/target/words.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/text/quoted_words.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/reply.h"

namespace redouble::inline v0_1::tests {
namespace {

bool NeedsQuotes(std::string_view word) {
  if (word.empty() || word[0] == '@' || word[0] == '#') return true;
  return !std::all_of(word.begin(), word.end(), [](char c) {
    return c > ' ' && c <= '~' && c != '"' && c != '\'' && c != '\\';
  });
}

}  // namespace

absl::StatusOr<Words> SplitWords(std::string_view line) {
  std::optional<Words> words = base::SplitQuotedWords(line);
  if (words) return *std::move(words);
  return absl::InvalidArgumentError(absl::StrCat("unbalanced quotes in: ", base::ToAbsl(line)));
}

std::string JoinWords(const Words& words) {
  std::string line;
  for (const std::string& word : words) {
    if (!line.empty()) line += ' ';
    line += NeedsQuotes(word) ? store::QuoteBytes(word) : word;
  }
  return line;
}

}  // namespace redouble::inline v0_1::tests
