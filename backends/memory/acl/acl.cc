#include "redouble/backends/memory/acl/acl.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::memory {
namespace {

constexpr int64_t kSameDenialMs = 60'000;

struct MergedRules {
  std::vector<std::string> rules;
  std::optional<std::string> error = std::nullopt;
};

// Joins the words between "(" and ")" to one rule.
MergedRules MergeSelectors(std::span<const std::string_view> words) {
  MergedRules merged;
  std::optional<std::string> selector;
  std::string_view begin;
  for (const std::string_view word : words) {
    if (!selector && word.starts_with('(') && !word.ends_with(')')) {
      selector = std::string(word);
      begin = word;
    } else if (selector) {
      absl::StrAppend(&*selector, " ", base::ToAbsl(word));
      if (word.ends_with(')')) merged.rules.push_back(*std::exchange(selector, std::nullopt));
    } else {
      merged.rules.emplace_back(word);
    }
  }
  if (selector) {
    merged.error = absl::StrCat("ERR Unmatched parenthesis in acl selector starting at '",
                                base::ToAbsl(begin), "'.");
  }
  return merged;
}

bool IsSame(const DenialEntry& a, const DenialEntry& b) {
  return a.reason == b.reason && a.context == b.context && a.object == b.object &&
         a.user == b.user && std::abs(a.last_ms - b.last_ms) <= kSameDenialMs;
}

}  // namespace

void DenialLog::Add(DenialEntry entry, size_t max_entries) {
  const auto same = std::find_if(entries_.begin(), entries_.end(),
                                 [&](const DenialEntry& other) { return IsSame(other, entry); });
  if (same != entries_.end()) {
    entry.count += same->count;
    entries_.erase(same);
  }
  entries_.push_front(std::move(entry));
  if (entries_.size() > max_entries) entries_.resize(max_entries);
}

Acl::Acl() {
  auto user = std::make_unique<AclUser>(AclUser::Default());
  default_user_ = user.get();
  users_.emplace(user->name(), std::move(user));
}

const AclUser* Acl::Find(std::string_view name) const {
  const auto found = users_.find(name);
  return found == users_.end() ? nullptr : found->second.get();
}

std::optional<std::string> Acl::SetUser(std::string_view name,
                                        std::span<const std::string_view> words,
                                        AclUser::NewChannels channels) {
  const MergedRules merged = MergeSelectors(words);
  if (merged.error) return merged.error;
  const auto found = users_.find(name);
  AclUser changed = found == users_.end() ? AclUser(std::string(name), channels) : *found->second;
  changed.set_new_channels(channels);
  for (const std::string& rule : merged.rules) {
    if (const std::optional<RuleError> error = changed.Apply(rule)) {
      return absl::StrCat("ERR Error in ACL SETUSER modifier '", rule, "': ", base::ToAbsl(*error));
    }
  }
  if (found == users_.end()) {
    users_.emplace(name, std::make_unique<AclUser>(std::move(changed)));
  } else {
    *found->second = std::move(changed);
  }
  return std::nullopt;
}

void Acl::Remove(std::string_view name) {
  const auto found = users_.find(name);
  assert(found != users_.end() && found->second.get() != default_user_);
  users_.erase(found);
}

const AclUser* Acl::Authenticate(std::string_view name, std::string_view password) const {
  const AclUser* user = Find(name);
  return user != nullptr && user->Accepts(password) ? user : nullptr;
}

}  // namespace redouble::memory
