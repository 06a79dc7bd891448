#include "redouble/core/store/table/command_table.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <numeric>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "redouble/core/base/text/redis_number.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/table/per_version.h"

namespace redouble::inline v0_1::store {
namespace {

using command_flag::kAdmin;
using command_flag::kAllowBusy;
using command_flag::kAsking;
using command_flag::kBlocking;
using command_flag::kDenyOom;
using command_flag::kFast;
using command_flag::kLoading;
using command_flag::kMovableKeys;
using command_flag::kNoAsyncLoading;
using command_flag::kNoAuth;
using command_flag::kNoFlags;
using command_flag::kNoMandatoryKeys;
using command_flag::kNoMulti;
using command_flag::kNoScript;
using command_flag::kProtected;
using command_flag::kPubSub;
using command_flag::kReadOnly;
using command_flag::kSkipMonitor;
using command_flag::kSkipSlowLog;
using command_flag::kStale;
using command_flag::kWrite;

// The names that the rows use for key flags.
constexpr auto kRO = KeySpec::kRO;
constexpr auto kRW = KeySpec::kRW;
constexpr auto kOW = KeySpec::kOW;
constexpr auto kRM = KeySpec::kRM;
constexpr auto kAccess = KeySpec::kAccess;
constexpr auto kUpdate = KeySpec::kUpdate;
constexpr auto kInsert = KeySpec::kInsert;
constexpr auto kDelete = KeySpec::kDelete;
constexpr auto kNotKey = KeySpec::kNotKey;
constexpr auto kIncomplete = KeySpec::kIncomplete;
constexpr auto kVariableFlags = KeySpec::kVariableFlags;

// Keys from `position` to `last`, `step` apart.
constexpr KeySpec Range(int16_t position, int16_t last, int16_t step, int flags) {
  return {.begin = KeySpec::Begin::kIndex,
          .find = KeySpec::Find::kRange,
          .flags = static_cast<uint16_t>(flags),
          .position = position,
          .last = last,
          .step = step};
}
// One key.
constexpr KeySpec At(int16_t position, int flags) { return Range(position, 0, 1, flags); }
// The number of keys at `position`, then the keys.
constexpr KeySpec Counted(int16_t position, int flags) {
  return {.begin = KeySpec::Begin::kIndex,
          .find = KeySpec::Find::kKeyNum,
          .flags = static_cast<uint16_t>(flags),
          .position = position};
}
// Keys after a keyword; the search for it starts at position `start`.
constexpr KeySpec After(std::string_view keyword, int16_t start, int16_t last, int16_t limit,
                        int flags) {
  return {.begin = KeySpec::Begin::kKeyword,
          .find = KeySpec::Find::kRange,
          .flags = static_cast<uint16_t>(flags),
          .position = start,
          .keyword = keyword,
          .last = last,
          .limit = limit};
}
// Keys that no rule can find.
constexpr KeySpec Unknown(int flags) { return {.flags = static_cast<uint16_t>(flags)}; }

constexpr uint8_t ContainerLength(std::string_view name) {
  const size_t bar = name.find('|');
  return bar == std::string_view::npos ? 0 : static_cast<uint8_t>(bar);
}

struct KeyPositions {
  uint8_t count;
  KeySpec specs[CommandSpec::kMaxKeySpecs];
};

template <typename... Specs>
constexpr KeyPositions Keys(Specs... specs) {
  static_assert(sizeof...(specs) <= CommandSpec::kMaxKeySpecs);
  return {sizeof...(specs), {specs...}};
}

constexpr CommandSpec Row(CommandId id, std::string_view name, int16_t arity, uint32_t flags,
                          CommandGroup group, std::string_view since, const KeyPositions& keys) {
  CommandSpec spec = {.id = id,
                      .name = name,
                      .container_length = ContainerLength(name),
                      .arity = arity,
                      .flags = flags,
                      .group = group,
                      .since = since,
                      .versions = Since(since),
                      .key_spec_count = keys.count,
                      .key_specs = {}};
  std::copy(std::begin(keys.specs), std::end(keys.specs), spec.key_specs);
  return spec;
}

constexpr auto MakeTable() {
  return std::array<CommandSpec, kCommandCount>{
#define REDOUBLE_COMMAND(id, name, arity, flags, group, since, keys, docs) \
  Row(CommandId::k##id, name, arity, flags, CommandGroup::group, since, keys),
#include "redouble/core/store/table/command_table.inc"
#undef REDOUBLE_COMMAND
  };
}

// In the order in which Redis lists them.
constexpr FlagName kCommandFlagNames[] = {
    {command_flag::kWrite, "write"},
    {command_flag::kReadOnly, "readonly"},
    {command_flag::kDenyOom, "denyoom"},
    {command_flag::kAdmin, "admin"},
    {command_flag::kPubSub, "pubsub"},
    {command_flag::kNoScript, "noscript"},
    {command_flag::kBlocking, "blocking"},
    {command_flag::kLoading, "loading"},
    {command_flag::kStale, "stale"},
    {command_flag::kSkipMonitor, "skip_monitor"},
    {command_flag::kSkipSlowLog, "skip_slowlog"},
    {command_flag::kAsking, "asking"},
    {command_flag::kFast, "fast"},
    {command_flag::kNoAuth, "no_auth"},
    {command_flag::kNoMandatoryKeys, "no_mandatory_keys"},
    {command_flag::kNoAsyncLoading, "no_async_loading"},
    {command_flag::kNoMulti, "no_multi"},
    {command_flag::kMovableKeys, "movablekeys"},
    {command_flag::kAllowBusy, "allow_busy"},
};
constexpr FlagName kKeyFlagNames[] = {
    {KeySpec::kRO, "RO"},
    {KeySpec::kRW, "RW"},
    {KeySpec::kOW, "OW"},
    {KeySpec::kRM, "RM"},
    {KeySpec::kAccess, "access"},
    {KeySpec::kUpdate, "update"},
    {KeySpec::kInsert, "insert"},
    {KeySpec::kDelete, "delete"},
    {KeySpec::kNotKey, "not_key"},
    {KeySpec::kIncomplete, "incomplete"},
    {KeySpec::kVariableFlags, "variable_flags"},
};

// What a row of command_changes.inc replaces.
struct CommandChange {
  std::optional<int16_t> arity = std::nullopt;
  uint32_t added_flags = kNoFlags;
  uint32_t removed_flags = kNoFlags;
  std::optional<std::string_view> tips = std::nullopt;
  std::optional<size_t> key_spec = std::nullopt;
  uint16_t key_flags = KeySpec::kNoFlags;
};

constexpr CommandChange Arity(int16_t arity) { return {.arity = arity}; }
constexpr CommandChange Flags(uint32_t added, uint32_t removed) {
  return {.added_flags = added, .removed_flags = removed};
}
constexpr CommandChange Tips(std::string_view tips) { return {.tips = tips}; }
constexpr CommandChange KeyFlags(size_t key_spec, int flags) {
  return {.key_spec = key_spec, .key_flags = static_cast<uint16_t>(flags)};
}

struct VersionChange {
  CommandId id;
  VersionSet versions;
  CommandChange change;
};

constexpr VersionChange kChanges[] = {
#define REDOUBLE_COMMAND_CHANGE(id, versions, change) {CommandId::k##id, versions, change},
#include "redouble/core/store/table/command_changes.inc"
#undef REDOUBLE_COMMAND_CHANGE
};

void Apply(const CommandChange& change, CommandSpec& spec) {
  spec.arity = change.arity.value_or(spec.arity);
  spec.flags = (spec.flags | change.added_flags) & ~change.removed_flags;
  if (change.key_spec) spec.key_specs[*change.key_spec].flags = change.key_flags;
}

using Specs = std::array<CommandSpec, kCommandCount>;

Specs MakeSpecs(Version version) {
  Specs specs = internal::kCommandTable;
  for (const VersionChange& row : kChanges) {
    if (row.versions.Has(version)) Apply(row.change, specs[static_cast<size_t>(row.id)]);
  }
  return specs;
}

bool SameName(std::string_view a, std::string_view b) {
  return absl::EqualsIgnoreCase(base::ToAbsl(a), base::ToAbsl(b));
}

template <typename Word>
uint64_t LoadWord(const char* bytes) {
  Word word;
  std::memcpy(&word, bytes, sizeof(word));
  return word;
}

// The two ends of a name as whole words, which overlap in a short one. Upper and lower case of a
// letter differ in one bit, which is set here. Most names are short, so that their ends are the
// whole name.
struct NameEnds {
  static constexpr size_t kLongest = 16;

  explicit NameEnds(std::string_view name) : size(name.size()) {
    constexpr uint64_t kSmallLetters = 0x2020202020202020;
    const char* const end = name.data() + size;
    if (size >= 8) {
      first = LoadWord<uint64_t>(name.data());
      last = LoadWord<uint64_t>(end - 8);
    } else if (size >= 4) {
      first = LoadWord<uint32_t>(name.data());
      last = LoadWord<uint32_t>(end - 4);
    } else if (size > 0) {
      first = LoadWord<uint8_t>(name.data());
      last = LoadWord<uint8_t>(name.data() + size / 2) << 8 | LoadWord<uint8_t>(end - 1);
    }
    first |= kSmallLetters;
    last |= kSmallLetters;
  }

  friend bool operator==(const NameEnds&, const NameEnds&) = default;

  uint64_t Hash() const {
    constexpr uint64_t kFactor = 0x9e3779b97f4a7c15;
    uint64_t hash = first * kFactor;
    hash = (hash ^ hash >> 32 ^ last) * kFactor + size;
    return hash ^ hash >> 32;
  }

  uint64_t first = 0;
  uint64_t last = 0;
  size_t size = 0;
};

// The rows by name, in any case: a hash table that never grows. Each command that arrives is looked
// up here, and compared as two words where that is enough.
class NameIndex {
 public:
  void Add(std::string_view name, CommandId id) {
    const NameEnds ends(name);
    size_t at = ends.Hash() % kSlots;
    while (slots_[at].id != CommandId::kUnknown) at = (at + 1) % kSlots;
    // The bit that differs in letters differs in other characters too.
    const bool has_only_letters = std::all_of(name.begin(), name.end(), absl::ascii_islower);
    slots_[at] = {ends, name, id, has_only_letters && name.size() <= NameEnds::kLongest};
  }

  CommandId Find(std::string_view name) const {
    const NameEnds ends(name);
    for (size_t at = ends.Hash() % kSlots;; at = (at + 1) % kSlots) {
      const Slot& slot = slots_[at];
      if (slot.id == CommandId::kUnknown) return slot.id;
      if (slot.ends == ends && (slot.ends_suffice || SameName(slot.name, name))) return slot.id;
    }
  }

 private:
  struct Slot {
    NameEnds ends = NameEnds({});
    std::string_view name;
    CommandId id = CommandId::kUnknown;
    bool ends_suffice = false;
  };

  static constexpr size_t kSlots = std::bit_ceil(2 * kCommandCount);
  std::array<Slot, kSlots> slots_;
};

struct Index {
  NameIndex by_name;
  std::array<bool, kCommandCount> is_container = {};

  Index() {
    for (const CommandSpec& spec : AllCommands()) by_name.Add(spec.name, spec.id);
    for (const CommandSpec& spec : AllCommands()) {
      if (!spec.is_subcommand()) continue;
      const CommandId container = by_name.Find(spec.container());
      assert(container != CommandId::kUnknown && "a subcommand's row needs one for its container");
      is_container[static_cast<size_t>(container)] = true;
    }
  }
};

const Index& TheIndex() {
  static const Index* index = new Index;
  return *index;
}

// Returns where the keys of one spec begin in argv (0: the name), or nullopt if its keyword is
// missing or is the last word on that side, where Redis does not look.
std::optional<int64_t> BeginOf(const KeySpec& key, std::span<const std::string_view> arguments) {
  if (key.begin == KeySpec::Begin::kIndex) return key.position;
  const auto argc = static_cast<int64_t>(arguments.size()) + 1;
  const int64_t step = key.position > 0 ? 1 : -1;
  const int64_t end = key.position > 0 ? argc - 1 : 1;
  for (int64_t at = key.position > 0 ? key.position : argc + key.position;
       step > 0 ? at < end : at > end; at += step) {
    if (SameName(arguments[at - 1], key.keyword)) return at + 1;
  }
  return std::nullopt;
}

// The first and the last position of one spec's keys in argv.
struct KeyRange {
  int64_t first;
  int64_t last;
};

// Returns the range of the keys that begin at `begin`, or nullopt if the arguments contradict the
// spec.
std::optional<KeyRange> RangeOf(const KeySpec& key, int64_t begin,
                                std::span<const std::string_view> arguments) {
  const auto argc = static_cast<int64_t>(arguments.size()) + 1;
  if (begin >= argc) return std::nullopt;
  if (key.find == KeySpec::Find::kKeyNum) {
    const std::optional<int64_t> number = base::ParseInt64(arguments[begin - 1]);
    if (!number || *number < 0) return std::nullopt;
    // Redis keeps the lower 32 bits.
    const auto count = static_cast<int32_t>(*number);
    if (count < 0 || count > argc - begin - 1) return std::nullopt;
    return KeyRange{begin + 1, begin + count};
  }
  int64_t last = begin + key.last;
  if (key.last < 0) {
    last = key.limit == 0 ? argc + key.last : begin + (argc - begin) / key.limit + key.last;
  }
  if (last < begin || last >= argc) return std::nullopt;
  return KeyRange{begin, last};
}

// Returns the keys of a command whose number of keys is not a number to its specs ("01", "1e3"):
// Redis then reads the number as C's atoi does, and the destination follows the other keys. Returns
// nullopt if the command has no such number, or too few words.
std::optional<std::vector<size_t>> KeysOfLooseCount(const CommandSpec& spec,
                                                    std::span<const std::string_view> arguments) {
  std::vector<size_t> indexes;
  std::vector<size_t> others;
  for (const KeySpec& key : spec.keys()) {
    const auto at = static_cast<size_t>(key.position);
    if (key.find != KeySpec::Find::kKeyNum) {
      others.push_back(at - 1);
      continue;
    }
    if (at > arguments.size()) return std::nullopt;
    const std::string word(arguments[at - 1]);
    const auto count = static_cast<int32_t>(std::strtol(word.c_str(), nullptr, 10));
    if (count < 1 || static_cast<size_t>(count) > arguments.size() - at) return std::nullopt;
    indexes.resize(static_cast<size_t>(count));
    std::iota(indexes.begin(), indexes.end(), at);
  }
  if (indexes.empty()) return std::nullopt;
  indexes.insert(indexes.end(), others.begin(), others.end());
  return indexes;
}

// Returns the keys of a MIGRATE that has the word KEYS. The row's specs are not enough: the word
// may also be a password or a key. Returns nullopt if there is a key before it or no key after it.
std::optional<std::vector<size_t>> KeysOfMigrate(std::span<const std::string_view> arguments) {
  constexpr size_t kKey = 2;
  for (size_t i = 5; i < arguments.size(); ++i) {
    if (SameName(arguments[i], "AUTH")) {
      ++i;
    } else if (SameName(arguments[i], "AUTH2")) {
      i += 2;
    } else if (SameName(arguments[i], "KEYS")) {
      if (!arguments[kKey].empty() || i + 1 == arguments.size()) return std::nullopt;
      std::vector<size_t> indexes(arguments.size() - i - 1);
      std::iota(indexes.begin(), indexes.end(), i + 1);
      return indexes;
    }
  }
  return std::vector<size_t>{kKey};
}

// Appends the index of SORT's destination: it follows the last STORE that is not itself an argument
// of another option.
void AppendStoreOfSort(std::span<const std::string_view> arguments, std::vector<size_t>& indexes) {
  std::optional<size_t> store;
  for (size_t i = 1; i < arguments.size(); ++i) {
    if (SameName(arguments[i], "LIMIT")) {
      i += 2;
    } else if (SameName(arguments[i], "GET") || SameName(arguments[i], "BY")) {
      ++i;
    } else if (SameName(arguments[i], "STORE") && i + 1 < arguments.size()) {
      store = i + 1;
    }
  }
  if (store) indexes.push_back(*store);
}

}  // namespace

constexpr std::array<CommandSpec, kCommandCount> internal::kCommandTable = MakeTable();

std::string_view GroupName(CommandGroup group) {
  static constexpr std::string_view kNames[] = {
      "string",     "list",   "set",         "sorted-set", "hash",   "stream",
      "generic",    "bitmap", "hyperloglog", "geo",        "pubsub", "transactions",
      "connection", "server", "scripting",   "cluster"};
  return kNames[static_cast<size_t>(group)];
}

std::span<const FlagName> CommandFlagNames() { return kCommandFlagNames; }

std::span<const FlagName> KeyFlagNames() { return kKeyFlagNames; }

std::span<const CommandSpec> AllCommands() { return internal::kCommandTable; }

const std::array<CommandSpec, kCommandCount>& SpecsOf(Version version) {
  // Redis 7.0 has the rows as they are.
  if (version == Version::kRedis70) return internal::kCommandTable;
  static const auto& tables = *new PerVersion<Specs>(MakeSpecs);
  return tables[version];
}

std::optional<std::string_view> ChangedTips(CommandId id, Version version) {
  for (const VersionChange& row : kChanges) {
    if (row.id == id && row.versions.Has(version) && row.change.tips) return row.change.tips;
  }
  return std::nullopt;
}

CommandId FindCommand(std::string_view name) { return TheIndex().by_name.Find(name); }

CommandId FindSubcommand(CommandId container, std::string_view subcommand) {
  // No row's name is longer.
  constexpr size_t kLongestName = 64;
  const std::string_view name = SpecOf(container).name;
  if (name.size() + 1 + subcommand.size() > kLongestName) return CommandId::kUnknown;
  std::array<char, kLongestName> whole;
  char* end = std::copy(name.begin(), name.end(), whole.begin());
  *end++ = '|';
  end = std::copy(subcommand.begin(), subcommand.end(), end);
  return TheIndex().by_name.Find({whole.data(), static_cast<size_t>(end - whole.data())});
}

bool IsContainer(CommandId id) {
  return id != CommandId::kUnknown && TheIndex().is_container[static_cast<size_t>(id)];
}

std::optional<std::vector<size_t>> KeyIndexes(const CommandSpec& spec,
                                              std::span<const std::string_view> arguments) {
  std::vector<size_t> indexes;
  for (const KeySpec& key : spec.keys()) {
    const bool unknown =
        key.begin == KeySpec::Begin::kUnknown || key.find == KeySpec::Find::kUnknown;
    if (unknown || (key.flags & KeySpec::kNotKey) != 0) continue;
    const std::optional<int64_t> begin = BeginOf(key, arguments);
    if (!begin) continue;
    if (spec.id == CommandId::kMigrate && key.begin == KeySpec::Begin::kKeyword) {
      return KeysOfMigrate(arguments);
    }
    const std::optional<KeyRange> range = RangeOf(key, *begin, arguments);
    // A single spec of a command has no row of its own.
    if (!range && spec.id != CommandId::kUnknown) return KeysOfLooseCount(spec, arguments);
    if (!range) return std::nullopt;
    if (range->last < range->first && !spec.Has(kNoMandatoryKeys)) return std::nullopt;
    for (int64_t at = range->first; at <= range->last; at += key.step) {
      indexes.push_back(static_cast<size_t>(at - 1));
    }
  }
  if (spec.id == CommandId::kSort) AppendStoreOfSort(arguments, indexes);
  return indexes;
}

}  // namespace redouble::inline v0_1::store
