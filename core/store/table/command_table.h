// The table of commands: what Redis 7.0.15 reports about each command, and the commands of later
// versions.
//
// A row of command_table.inc holds a command's name, arity, flags, group, first version and key
// positions, and the texts of command_details.h. Everything else is derived from the rows: the ids
// that typed commands use, the memory engine's dispatch (a row without a handler does not link),
// the replies of COMMAND, key extraction for cluster routing, the list of supported commands in the
// documentation and the generators of the differential tests.
//
// To add a command, follow docs/extending.md: a row, a handler in backends/memory/commands and a
// line of conformance cases.
//
//   const CommandSpec& spec = SpecOf(CommandId::kXGroupCreate);
//   spec.container();   // "xgroup"
//   spec.subcommand();  // "create"
//   FindCommand("GET") == CommandId::kGet;
//   spec.versions.Has(Version::kRedis70);  // Whether that version has the command.
//   SpecsOf(Version::kRedis80);            // All rows, as that version reports them.
//
// Thread-safety: constant data.
#ifndef REDOUBLE_CORE_STORE_TABLE_COMMAND_TABLE_H_
#define REDOUBLE_CORE_STORE_TABLE_COMMAND_TABLE_H_

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "redouble/core/store/table/version.h"

namespace redouble::inline v0_1::store {

// One id per row, in the order of the table. kUnknown means a name that has no row.
enum class CommandId : uint16_t {
#define REDOUBLE_COMMAND(id, ...) k##id,
#include "redouble/core/store/table/command_table.inc"
#undef REDOUBLE_COMMAND
  kUnknown,
};

// The number of rows, which is the number of known commands.
inline constexpr size_t kCommandCount = static_cast<size_t>(CommandId::kUnknown);

// Redis's groups of commands, as in COMMAND DOCS.
enum class CommandGroup : uint8_t {
  kString,
  kList,
  kSet,
  kSortedSet,
  kHash,
  kStream,
  kGeneric,
  kBitmap,
  kHyperLogLog,
  kGeo,
  kPubSub,
  kTransactions,
  kConnection,
  kServer,
  kScripting,
  kCluster,
};

// Returns the group's name in COMMAND DOCS: "sorted-set".
std::string_view GroupName(CommandGroup group);

// A flag and Redis's name for it.
struct FlagName {
  uint32_t flag;
  std::string_view name;
};

// Redis's command flags, under its names.
namespace command_flag {
// Bits of a set of flags.
enum Flag : uint32_t {
  kNoFlags = 0,
  kWrite = 1u << 0,
  kReadOnly = 1u << 1,
  kDenyOom = 1u << 2,
  kAdmin = 1u << 3,
  kPubSub = 1u << 4,
  kNoScript = 1u << 5,
  kBlocking = 1u << 6,
  kLoading = 1u << 7,
  kStale = 1u << 8,
  kSkipMonitor = 1u << 9,
  kSkipSlowLog = 1u << 10,
  kAsking = 1u << 11,
  kFast = 1u << 12,
  kNoAuth = 1u << 13,
  kMovableKeys = 1u << 14,
  kNoMulti = 1u << 15,
  kNoMandatoryKeys = 1u << 16,
  kAllowBusy = 1u << 17,
  kNoAsyncLoading = 1u << 18,
  // Refused unless the configuration allows it (enable-debug-command, enable-module-command).
  kProtected = 1u << 19,
};
}  // namespace command_flag

// The positions of some of a command's keys. Positions count as in Redis: 0 is the command's name.
// Source: Redis 7.0 COMMAND INFO, key specifications.
struct KeySpec {
  enum class Begin : uint8_t { kIndex, kKeyword, kUnknown };
  enum class Find : uint8_t { kRange, kKeyNum, kUnknown };
  // How the command uses the keys, under Redis's names.
  enum Flag : uint16_t {
    kNoFlags = 0,
    kRO = 1u << 0,
    kRW = 1u << 1,
    kOW = 1u << 2,
    kRM = 1u << 3,
    kAccess = 1u << 4,
    kUpdate = 1u << 5,
    kInsert = 1u << 6,
    kDelete = 1u << 7,
    kNotKey = 1u << 8,
    kIncomplete = 1u << 9,
    kVariableFlags = 1u << 10,
  };

  Begin begin = Begin::kUnknown;
  Find find = Find::kUnknown;
  uint16_t flags = kNoFlags;
  int16_t position = 0;           // kIndex: of the first key, or of the number of keys (kKeyNum).
                                  // kKeyword: where the search starts; negative: from the end.
  std::string_view keyword = {};  // kKeyword
  int16_t last = 0;               // kRange: relative to the first key; negative: from the end.
  int16_t step = 1;               // kRange: distance from key to key.
  int16_t limit = 0;              // kRange with last -1: 1/limit of the rest holds keys; 0: all.
};

// The names of command_flag::Flag, in the order in which COMMAND INFO lists them. kProtected has no
// name: COMMAND does not report it.
std::span<const FlagName> CommandFlagNames();
// The names of KeySpec::Flag, in the order in which COMMAND INFO lists them.
std::span<const FlagName> KeyFlagNames();

// A row of the table.
struct CommandSpec {
  static constexpr size_t kMaxKeySpecs = 3;

  CommandId id;
  std::string_view name;     // Lower case; a subcommand is "xgroup|create".
  uint8_t container_length;  // Length of "xgroup"; 0 for a command that is no subcommand.
  int16_t arity;             // Name included; negative: at least that many.
  uint32_t flags;            // command_flag::Flag
  CommandGroup group;
  // The first version that has the command, "2.6.0"; "valkey 8.0.0" for one that Redis lacks.
  std::string_view since;
  VersionSet versions;  // Those that have the command.
  uint8_t key_spec_count;
  KeySpec key_specs[kMaxKeySpecs];

  std::span<const KeySpec> keys() const { return {key_specs, key_spec_count}; }
  bool Has(command_flag::Flag flag) const { return (flags & flag) != 0; }
  bool is_subcommand() const { return container_length > 0; }
  // "xgroup" of "xgroup|create"; empty for a command that is no subcommand.
  std::string_view container() const { return name.substr(0, container_length); }
  // "create" of "xgroup|create"; the whole name of a command that is no subcommand.
  std::string_view subcommand() const {
    return is_subcommand() ? name.substr(container_length + 1) : name;
  }
};

namespace internal {
extern const std::array<CommandSpec, kCommandCount> kCommandTable;
}  // namespace internal

// Returns the row of `id`, which must not be kUnknown. O(1).
inline const CommandSpec& SpecOf(CommandId id) {
  assert(id < CommandId::kUnknown);
  return internal::kCommandTable[static_cast<size_t>(id)];
}
// Returns the rows of all versions, in the order of the table.
std::span<const CommandSpec> AllCommands();
// Returns the same rows as that version reports them: with the arities, flags and keys of
// command_changes.inc. Rows of commands that it lacks are among them. The table is made on first
// use. O(1).
const std::array<CommandSpec, kCommandCount>& SpecsOf(Version version);
// Returns a command's tips in that version, if they differ from those of the row (DetailsOf).
std::optional<std::string_view> ChangedTips(CommandId id, Version version);
// Returns the id of a name in any case: "GET", "xgroup|create". kUnknown if it has no row. O(1).
CommandId FindCommand(std::string_view name);
// Returns FindCommand("container|subcommand") without building that name. `container` must not be
// kUnknown. O(1).
CommandId FindSubcommand(CommandId container, std::string_view subcommand);
// Returns whether `id` has subcommands in the table.
bool IsContainer(CommandId id);

// Returns the indexes of the keys in `arguments`, by the row's key specs. `arguments` are the words
// after the command's name; for the row of a subcommand they begin with the subcommand. Specs that
// are unknown or not_key are skipped, except for the destination of SORT.
//
// Returns an empty vector if the command has no keys, and nullopt if the arguments contradict the
// specs: there are too few, or a number of keys is not a number, exceeds the arguments after it, or
// is zero although the command needs a key. O(arguments).
// Source: Redis 7.0 COMMAND GETKEYS.
std::optional<std::vector<size_t>> KeyIndexes(const CommandSpec& spec,
                                              std::span<const std::string_view> arguments);

}  // namespace redouble::inline v0_1::store

#endif  // REDOUBLE_CORE_STORE_TABLE_COMMAND_TABLE_H_
