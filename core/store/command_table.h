// The table of commands: the one place that says what a Redis command is.
//
// A row of command_table.inc carries a command's name, arity, flags, group, first version and the
// positions of its keys, as Redis 7.0.15 reports them. Everything else is derived from it: the ids
// that typed commands use, the memory engine's dispatch (a row without a handler does not link),
// COMMAND's answers, key extraction for cluster routing, the supported-command list of the
// documentation and the generators of the differential tests.
//
// Adding a command: one row there, one handler in the file of its type in backends/memory/commands,
// one line of conformance cases.
//
//   const CommandSpec& spec = SpecOf(CommandId::kXGroupCreate);
//   spec.container();   // "xgroup"
//   spec.subcommand();  // "create"
//   FindCommand("GET") == CommandId::kGet;
//
// Thread-safety: constant data.
#ifndef REDOUBLE_CORE_STORE_COMMAND_TABLE_H_
#define REDOUBLE_CORE_STORE_COMMAND_TABLE_H_

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace redouble::store {

// One id per row, in the order of the table; kUnknown is any name that has no row.
enum class CommandId : uint16_t {
#define REDOUBLE_COMMAND(id, ...) k##id,
#include "core/store/command_table.inc"
#undef REDOUBLE_COMMAND
  kUnknown,
};

inline constexpr size_t kCommandCount = static_cast<size_t>(CommandId::kUnknown);

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

// The name that COMMAND DOCS gives the group: "sorted-set".
std::string_view GroupName(CommandGroup group);

// Redis's command flags, under its names.
namespace command_flag {
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
  // Refused unless the configuration allows it; COMMAND does not tell.
  kProtected = 1u << 19,
};
}  // namespace command_flag

// Where some of a command's keys stand. Positions count as Redis's do: 0 is the command's name.
struct KeySpec {
  enum class Begin : uint8_t { kIndex, kKeyword, kUnknown };
  enum class Find : uint8_t { kRange, kKeyNum, kUnknown };
  // What the command does with the keys, under Redis's names.
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
  int16_t position = 0;           // kIndex: of the first key, or of the count of keys (kKeyNum);
                                  // kKeyword: where the search starts, negative from the end.
  std::string_view keyword = {};  // kKeyword
  int16_t last = 0;               // kRange: relative to the first key; negative from the end.
  int16_t step = 1;               // kRange: distance from key to key.
  int16_t limit = 0;              // kRange with last -1: only this fraction of the rest, 0: all.
};

struct CommandSpec {
  static constexpr size_t kMaxKeySpecs = 3;

  CommandId id;
  std::string_view name;     // Lower case; a subcommand is "xgroup|create".
  uint8_t container_length;  // Of "xgroup" in it; 0 for a command that stands alone.
  int16_t arity;             // Name included; negative: at least that many.
  uint32_t flags;            // command_flag::Flag
  CommandGroup group;
  std::string_view since;  // The first version of Redis that has it.
  uint8_t key_spec_count;
  KeySpec key_specs[kMaxKeySpecs];

  std::span<const KeySpec> keys() const { return {key_specs, key_spec_count}; }
  bool Has(command_flag::Flag flag) const { return (flags & flag) != 0; }
  bool is_subcommand() const { return container_length > 0; }
  // "xgroup" of "xgroup|create"; empty for a command that stands alone.
  std::string_view container() const { return name.substr(0, container_length); }
  // "create" of "xgroup|create"; the whole name of a command that stands alone.
  std::string_view subcommand() const {
    return is_subcommand() ? name.substr(container_length + 1) : name;
  }
};

namespace internal {
extern const std::array<CommandSpec, kCommandCount> kCommandTable;
}  // namespace internal

// The row of `id`, which must not be kUnknown. O(1).
inline const CommandSpec& SpecOf(CommandId id) {
  assert(id < CommandId::kUnknown);
  return internal::kCommandTable[static_cast<size_t>(id)];
}
// All rows, in the order of the table.
std::span<const CommandSpec> AllCommands();
// Looks a name up, in any case: "GET", "xgroup|create". kUnknown when there is no such row. O(1).
CommandId FindCommand(std::string_view name);
// As FindCommand("container|subcommand"), without building that name. `container` must not be
// kUnknown. O(1).
CommandId FindSubcommand(CommandId container, std::string_view subcommand);
// True when `id` has rows of its own for its subcommands.
bool IsContainer(CommandId id);

// The indexes of the keys in `arguments` (what follows the command's name; for a subcommand's row
// they begin with the subcommand) by the row's key specs; specs that are unknown or not_key are
// passed over, but for what SORT stores into. An empty vector when there are none; no value when
// the arguments contradict the specs: too few of them, or a count of keys that is no number, larger
// than what follows it, or zero where the command needs a key.
// Source: Redis 7.0 COMMAND GETKEYS.
std::optional<std::vector<size_t>> KeyIndexes(const CommandSpec& spec,
                                              std::span<const std::string_view> arguments);

}  // namespace redouble::store

#endif  // REDOUBLE_CORE_STORE_COMMAND_TABLE_H_
