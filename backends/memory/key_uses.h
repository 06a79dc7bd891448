// The keys of a whole command, and what the command does with each.
//
// The rows of the command table say it; where they say that it hangs on the other words (SET GET,
// BITFIELD), those are looked at. COMMAND GETKEYSANDFLAGS tells it, and ACL checks by it.
//
//   KeyUses(store::SpecOf(CommandId::kGetDel), arguments);  // {{0, kRW | kAccess | kDelete}}
//
// Thread-safety: a pure function.
#ifndef REDOUBLE_BACKENDS_MEMORY_KEY_USES_H_
#define REDOUBLE_BACKENDS_MEMORY_KEY_USES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/store/command_table.h"

namespace redouble::memory {

// A key's position in the arguments, and what is done with it.
struct KeyUse {
  size_t index;
  uint16_t flags;  // store::KeySpec::Flag
};

// `arguments` are what follows the command's name, the subcommand included. No value when they
// contradict the row.
std::optional<std::vector<KeyUse>> KeyUses(const store::CommandSpec& spec,
                                           std::span<const std::string_view> arguments);

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_KEY_USES_H_
