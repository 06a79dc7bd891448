#include "redouble/backends/memory/acl/selector.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "redouble/core/base/text/glob.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/table/command_details.h"

namespace redouble::inline v0_1::memory {
namespace {

using store::CommandId;
using store::CommandSpec;

bool Is(std::string_view word, std::string_view other) {
  return absl::EqualsIgnoreCase(base::ToAbsl(word), base::ToAbsl(other));
}

bool HasBlanks(std::string_view text) {
  return text.find_first_of(std::string_view(" \t\n\v\f\r\0", 7)) != std::string_view::npos;
}

using Members = std::bitset<store::kCommandCount>;

// The commands with that category in their own row.
const Members& MembersOf(std::string_view category) {
  static const std::map<std::string_view, Members> kMembers = [] {
    std::map<std::string_view, Members> members;
    for (const CommandSpec& spec : store::AllCommands()) {
      for (const std::string_view name : store::CategoriesOf(spec.id)) {
        members[name].set(static_cast<size_t>(spec.id));
      }
    }
    return members;
  }();
  static const Members kNobody;
  const auto found = kMembers.find(category);
  return found == kMembers.end() ? kNobody : found->second;
}

// Redis 7.0 derives the rules from its commands; later versions keep them as they were given.
bool IsDescribed(const CommandSpec& spec) { return spec.versions.Has(store::Version::kRedis70); }

std::string LowerCase(std::string_view text) { return absl::AsciiStrToLower(base::ToAbsl(text)); }

}  // namespace

CommandId Selector::FindCommand(std::string_view name) const {
  const CommandId id = store::FindCommand(name);
  if (id == CommandId::kUnknown) return id;
  return store::SpecOf(id).versions.Has(version_) ? id : CommandId::kUnknown;
}

// A rule replaces those of the same name, and those of a container those of its subcommands.
void Selector::KeepRule(std::string_view rule) {
  std::string kept = LowerCase(rule);
  const std::string_view name = std::string_view(kept).substr(1);
  std::erase_if(rules_, [&](std::string_view other) {
    other.remove_prefix(1);
    return other == name ||
           (other.size() > name.size() && other.starts_with(name) && other[name.size()] == '|');
  });
  rules_.push_back(std::move(kept));
}

std::optional<RuleError> Selector::Apply(std::string_view rule) {
  if (Is(rule, "allcommands") || Is(rule, "+@all")) {
    SetAll(true);
  } else if (Is(rule, "nocommands") || Is(rule, "-@all")) {
    SetAll(false);
  } else if (Is(rule, "+@sim") || Is(rule, "-@sim")) {
    // SIM is no command of Redis, so its category is not in the table that ACL CAT lists.
    commands_.set(kSimulator, rule.starts_with('+'));
    KeepRule(rule);
    allows_all_commands_ = allows_all_commands_ && rule.starts_with('+');
  } else if (Is(rule, "allkeys") || rule == "~*") {
    allows_all_keys_ = true;
    keys_.clear();
  } else if (Is(rule, "resetkeys")) {
    allows_all_keys_ = false;
    keys_.clear();
  } else if (Is(rule, "allchannels") || rule == "&*") {
    allows_all_channels_ = true;
    channels_.clear();
  } else if (Is(rule, "resetchannels")) {
    allows_all_channels_ = false;
    channels_.clear();
  } else if (rule.starts_with('~') || rule.starts_with('%')) {
    return AddKeyPattern(rule);
  } else if (rule.starts_with('&')) {
    return AddChannel(rule.substr(1));
  } else if (rule.starts_with("+@") || rule.starts_with("-@")) {
    const std::string category = LowerCase(rule.substr(2));
    if (!store::IsCategory(category)) return rule_error::kUnknownName;
    SetCategory(category, rule.starts_with('+'));
    KeepRule(rule);
  } else if (rule.starts_with('+') || rule.starts_with('-')) {
    const std::optional<RuleError> error = ApplyToCommand(rule.substr(1), rule.starts_with('+'));
    if (!error) KeepRule(rule);
    return error;
  } else {
    return rule_error::kSyntax;
  }
  return std::nullopt;
}

std::optional<RuleError> Selector::ApplyToCommand(std::string_view name, bool allow) {
  const size_t bar = name.rfind('|');
  if (allow && bar != std::string_view::npos) {
    const CommandId container = FindCommand(name.substr(0, bar));
    if (container == CommandId::kUnknown) return rule_error::kUnknownName;
    if (store::SpecOf(container).is_subcommand()) return rule_error::kFirstArgument;
    if (bar + 1 == name.size()) return rule_error::kSyntax;
    if (!store::IsContainer(container)) {
      return AllowFirstArgument(name.substr(0, bar), name.substr(bar + 1));
    }
  }
  const CommandId id = FindCommand(name);
  if (id == CommandId::kUnknown) return rule_error::kUnknownName;
  SetCommand(id, allow);
  return std::nullopt;
}

std::optional<RuleError> Selector::AllowFirstArgument(std::string_view command,
                                                      std::string_view argument) {
  std::vector<std::string>& allowed = first_arguments_[store::FindCommand(command)];
  const bool known = std::any_of(allowed.begin(), allowed.end(),
                                 [&](const std::string& other) { return Is(other, argument); });
  if (!known) allowed.emplace_back(argument);
  return std::nullopt;
}

std::optional<RuleError> Selector::AddKeyPattern(std::string_view rule) {
  if (allows_all_keys_) return rule_error::kPatternAfterAllKeys;
  uint8_t access = kNoAccess;
  size_t begin = 1;
  if (rule[0] == '~') {
    access = kReadWrite;
  } else {
    for (; begin < rule.size() && rule[begin] != '~'; ++begin) {
      const bool reads = Is(rule.substr(begin, 1), "R");
      const bool writes = Is(rule.substr(begin, 1), "W");
      const Access one = reads ? kRead : writes ? kWrite : kNoAccess;
      if (one == kNoAccess || (access & one) != 0) return rule_error::kSyntax;
      access |= one;
    }
    if (access == kNoAccess) return rule_error::kSyntax;
    begin = std::min(begin + 1, rule.size());
  }
  const std::string_view pattern = rule.substr(begin);
  if (HasBlanks(pattern)) return rule_error::kSyntax;
  for (KeyPattern& known : keys_) {
    if (known.pattern != pattern) continue;
    known.access |= access;
    return std::nullopt;
  }
  keys_.push_back({std::string(pattern), access});
  return std::nullopt;
}

std::optional<RuleError> Selector::AddChannel(std::string_view pattern) {
  if (allows_all_channels_) return rule_error::kPatternAfterAllChannels;
  if (HasBlanks(pattern)) return rule_error::kSyntax;
  if (std::find(channels_.begin(), channels_.end(), pattern) == channels_.end()) {
    channels_.emplace_back(pattern);
  }
  return std::nullopt;
}

void Selector::SetAll(bool allow) {
  allow ? commands_.set() : commands_.reset();
  allows_all_commands_ = allow;
  rules_ = {allow ? "+@all" : "-@all"};
  first_arguments_.clear();
}

void Selector::SetCategory(std::string_view category, bool allow) {
  const Members& members = MembersOf(category);
  for (const CommandSpec& spec : store::AllCommands()) {
    if (members.test(static_cast<size_t>(spec.id))) SetCommand(spec.id, allow);
  }
}

void Selector::SetCommand(CommandId id, bool allow) {
  SetOne(id, allow);
  if (!store::IsContainer(id)) return;
  for (const CommandSpec& spec : store::AllCommands()) {
    if (spec.is_subcommand() && spec.container() == store::SpecOf(id).name) SetOne(spec.id, allow);
  }
}

void Selector::SetOne(CommandId id, bool allow) {
  commands_.set(static_cast<size_t>(id), allow);
  allows_all_commands_ = allows_all_commands_ && allow;
  first_arguments_.erase(id);
}

bool Selector::MayRun(CommandId id, std::span<const std::string_view> arguments) const {
  if (allows_all_commands_ || Has(id)) return true;
  if (store::SpecOf(id).Has(store::command_flag::kNoAuth)) return true;
  const auto allowed = first_arguments_.find(id);
  if (allowed == first_arguments_.end() || arguments.empty()) return false;
  return std::any_of(allowed->second.begin(), allowed->second.end(),
                     [&](const std::string& first) { return Is(first, arguments[0]); });
}

bool Selector::MayTouch(std::string_view key, Access access) const {
  return allows_all_keys_ || std::any_of(keys_.begin(), keys_.end(), [&](const KeyPattern& row) {
           return (row.access & access) == access && base::GlobMatch(row.pattern, key);
         });
}

bool Selector::MayReadAllKeys() const {
  return allows_all_keys_ || std::any_of(keys_.begin(), keys_.end(), [](const KeyPattern& row) {
           return (row.access & kRead) != 0 && row.pattern == "*";
         });
}

bool Selector::MayUse(std::string_view channel, ChannelKind kind) const {
  return allows_all_channels_ ||
         std::any_of(channels_.begin(), channels_.end(), [&](const std::string& pattern) {
           return kind == ChannelKind::kPattern ? pattern == channel
                                                : base::GlobMatch(pattern, channel);
         });
}

std::string_view Selector::BestCategory(bool adds,
                                        std::span<const std::string_view> applied) const {
  std::string_view best;
  size_t least_wrong = store::kCommandCount;
  size_t most_right = 0;
  for (const std::string_view category : store::AllCategories()) {
    if (std::find(applied.begin(), applied.end(), category) != applied.end()) continue;
    size_t right = 0;
    size_t wrong = 0;
    const Members& members = MembersOf(category);
    for (size_t id = 0; id < store::kCommandCount; ++id) {
      if (!IsDescribed(store::SpecOf(static_cast<CommandId>(id)))) continue;
      if (members.test(id)) ++(commands_.test(id) == adds ? right : wrong);
    }
    const bool fits = right > wrong;
    if (fits && (wrong < least_wrong || (wrong == least_wrong && right > most_right))) {
      best = category;
      least_wrong = wrong;
      most_right = right;
    }
  }
  return best;
}

// Applies each rule to a selector of its own, so that it knows which rules are still missing.
std::string Selector::DescribeCommands() const {
  if (version_ != store::Version::kRedis70) return absl::StrJoin(rules_, " ");
  const bool adds = !commands_.test(kFutureCommands);
  const auto sign = [](bool allow) { return allow ? "+" : "-"; };
  std::string rules = adds ? "-@all" : "+@all";
  Selector described;
  described.SetAll(!adds);
  Selector rest = *this;
  std::vector<std::string_view> applied;
  for (std::string_view best; !(best = rest.BestCategory(adds, applied)).empty();) {
    described.SetCategory(best, adds);
    rest.SetCategory(best, !adds);
    applied.push_back(best);
    absl::StrAppend(&rules, " ", sign(adds), "@", base::ToAbsl(best));
  }
  for (const CommandSpec& spec : store::AllCommands()) {
    if (spec.is_subcommand() || !IsDescribed(spec)) continue;
    DescribeSingle(spec.id, described, rules);
    for (const CommandSpec& inner : store::AllCommands()) {
      if (!IsDescribed(inner)) continue;
      if (inner.is_subcommand() && inner.container() == spec.name)
        DescribeSingle(inner.id, described, rules);
    }
  }
  if (commands_.test(kSimulator) == adds) absl::StrAppend(&rules, " ", sign(adds), "@sim");
  return rules;
}

void Selector::DescribeSingle(CommandId id, Selector& described, std::string& rules) const {
  const absl::string_view name = base::ToAbsl(store::SpecOf(id).name);
  if (Has(id) != described.Has(id)) {
    absl::StrAppend(&rules, Has(id) ? " +" : " -", name);
    described.SetCommand(id, Has(id));
  }
  if (Has(id)) return;
  const auto allowed = first_arguments_.find(id);
  if (allowed == first_arguments_.end()) return;
  for (const std::string& first : allowed->second) absl::StrAppend(&rules, " +", name, "|", first);
}

std::string Selector::DescribeKeys() const {
  if (allows_all_keys_) return "~*";
  std::string rules;
  for (const KeyPattern& row : keys_) {
    const std::string_view prefix = row.access == kReadWrite ? "~"
                                    : row.access == kRead    ? "%R~"
                                                             : "%W~";
    absl::StrAppend(&rules, rules.empty() ? "" : " ", base::ToAbsl(prefix), row.pattern);
  }
  return rules;
}

std::string Selector::DescribeChannels() const {
  if (allows_all_channels_) return "&*";
  std::string rules;
  for (const std::string& pattern : channels_) {
    absl::StrAppend(&rules, rules.empty() ? "&" : " &", pattern);
  }
  return rules;
}

std::string Selector::Describe() const {
  const std::string keys = DescribeKeys();
  std::string channels = DescribeChannels();
  if (!allows_all_channels_)
    channels = channels.empty() ? "resetchannels" : "resetchannels " + channels;
  return absl::StrCat(keys, keys.empty() ? "" : " ", channels, " ", DescribeCommands());
}

}  // namespace redouble::inline v0_1::memory
