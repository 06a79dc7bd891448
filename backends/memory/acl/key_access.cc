#include "redouble/backends/memory/acl/key_access.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::memory {
namespace {

using store::CommandId;
using store::CommandSpec;
using store::KeySpec;

using Arguments = std::span<const std::string_view>;

bool Is(std::string_view word, std::string_view other) {
  return absl::EqualsIgnoreCase(base::ToAbsl(word), base::ToAbsl(other));
}

// True if a SET has the option GET. As in Redis, another option's value counts ("EX get").
bool ReadsWhatItSets(Arguments arguments) {
  constexpr size_t kOptions = 2;
  return arguments.size() > kOptions &&
         std::any_of(arguments.begin() + kOptions, arguments.end(),
                     [](std::string_view word) { return Is(word, "GET"); });
}

// True if all operations of a BITFIELD read. One that Redis cannot read may write.
bool OnlyReadsBits(Arguments arguments) {
  for (size_t i = 1; i < arguments.size(); ++i) {
    const size_t left = arguments.size() - i - 1;
    if (Is(arguments[i], "GET") && left >= 2) {
      i += 2;
    } else if (Is(arguments[i], "OVERFLOW") && left >= 1) {
      ++i;
    } else {
      return false;
    }
  }
  return true;
}

// The flags of a key whose access depends on other arguments.
uint16_t FlagsInUse(const CommandSpec& spec, Arguments arguments, uint16_t flags) {
  if ((flags & KeySpec::kVariableFlags) == 0) return flags;
  constexpr uint16_t kReadsAndWrites = KeySpec::kRW | KeySpec::kAccess | KeySpec::kUpdate;
  if (spec.id == CommandId::kSet) {
    return ReadsWhatItSets(arguments) ? kReadsAndWrites : KeySpec::kOW | KeySpec::kUpdate;
  }
  return OnlyReadsBits(arguments) ? KeySpec::kRO | KeySpec::kAccess : kReadsAndWrites;
}

// Redis does not know what is done with the keys: their access is unknown.
std::vector<KeyAccess> WithoutFlags(const std::vector<size_t>& indexes) {
  std::vector<KeyAccess> uses;
  for (const size_t index : indexes) uses.push_back({index, 0});
  return uses;
}

}  // namespace

std::optional<std::vector<KeyAccess>> KeyAccesses(const CommandSpec& spec, Arguments arguments) {
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
    if (!indexes) return WithoutFlags(*all);
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

}  // namespace redouble::inline v0_1::memory
