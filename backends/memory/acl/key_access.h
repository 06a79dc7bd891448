// The keys of a command, and how the command accesses each of them.
//
// The rows of the command table describe the keys and their access flags. If the flags depend on
// other arguments (SET with GET, BITFIELD), those arguments are examined. COMMAND GETKEYSANDFLAGS
// and the ACL checks use the result.
//
//   KeyAccesses(store::SpecOf(CommandId::kGetDel), arguments);  // {{0, kRW | kAccess | kDelete}}
//
// Thread-safety: a pure function.
#ifndef REDOUBLE_BACKENDS_MEMORY_ACL_KEY_ACCESS_H_
#define REDOUBLE_BACKENDS_MEMORY_ACL_KEY_ACCESS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "redouble/core/store/table/command_table.h"

namespace redouble::inline v0_1::memory {

// A key's index in the arguments, and its access flags.
struct KeyAccess {
  size_t index;
  uint16_t flags;  // store::KeySpec::Flag
};

// `arguments` are the words after the command's name, the subcommand included. Returns nullopt if
// they contradict the row.
std::optional<std::vector<KeyAccess>> KeyAccesses(const store::CommandSpec& spec,
                                                  std::span<const std::string_view> arguments);

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_ACL_KEY_ACCESS_H_
