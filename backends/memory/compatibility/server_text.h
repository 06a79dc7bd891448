// ServerText: an error text of Redis as the server of a version writes it.
//
// Valkey has the errors of Redis without the name Redis: functions of scripts belong to `server`,
// and an instance is just an instance.
//
//   ServerText(compatibility, "ERR redis.log() requires two arguments or more.")
//   // of Valkey: "ERR server.log() requires two arguments or more."
//
// Use it where such a text becomes a reply, not for texts of the user.
//
// Thread-safety: a pure function.
// Source: Redis 7.0.15 and Valkey 8.0.1, which were asked.
#ifndef REDOUBLE_BACKENDS_MEMORY_COMPATIBILITY_SERVER_TEXT_H_
#define REDOUBLE_BACKENDS_MEMORY_COMPATIBILITY_SERVER_TEXT_H_

#include <string>
#include <string_view>

#include "redouble/backends/memory/compatibility/compatibility.h"

namespace redouble::inline v0_1::memory {

std::string ServerText(const Compatibility& compatibility, std::string_view redis_text);

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_COMPATIBILITY_SERVER_TEXT_H_
