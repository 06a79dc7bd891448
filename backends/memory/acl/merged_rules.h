// MergeSelectors: the rules of a user from the words of a command or a line.
//
//   const std::string_view words[] = {"on", "(+get", "~a:*)"};
//   MergeSelectors(words, store::Version::kRedis70).rules;  // {"on", "(+get ~a:*)"}
//
// Thread-safety: pure functions.
// Source: Redis 7.0 acl.c, ACLMergeSelectorArguments.
#ifndef REDOUBLE_BACKENDS_MEMORY_ACL_MERGED_RULES_H_
#define REDOUBLE_BACKENDS_MEMORY_ACL_MERGED_RULES_H_

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "redouble/core/store/table/version.h"

namespace redouble::inline v0_1::memory {

struct MergedRules {
  std::vector<std::string> rules;
  // The index of a word that begins a selector without an end.
  std::optional<size_t> unmatched = std::nullopt;
};

// Joins the words between "(" and ")" to one rule. What a "(" in between does depends on the
// version.
MergedRules MergeSelectors(std::span<const std::string_view> words, store::Version version);

// Whether a user's name has characters that are not allowed in it.
bool HasBlanks(std::string_view name);

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_ACL_MERGED_RULES_H_
