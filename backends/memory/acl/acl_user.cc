#include "redouble/backends/memory/acl/acl_user.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "redouble/backends/memory/acl/key_access.h"
#include "redouble/core/base/hash/digest.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/table/per_version.h"

namespace redouble::inline v0_1::memory {
namespace {

using store::CommandId;
using store::CommandSpec;
using store::KeySpec;

using Arguments = std::span<const std::string_view>;

bool Is(std::string_view word, std::string_view other) {
  return absl::EqualsIgnoreCase(base::ToAbsl(word), base::ToAbsl(other));
}

bool IsSha256(std::string_view text) {
  return text.size() == 64 && std::all_of(text.begin(), text.end(), [](char c) {
           return absl::ascii_isdigit(static_cast<unsigned char>(c)) || (c >= 'a' && c <= 'f');
         });
}

Selector::Access AccessOf(uint16_t key_flags) {
  constexpr uint16_t kWrites = KeySpec::kInsert | KeySpec::kDelete | KeySpec::kUpdate;
  const int reads = (key_flags & KeySpec::kAccess) != 0 ? Selector::kRead : Selector::kNoAccess;
  const int writes = (key_flags & kWrites) != 0 ? Selector::kWrite : Selector::kNoAccess;
  return static_cast<Selector::Access>(reads | writes);
}

// The arguments of a command that are channels; unsubscribing is always allowed.
struct Channels {
  size_t count = 0;
  Selector::ChannelKind kind = Selector::ChannelKind::kName;
};
Channels ChannelsOf(CommandId id, Arguments arguments) {
  switch (id) {
    case CommandId::kPublish:
    case CommandId::kSPublish:
      return {.count = 1};
    case CommandId::kSubscribe:
    case CommandId::kSSubscribe:
      return {.count = arguments.size()};
    case CommandId::kPSubscribe:
      return {.count = arguments.size(), .kind = Selector::ChannelKind::kPattern};
    default:
      return {};
  }
}

Verdict CheckSelector(const Selector& selector, CommandId id, Arguments arguments) {
  if (!selector.MayRun(id, arguments)) return {Denied::kCommand, 0};
  const CommandSpec& spec = store::SpecOf(id);
  if (!selector.allows_all_keys() && spec.key_spec_count > 0) {
    // Arguments that contradict the row have no keys to check; the handler will refuse them.
    for (const KeyAccess& use : KeyAccesses(spec, arguments).value_or(std::vector<KeyAccess>())) {
      if (!selector.MayTouch(arguments[use.index], AccessOf(use.flags))) {
        return {Denied::kKey, use.index};
      }
    }
  }
  const Channels channels = ChannelsOf(id, arguments);
  for (size_t index = 0; index < channels.count; ++index) {
    if (!selector.MayUse(arguments[index], channels.kind)) return {Denied::kChannel, index};
  }
  return {};
}

}  // namespace

AclUser::AclUser(std::string name, NewChannels channels, store::Version version)
    : name_(std::move(name)), version_(version), new_channels_(channels) {
  Reset();
  // Redis 7.0 does not tell the flag of a new user.
  if (version_ == store::Version::kRedis70) payload_ = Payload::kUnsaid;
}

AclUser AclUser::Default(store::Version version) {
  // Each engine has a copy, which is made faster than the rules are applied.
  static const auto& users = *new store::PerVersion<AclUser>([](store::Version of) {
    AclUser user("default", NewChannels::kNone, of);
    for (const std::string_view rule : {"on", "nopass", "allkeys", "allchannels", "allcommands"}) {
      user.Apply(rule);
    }
    return user;
  });
  return users[version];
}

void AclUser::Reset() {
  enabled_ = false;
  no_password_ = false;
  payload_ = Payload::kSanitize;
  password_hashes_.clear();
  selectors_.assign(1, Selector(version_));
  if (new_channels_ == NewChannels::kAll) selectors_[0].Apply("allchannels");
}

std::optional<RuleError> AclUser::Apply(std::string_view rule) {
  const std::optional<RuleError> error = ApplyRule(rule);
  const Selector& root = selectors_[0];
  unrestricted_ =
      root.allows_all_commands() && root.allows_all_keys() && root.allows_all_channels();
  return error;
}

std::optional<RuleError> AclUser::ApplyRule(std::string_view rule) {
  if (rule.empty()) return std::nullopt;
  if (Is(rule, "on") || Is(rule, "off")) {
    enabled_ = Is(rule, "on");
  } else if (Is(rule, "nopass") || Is(rule, "resetpass")) {
    no_password_ = Is(rule, "nopass");
    password_hashes_.clear();
  } else if (Is(rule, "sanitize-payload")) {
    payload_ = Payload::kSanitize;
  } else if (Is(rule, "skip-sanitize-payload")) {
    payload_ = Payload::kSkip;
  } else if (Is(rule, "reset")) {
    Reset();
  } else if (Is(rule, "clearselectors")) {
    selectors_.resize(1);
  } else if (std::string_view("><#!").find(rule[0]) != std::string_view::npos) {
    return ApplyPassword(rule[0], rule.substr(1));
  } else if (rule.starts_with('(') && rule.ends_with(')')) {
    return AddSelector(rule.substr(1, rule.size() - 2));
  } else {
    return selectors_[0].Apply(rule);
  }
  return std::nullopt;
}

std::optional<RuleError> AclUser::ApplyPassword(char kind, std::string_view text) {
  const bool is_hash = kind == '#' || kind == '!';
  if (is_hash && !IsSha256(text)) return rule_error::kBadHash;
  std::string hash = is_hash ? std::string(text) : base::Sha256Hex(text);
  const auto known = std::find(password_hashes_.begin(), password_hashes_.end(), hash);
  const bool adds = kind == '>' || kind == '#';
  if (!adds) {
    if (known == password_hashes_.end()) return rule_error::kNoSuchPassword;
    password_hashes_.erase(known);
    return std::nullopt;
  }
  if (known == password_hashes_.end()) password_hashes_.push_back(std::move(hash));
  no_password_ = false;
  return std::nullopt;
}

std::optional<RuleError> AclUser::AddSelector(std::string_view rules) {
  Selector selector(version_);
  if (new_channels_ == NewChannels::kAll) selector.Apply("allchannels");
  for (const absl::string_view rule :
       absl::StrSplit(base::ToAbsl(rules), absl::ByAnyChar(" "), absl::SkipEmpty())) {
    if (const std::optional<RuleError> error = selector.Apply(base::ToStd(rule))) return error;
  }
  selectors_.push_back(std::move(selector));
  return std::nullopt;
}

bool AclUser::Accepts(std::string_view password) const {
  if (!enabled_) return false;
  if (no_password_) return true;
  const std::string hash = base::Sha256Hex(password);
  return std::find(password_hashes_.begin(), password_hashes_.end(), hash) !=
         password_hashes_.end();
}

void AclUser::SetOnlyPassword(std::string_view password) {
  password_hashes_.clear();
  no_password_ = password.empty();
  if (!no_password_) password_hashes_.push_back(base::Sha256Hex(password));
}

Verdict AclUser::Check(CommandId id, Arguments arguments) const {
  Verdict told{Denied::kCommand, 0};
  for (const Selector& selector : selectors_) {
    const Verdict verdict = CheckSelector(selector, id, arguments);
    if (verdict.denied == Denied::kNothing) return verdict;
    // The selector that came closest determines the reason.
    if (verdict.denied > told.denied ||
        (verdict.denied == told.denied && verdict.index > told.index)) {
      told = verdict;
    }
  }
  return told;
}

bool AclUser::MayReadAllKeys(CommandId id, Arguments arguments) const {
  return std::any_of(selectors_.begin(), selectors_.end(), [&](const Selector& selector) {
    return CheckSelector(selector, id, arguments).denied == Denied::kNothing &&
           selector.MayReadAllKeys();
  });
}

bool AclUser::MayUse(std::string_view channel, Selector::ChannelKind kind) const {
  return std::any_of(selectors_.begin(), selectors_.end(),
                     [&](const Selector& selector) { return selector.MayUse(channel, kind); });
}

bool AclUser::MaySimulate() const {
  return std::any_of(selectors_.begin(), selectors_.end(),
                     [](const Selector& selector) { return selector.MaySimulate(); });
}

std::vector<std::string_view> AclUser::Flags() const {
  std::vector<std::string_view> flags = {enabled_ ? "on" : "off"};
  if (no_password_) flags.push_back("nopass");
  if (payload_ == Payload::kSkip) flags.push_back("skip-sanitize-payload");
  if (payload_ == Payload::kSanitize) flags.push_back("sanitize-payload");
  return flags;
}

std::string AclUser::Describe() const {
  std::string line = absl::StrCat("user ", name_);
  for (const std::string_view flag : Flags()) absl::StrAppend(&line, " ", base::ToAbsl(flag));
  for (const std::string& hash : password_hashes_) absl::StrAppend(&line, " #", hash);
  absl::StrAppend(&line, " ", selectors_[0].Describe());
  for (size_t i = 1; i < selectors_.size(); ++i) {
    absl::StrAppend(&line, " (", selectors_[i].Describe(), ")");
  }
  return line;
}

}  // namespace redouble::inline v0_1::memory
