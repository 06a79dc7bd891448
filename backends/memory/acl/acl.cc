#include "redouble/backends/memory/acl/acl.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "absl/strings/str_cat.h"
#include "redouble/backends/memory/acl/merged_rules.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::memory {
namespace {

constexpr int64_t kSameDenialMs = 60'000;
// A denial is compared with this many of the newest entries.
constexpr std::ptrdiff_t kComparedEntries = 10;

bool IsSame(const DenialEntry& a, const DenialEntry& b) {
  return a.reason == b.reason && a.context == b.context && a.object == b.object &&
         a.user == b.user && std::abs(a.last_ms - b.last_ms) <= kSameDenialMs;
}

// Redis's errors show words as C strings.
absl::string_view BeforeZeroByte(std::string_view word) {
  return base::ToAbsl(word.substr(0, word.find('\0')));
}

}  // namespace

void DenialLog::Add(DenialEntry entry, size_t max_entries) {
  const auto last = entries_.begin() + std::min(std::ssize(entries_), kComparedEntries);
  const auto same = std::find_if(entries_.begin(), last,
                                 [&](const DenialEntry& other) { return IsSame(other, entry); });
  if (same == last) {
    entry.id = next_id_++;
  } else {
    entry.count += same->count;
    entry.id = same->id;
    entry.created_ms = same->created_ms;
    entries_.erase(same);
  }
  entries_.push_front(std::move(entry));
  if (entries_.size() > max_entries) entries_.resize(max_entries);
}

Acl::Acl(store::Version version) : version_(version) {
  auto user = std::make_unique<AclUser>(AclUser::Default(version_));
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
  const MergedRules merged = MergeSelectors(words, version_);
  if (merged.unmatched) {
    return absl::StrCat("ERR Unmatched parenthesis in acl selector starting at '",
                        BeforeZeroByte(words[*merged.unmatched]), "'.");
  }
  const std::optional<RejectedRule> rejected = ChangeUser(name, merged.rules, channels);
  if (!rejected) return std::nullopt;
  return absl::StrCat("ERR Error in ACL SETUSER modifier '", BeforeZeroByte(rejected->rule),
                      "': ", base::ToAbsl(rejected->error));
}

std::optional<RejectedRule> Acl::ChangeUser(std::string_view name,
                                            std::span<const std::string> rules,
                                            AclUser::NewChannels channels) {
  const auto found = users_.find(name);
  AclUser changed =
      found == users_.end() ? AclUser(std::string(name), channels, version_) : *found->second;
  changed.set_new_channels(channels);
  for (const std::string& rule : rules) {
    if (const std::optional<RuleError> error = changed.Apply(rule)) {
      return RejectedRule{rule, *error};
    }
  }
  if (found == users_.end()) {
    users_.emplace(name, std::make_unique<AclUser>(std::move(changed)));
  } else {
    *found->second = std::move(changed);
  }
  return std::nullopt;
}

void Acl::Replace(Users users) {
  std::unique_ptr<AclUser>& user = users[default_user_->name()];
  if (user == nullptr) user = std::make_unique<AclUser>(AclUser::Default(version_));
  *default_user_ = std::move(*user);
  user = std::move(users_.find(default_user_->name())->second);
  users_ = std::move(users);
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

}  // namespace redouble::inline v0_1::memory
