// The check of a connection's name in CLIENT SETNAME and HELLO SETNAME.
//
// A name appears in the lines of CLIENT LIST, so it must not contain spaces or control characters.
// The empty name is valid: it removes the connection's name.
//
//   if (std::optional<Reply> error = RefuseClientName(arguments[0])) return *std::move(error);
//
// Thread-safety: a pure function.
// Source: Redis 7.0 CLIENT SETNAME.
#ifndef REDOUBLE_BACKENDS_MEMORY_COMMANDS_CONNECTION_CLIENT_NAME_H_
#define REDOUBLE_BACKENDS_MEMORY_COMMANDS_CONNECTION_CLIENT_NAME_H_

#include <algorithm>
#include <optional>
#include <string_view>

#include "redouble/core/store/reply.h"

namespace redouble::memory {

// Returns the error for an invalid name; nullopt for a valid one.
inline std::optional<store::Reply> RefuseClientName(std::string_view name) {
  const bool printable =
      std::all_of(name.begin(), name.end(), [](char c) { return c >= '!' && c <= '~'; });
  if (printable) return std::nullopt;
  return store::Reply::Error(
      "ERR Client names cannot contain spaces, newlines or special characters.");
}

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_COMMANDS_CONNECTION_CLIENT_NAME_H_
