// What a connection may be called.
#ifndef REDOUBLE_BACKENDS_MEMORY_COMMANDS_CLIENT_NAME_H_
#define REDOUBLE_BACKENDS_MEMORY_COMMANDS_CLIENT_NAME_H_

#include <algorithm>
#include <optional>
#include <string_view>

#include "core/store/reply.h"

namespace redouble::memory {

// The error for a name that would break the lines of CLIENT LIST; none for a good one.
inline std::optional<store::Reply> RefuseClientName(std::string_view name) {
  const bool printable =
      std::all_of(name.begin(), name.end(), [](char c) { return c >= '!' && c <= '~'; });
  if (printable) return std::nullopt;
  return store::Reply::Error(
      "ERR Client names cannot contain spaces, newlines or special characters.");
}

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_COMMANDS_CLIENT_NAME_H_
