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

namespace redouble::inline v0_1::memory {

// Returns whether CLIENT LIST can show the text: it has no spaces and only printable characters.
inline bool IsClientWord(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= '!' && c <= '~'; });
}

// Returns the error for an invalid name; nullopt for a valid one.
inline std::optional<store::Reply> RefuseClientName(std::string_view name) {
  if (IsClientWord(name)) return std::nullopt;
  return store::Reply::Error(
      "ERR Client names cannot contain spaces, newlines or special characters.");
}

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_COMMANDS_CONNECTION_CLIENT_NAME_H_
