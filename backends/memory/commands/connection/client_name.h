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

#include "redouble/backends/memory/compatibility/feature.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/core/store/reply.h"

namespace redouble::inline v0_1::memory {

// Returns whether CLIENT LIST can show the text: it has no spaces and only printable characters.
inline bool IsClientWord(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c >= '!' && c <= '~'; });
}

// What Redis sees of a text that it reads as a C string.
inline std::string_view UpToZero(std::string_view text) { return text.substr(0, text.find('\0')); }

// Returns the error for an invalid name; nullopt for a valid one.
inline std::optional<store::Reply> RefuseClientName(const CommandContext& context,
                                                    std::string_view name) {
  const bool ends_at_zero = context.engine().Has(Feature::kClientWords);
  if (IsClientWord(ends_at_zero ? UpToZero(name) : name)) return std::nullopt;
  return store::Reply::Error(
      "ERR Client names cannot contain spaces, newlines or special characters.");
}

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_COMMANDS_CONNECTION_CLIENT_NAME_H_
