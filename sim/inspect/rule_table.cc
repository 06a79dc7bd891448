#include "redouble/sim/inspect/rule_table.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::sim {
namespace {

using store::KeyBinding;
using store::KeyFamily;
using store::KeyMatch;
using store::KeyPattern;
using store::KeyRules;
using store::KeyType;

bool Has(std::span<const KeyBinding> bindings, std::string_view placeholder) {
  return std::any_of(bindings.begin(), bindings.end(),
                     [&](const KeyBinding& binding) { return binding.placeholder == placeholder; });
}

// Each value is preceded by its length, so that different lists of values have different texts.
std::string Join(const store::KeyValues& values, const std::vector<size_t>& positions) {
  std::string text;
  for (const size_t position : positions) {
    absl::StrAppend(&text, values[position].size(), ":", base::ToAbsl(values[position]));
  }
  return text;
}

std::vector<std::string> Split(std::string_view text) {
  std::vector<std::string> values;
  while (!text.empty()) {
    const size_t colon = text.find(':');
    const size_t length = std::stoul(std::string(text.substr(0, colon)));
    values.emplace_back(text.substr(colon + 1, length));
    text.remove_prefix(colon + 1 + length);
  }
  return values;
}

absl::Status NoSuchFamily(std::string_view id) {
  return absl::InvalidArgumentError(
      absl::StrCat("a rule names a key family that there is not: ", base::ToAbsl(id)));
}

}  // namespace

absl::StatusOr<RuleTable> RuleTable::Create(std::span<const KeyRules> systems,
                                            std::span<const KeyBinding> bindings) {
  for (const KeyBinding& binding : bindings) {
    const bool is_known = std::any_of(systems.begin(), systems.end(), [&](const KeyRules& rules) {
      return Has(rules.defaults, binding.placeholder);
    });
    if (is_known) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("no system has a prefix ", base::ToAbsl(binding.placeholder)));
  }
  RuleTable table;
  for (const KeyRules& rules : systems) {
    REDOUBLE_RETURN_IF_ERROR(table.Add(rules, bindings));
  }
  return table;
}

absl::Status RuleTable::Add(const KeyRules& rules, std::span<const KeyBinding> bindings) {
  std::vector<KeyBinding> bound;
  for (const KeyBinding& fallback : rules.defaults) {
    const auto given = std::find_if(bindings.begin(), bindings.end(), [&](const KeyBinding& other) {
      return other.placeholder == fallback.placeholder;
    });
    bound.push_back(given == bindings.end() ? fallback : *given);
  }
  REDOUBLE_RETURN_IF_ERROR(table_.Add(rules.families, bound));
  for (const store::KeyRelation& relation : rules.relations) {
    REDOUBLE_RETURN_IF_ERROR(AddRelation(relation));
  }
  for (const store::ExpiringKeys& keys : rules.expiring) {
    REDOUBLE_RETURN_IF_ERROR(AddExpiring(keys));
  }
  return absl::OkStatus();
}

absl::Status RuleTable::AddRelation(const store::KeyRelation& relation) {
  const KeyPattern* pattern = table_.PatternOf(relation.family);
  if (pattern == nullptr) return NoSuchFamily(relation.family);
  const KeyPattern* needed = table_.PatternOf(relation.needs);
  if (needed == nullptr) return NoSuchFamily(relation.needs);
  Relation compiled{.relation = &relation, .positions = {}, .needed_positions = {}};
  for (size_t i = 0; i < needed->placeholders().size(); ++i) {
    const std::optional<size_t> position = pattern->IndexOf(needed->placeholders()[i].name);
    if (!position) continue;
    compiled.positions.push_back(*position);
    compiled.needed_positions.push_back(i);
  }
  relations_.push_back(std::move(compiled));
  return absl::OkStatus();
}

absl::Status RuleTable::AddExpiring(const store::ExpiringKeys& keys) {
  const KeyPattern* pattern = table_.PatternOf(keys.family);
  if (pattern == nullptr) return NoSuchFamily(keys.family);
  if (!keys.placeholder.empty() && !pattern->IndexOf(keys.placeholder)) {
    return absl::InvalidArgumentError(absl::StrCat(
        base::ToAbsl(keys.family), " has no placeholder ", base::ToAbsl(keys.placeholder)));
  }
  expiring_.push_back(&keys);
  return absl::OkStatus();
}

std::optional<KeyReading> RuleTable::Read(std::string_view key, KeyType type) const {
  const store::Recognition recognition = table_.Recognise(key);
  if (recognition.matches.empty()) return std::nullopt;
  const auto typed =
      std::find_if(recognition.matches.begin(), recognition.matches.end(),
                   [type](const KeyMatch& match) { return match.family->type == type; });
  return Describe(typed == recognition.matches.end() ? recognition.matches.front() : *typed, type);
}

KeyReading RuleTable::Describe(const KeyMatch& match, KeyType type) const {
  KeyReading reading{.family = match.family,
                     .has_type = match.family->type == type,
                     .must_expire = MustExpire(match),
                     .needed = {},
                     .provided = {}};
  for (size_t i = 0; i < relations_.size(); ++i) {
    const Relation& relation = relations_[i];
    if (relation.relation->family == match.family->id) {
      reading.needed.push_back(RelationEnd{i, Join(match.values, relation.positions)});
    }
    if (relation.relation->needs == match.family->id) {
      reading.provided.push_back(RelationEnd{i, Join(match.values, relation.needed_positions)});
    }
  }
  return reading;
}

bool RuleTable::MustExpire(const KeyMatch& match) const {
  if (match.family->ttl.has_value()) return true;
  return std::any_of(expiring_.begin(), expiring_.end(), [&](const store::ExpiringKeys* keys) {
    if (keys->family != match.family->id) return false;
    return keys->placeholder.empty() ||
           match.values[*match.pattern->IndexOf(keys->placeholder)] == keys->value;
  });
}

std::optional<std::string> RuleTable::NeededKey(const RelationEnd& end) const {
  const Relation& relation = relations_[end.relation];
  const KeyPattern& pattern = *table_.PatternOf(relation.relation->needs);
  if (relation.needed_positions.size() != pattern.placeholders().size()) return std::nullopt;
  const std::vector<std::string> values = Split(end.common);
  const std::vector<std::string_view> views(values.begin(), values.end());
  absl::StatusOr<std::string> key = pattern.BuildFrom(views);
  if (!key.ok()) return std::nullopt;
  return *std::move(key);
}

}  // namespace redouble::inline v0_1::sim
