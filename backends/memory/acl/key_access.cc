#include "redouble/backends/memory/acl/key_access.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::memory {
namespace {

using store::CommandId;
using store::CommandSpec;
using store::KeySpec;

// The flags of a key whose access depends on other arguments.
uint16_t FlagsInUse(const CommandSpec& spec, std::span<const std::string_view> arguments,
                    uint16_t flags) {
  if ((flags & KeySpec::kVariableFlags) == 0) return flags;
  const auto is_word = [](std::string_view word) {
    return [word](std::string_view argument) {
      return absl::EqualsIgnoreCase(base::ToAbsl(argument), base::ToAbsl(word));
    };
  };
  const auto has = [&](std::string_view word) {
    return std::any_of(arguments.begin() + 1, arguments.end(), is_word(word));
  };
  if (spec.id == CommandId::kSet) {
    return has("GET") ? KeySpec::kRW | KeySpec::kAccess | KeySpec::kUpdate
                      : KeySpec::kOW | KeySpec::kUpdate;
  }
  const bool writes = has("SET") || has("INCRBY");
  return writes ? KeySpec::kRW | KeySpec::kAccess | KeySpec::kUpdate
                : KeySpec::kRO | KeySpec::kAccess;
}

}  // namespace

std::optional<std::vector<KeyAccess>> KeyAccesses(const CommandSpec& spec,
                                                  std::span<const std::string_view> arguments) {
  const std::optional<std::vector<size_t>> all = store::KeyIndexes(spec, arguments);
  if (!all) return std::nullopt;
  std::vector<KeyAccess> uses;
  if (spec.id == CommandId::kMigrate) {
    for (const size_t index : *all) uses.push_back({index, spec.keys().front().flags});
    return uses;
  }
  for (const KeySpec& key : spec.keys()) {
    CommandSpec one = spec;
    one.id = CommandId::kUnknown;
    one.key_spec_count = 1;
    one.key_specs[0] = key;
    const std::optional<std::vector<size_t>> indexes = store::KeyIndexes(one, arguments);
    if (!indexes) return std::nullopt;
    for (const size_t index : *indexes) {
      uses.push_back({index, FlagsInUse(spec, arguments, key.flags)});
    }
  }
  // A key that no key spec finds is SORT's STORE destination.
  for (size_t i = uses.size(); i < all->size(); ++i) {
    uses.push_back({(*all)[i], KeySpec::kOW | KeySpec::kUpdate});
  }
  return uses;
}

}  // namespace redouble::memory
