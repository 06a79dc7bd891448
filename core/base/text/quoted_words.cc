#include "redouble/core/base/text/quoted_words.h"

#include "redouble/core/base/text/hex.h"

namespace redouble::inline v0_1::base {
namespace {

// Returns the character that an escape in double quotes means: `\n` is a line feed; a character
// without a special meaning is itself.
char Unescape(char c) {
  switch (c) {
    case 'n':
      return '\n';
    case 'r':
      return '\r';
    case 't':
      return '\t';
    case 'b':
      return '\b';
    case 'a':
      return '\a';
    default:
      return c;
  }
}

// Reads a quoted text from `at`, the position after the opening quote, and moves `at` after the
// closing quote. Returns false if there is no closing quote or it is not followed by a space.
bool ReadQuoted(std::string_view line, char quote, size_t& at, std::string& word) {
  while (at < line.size()) {
    const char c = line[at];
    const char next = at + 1 < line.size() ? line[at + 1] : '\0';
    if (c == quote) {
      ++at;
      return at == line.size() || IsSpaceBetweenWords(line[at]);
    }
    if (quote == '"' && c == '\\' && next == 'x' && at + 3 < line.size() &&
        HexDigit(line[at + 2]) && HexDigit(line[at + 3])) {
      word.push_back(static_cast<char>(*HexDigit(line[at + 2]) * 16 + *HexDigit(line[at + 3])));
      at += 4;
    } else if (quote == '"' && c == '\\' && at + 1 < line.size()) {
      word.push_back(Unescape(next));
      at += 2;
    } else if (quote == '\'' && c == '\\' && next == '\'') {
      word.push_back('\'');
      at += 2;
    } else {
      word.push_back(c);
      ++at;
    }
  }
  return false;
}

// Reads the word that begins at `at` and moves `at` after it. Returns false for unbalanced quotes.
bool ReadWord(std::string_view line, size_t& at, std::string& word) {
  while (at < line.size() && !EndsWord(line[at])) {
    const char c = line[at++];
    if (c == '"' || c == '\'') return ReadQuoted(line, c, at, word);
    word.push_back(c);
  }
  return true;
}

}  // namespace

std::optional<std::vector<std::string>> SplitQuotedWords(std::string_view line) {
  line = line.substr(0, line.find('\0'));
  std::vector<std::string> words;
  size_t at = 0;
  while (true) {
    while (at < line.size() && IsSpaceBetweenWords(line[at])) ++at;
    if (at == line.size()) return words;
    if (!ReadWord(line, at, words.emplace_back())) return std::nullopt;
  }
}

}  // namespace redouble::inline v0_1::base
