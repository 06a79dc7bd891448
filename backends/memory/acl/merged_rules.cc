#include "redouble/backends/memory/acl/merged_rules.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::memory {

MergedRules MergeSelectors(std::span<const std::string_view> words, store::Version version) {
  const bool opens_again = store::Until("7.2.0").Has(version);
  MergedRules merged;
  std::optional<std::string> selector;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    // In Redis 7.0 it also replaces a selector that is still open.
    if ((!selector || opens_again) && word.starts_with('(') && !word.ends_with(')')) {
      selector = std::string(word);
      merged.unmatched = i;
    } else if (selector) {
      absl::StrAppend(&*selector, " ", base::ToAbsl(word));
      if (!word.ends_with(')')) continue;
      merged.rules.push_back(*std::exchange(selector, std::nullopt));
      merged.unmatched.reset();
    } else {
      merged.rules.emplace_back(word);
    }
  }
  return merged;
}

bool HasBlanks(std::string_view name) {
  return name.find_first_of(std::string_view(" \t\n\v\f\r\0", 7)) != std::string_view::npos;
}

}  // namespace redouble::inline v0_1::memory
