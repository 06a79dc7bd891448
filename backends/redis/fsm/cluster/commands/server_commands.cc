#include "redouble/backends/redis/fsm/cluster/commands/server_commands.h"

#include <algorithm>
#include <cstdint>

#include "absl/strings/ascii.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::redis {
namespace {

using store::CommandSpec;
using store::KeySpec;
using store::Reply;

// The places of the members in the reply to COMMAND INFO.
constexpr size_t kFirstKey = 3, kLastKey = 4, kKeyStep = 5, kKeySpecs = 8;

std::string LowerCase(std::string_view name) { return absl::AsciiStrToLower(base::ToAbsl(name)); }

bool HasText(const Reply& reply) { return reply.is_bulk() || reply.is_status(); }

// A member of a map that is written as a list of names and values; null if it is not there.
const Reply* Member(const Reply& map, std::string_view name) {
  if (!map.is_array()) return nullptr;
  const std::vector<Reply>& members = map.elements();
  for (size_t i = 0; i + 1 < members.size(); i += 2) {
    if (HasText(members[i]) && members[i].text() == name) return &members[i + 1];
  }
  return nullptr;
}

int16_t NumberIn(const Reply& map, std::string_view name) {
  const Reply* const member = Member(map, name);
  return member != nullptr && member->is_integer() ? static_cast<int16_t>(member->integer()) : 0;
}

std::string_view TypeOf(const Reply& search) {
  const Reply* const type = Member(search, "type");
  return type != nullptr && HasText(*type) ? std::string_view(type->text()) : "";
}

bool HasFlag(const Reply& described, std::string_view flag) {
  const Reply* const flags = Member(described, "flags");
  if (flags == nullptr || !flags->is_array()) return false;
  return std::any_of(flags->elements().begin(), flags->elements().end(),
                     [&](const Reply& one) { return HasText(one) && one.text() == flag; });
}

// The positions as servers before 7.0 describe them.
std::optional<KeySpec> ReadRange(const std::vector<Reply>& info) {
  for (const size_t place : {kFirstKey, kLastKey, kKeyStep}) {
    if (!info[place].is_integer()) return std::nullopt;
  }
  const int64_t first = info[kFirstKey].integer(), last = info[kLastKey].integer();
  if (first <= 0) return std::nullopt;
  KeySpec key;
  key.begin = KeySpec::Begin::kIndex;
  key.find = KeySpec::Find::kRange;
  key.position = static_cast<int16_t>(first);
  key.last = static_cast<int16_t>(last < 0 ? last : last - first);
  key.step = static_cast<int16_t>(info[kKeyStep].integer());
  return key;
}

}  // namespace

bool ServerCommands::Knows(std::string_view name) const {
  return specs_.size() >= kMaxNames || specs_.contains(LowerCase(name));
}

void ServerCommands::Learn(std::string_view name, const Reply& reply) {
  if (Knows(name)) return;
  const bool one = reply.is_array() && reply.elements().size() == 1;
  specs_.emplace(LowerCase(name), one ? Read(reply.elements()[0]) : std::nullopt);
}

std::optional<CommandSpec> ServerCommands::Read(const Reply& info) {
  if (!info.is_array() || info.elements().size() <= kKeyStep) return std::nullopt;
  const std::vector<Reply>& members = info.elements();
  CommandSpec spec = {};
  if (members.size() > kKeySpecs && members[kKeySpecs].is_array()) {
    for (const Reply& described : members[kKeySpecs].elements()) {
      const std::optional<KeySpec> key = ReadKeySpec(described);
      // Keys at unknown positions, or more positions than a row has.
      if (!key || spec.key_spec_count == CommandSpec::kMaxKeySpecs) return std::nullopt;
      spec.key_specs[spec.key_spec_count++] = *key;
    }
    if (spec.key_spec_count > 0) return spec;
  }
  if (const std::optional<KeySpec> range = ReadRange(members)) {
    spec.key_specs[spec.key_spec_count++] = *range;
  }
  return spec;
}

std::optional<KeySpec> ServerCommands::ReadKeySpec(const Reply& described) {
  if (HasFlag(described, "incomplete")) return std::nullopt;
  const Reply* const begin = Member(described, "begin_search");
  const Reply* const find = Member(described, "find_keys");
  if (begin == nullptr || find == nullptr) return std::nullopt;
  const Reply* const from = Member(*begin, "spec");
  const Reply* const how = Member(*find, "spec");
  if (from == nullptr || how == nullptr) return std::nullopt;
  KeySpec key;
  if (TypeOf(*begin) == "index") {
    key.begin = KeySpec::Begin::kIndex;
    key.position = NumberIn(*from, "index");
  } else if (TypeOf(*begin) == "keyword") {
    const Reply* const keyword = Member(*from, "keyword");
    if (keyword == nullptr || !HasText(*keyword)) return std::nullopt;
    key.begin = KeySpec::Begin::kKeyword;
    key.keyword = keywords_.emplace_back(keyword->text());
    key.position = NumberIn(*from, "startfrom");
  } else {
    return std::nullopt;
  }
  if (TypeOf(*find) == "range") {
    key.find = KeySpec::Find::kRange;
    key.last = NumberIn(*how, "lastkey");
    key.step = NumberIn(*how, "keystep");
    key.limit = NumberIn(*how, "limit");
  } else if (TypeOf(*find) == "keynum") {
    // Other distances between the number and the keys have no place in a row of the table.
    if (NumberIn(*how, "keynumidx") != 0 || NumberIn(*how, "firstkey") != 1) return std::nullopt;
    key.find = KeySpec::Find::kKeyNum;
    key.step = NumberIn(*how, "keystep");
  } else {
    return std::nullopt;
  }
  return key;
}

std::optional<std::vector<size_t>> ServerCommands::KeysOf(
    std::string_view name, std::span<const std::string_view> arguments) const {
  const auto found = specs_.find(LowerCase(name));
  if (found == specs_.end() || !found->second) return std::nullopt;
  return store::KeyIndexes(*found->second, arguments);
}

}  // namespace redouble::inline v0_1::redis
