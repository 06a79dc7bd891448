#include "redouble/tests/support/target/words.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/reply.h"

namespace redouble::tests {
namespace {

bool IsBlank(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

// Parses "xhh" at the beginning of `text`; returns false for anything else.
bool ReadHexByte(std::string_view text, char& byte) {
  unsigned value = 0;
  if (text.size() < 3 || text[0] != 'x') return false;
  const auto [end, error] = std::from_chars(text.data() + 1, text.data() + 3, value, 16);
  if (error != std::errc() || end != text.data() + 3) return false;
  byte = static_cast<char>(value);
  return true;
}

char Unescape(char letter) {
  switch (letter) {
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
      return letter;
  }
}

// Reads a quoted word whose opening quote is at `position`, and moves `position` after the closing
// quote.
bool ReadQuoted(std::string_view line, size_t& position, std::string& word) {
  const char quote = line[position++];
  while (position < line.size() && line[position] != quote) {
    const bool escaped = line[position] == '\\' && position + 1 < line.size();
    char byte;
    if (quote == '"' && escaped && ReadHexByte(line.substr(position + 1), byte)) {
      word.push_back(byte);
      position += 4;
    } else if (escaped && (quote == '"' || line[position + 1] == '\'')) {
      word.push_back(quote == '"' ? Unescape(line[position + 1]) : '\'');
      position += 2;
    } else {
      word.push_back(line[position++]);
    }
  }
  if (position == line.size()) return false;
  ++position;
  return position == line.size() || IsBlank(line[position]);
}

bool NeedsQuotes(std::string_view word) {
  if (word.empty() || word[0] == '@' || word[0] == '#') return true;
  return !std::all_of(word.begin(), word.end(), [](char c) {
    return c > ' ' && c <= '~' && c != '"' && c != '\'' && c != '\\';
  });
}

}  // namespace

absl::StatusOr<Words> SplitWords(std::string_view line) {
  Words words;
  size_t position = 0;
  while (true) {
    while (position < line.size() && IsBlank(line[position])) ++position;
    if (position == line.size()) return words;
    std::string& word = words.emplace_back();
    while (position < line.size() && !IsBlank(line[position])) {
      if (line[position] != '"' && line[position] != '\'') {
        word.push_back(line[position++]);
      } else if (!ReadQuoted(line, position, word)) {
        return absl::InvalidArgumentError(
            absl::StrCat("unbalanced quotes in: ", base::ToAbsl(line)));
      }
    }
  }
}

std::string JoinWords(const Words& words) {
  std::string line;
  for (const std::string& word : words) {
    if (!line.empty()) line += ' ';
    line += NeedsQuotes(word) ? store::QuoteBytes(word) : word;
  }
  return line;
}

}  // namespace redouble::tests
