#include "redouble/backends/memory/server/slow_log.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::memory {
namespace {

constexpr size_t kMostWords = 32;
constexpr size_t kMostBytes = 128;

std::string ShortenWord(std::string_view word) {
  if (word.size() <= kMostBytes) return std::string(word);
  return absl::StrCat(base::ToAbsl(word.substr(0, kMostBytes)), "... (", word.size() - kMostBytes,
                      " more bytes)");
}

}  // namespace

void SlowLog::Add(Entry entry, size_t longest) {
  entry.id = next_id_++;
  entries_.push_front(std::move(entry));
  while (entries_.size() > longest) entries_.pop_back();
}

std::vector<std::string> SlowLog::Shorten(std::string_view name,
                                          std::span<const std::string_view> arguments) {
  std::vector<std::string> words = {ShortenWord(name)};
  for (const std::string_view argument : arguments) {
    const size_t left = arguments.size() + 1 - words.size();
    if (words.size() == kMostWords - 1 && left > 1) {
      words.push_back(absl::StrCat("... (", left, " more arguments)"));
      break;
    }
    words.push_back(ShortenWord(argument));
  }
  return words;
}

}  // namespace redouble::inline v0_1::memory
