#include "redouble/core/store/command_line.h"

#include <algorithm>
#include <vector>

#include "absl/strings/ascii.h"
#include "redouble/core/store/reply.h"

namespace redouble::inline v0_1::store {
namespace {

bool IsPlain(std::string_view word) {
  return !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
    return absl::ascii_isgraph(static_cast<unsigned char>(c)) && c != '"' && c != '\'';
  });
}

}  // namespace

std::string CommandLine(std::span<const std::string_view> words) {
  std::string line;
  for (const std::string_view word : words) {
    if (!line.empty()) line += ' ';
    line += IsPlain(word) ? std::string(word) : QuoteBytes(word);
  }
  return line;
}

std::string CommandLine(std::span<const std::string> words) {
  return CommandLine(std::vector<std::string_view>(words.begin(), words.end()));
}

}  // namespace redouble::inline v0_1::store
