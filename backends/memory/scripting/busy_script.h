// BusyScript: a script that ran longer than busy-reply-threshold and has not been killed.
//
// Until the script ends, by itself or by SCRIPT KILL or FUNCTION KILL, every other command returns
// BUSY. A script that called a write command cannot be killed.
//
// In a host that runs in real time, the script goes on, and the host serves other clients
// meanwhile. Otherwise no time passes during a script and no other client can be served, so a
// script that exceeds the limit is treated as one that never ends: it is stopped where the limit
// was reached, its writes remain, and its caller gets no reply until the script is killed. In a
// transaction, where the reply cannot be withheld, it is killed at once, even if it has written.
//
// Thread-safety: a plain value.
// Source: Redis 7.0 SCRIPT KILL; redis.conf, busy-reply-threshold.
#ifndef REDOUBLE_BACKENDS_MEMORY_SCRIPTING_BUSY_SCRIPT_H_
#define REDOUBLE_BACKENDS_MEMORY_SCRIPTING_BUSY_SCRIPT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "redouble/backends/memory/compatibility/server_text.h"
#include "redouble/core/store/reply.h"

namespace redouble::inline v0_1::memory {

class ScriptHost;
class SessionCore;

struct BusyScript {
  // The host of the script, while it runs; null if it has been stopped.
  const ScriptHost* running = nullptr;
  bool is_killed = false;  // A running script ends at its next instruction.
  // The session that waits for a stopped script's reply; null if it has been closed.
  SessionCore* caller = nullptr;
  bool is_function = false;
  bool called_write_command = false;
  std::string name;                  // The function's name, or the script's SHA-1.
  std::vector<std::string> command;  // As it was sent.
  int64_t started_ms = 0;
  store::Reply killed = {};  // The caller's reply if a stopped script is killed.

  // The reply to other commands while the script is busy.
  std::string RefusalOf(const Compatibility& compatibility) const {
    constexpr std::string_view kFunction =
        "BUSY Redis is busy running a script. You can only call FUNCTION KILL or SHUTDOWN NOSAVE.";
    constexpr std::string_view kScript =
        "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.";
    return ServerText(compatibility, is_function ? kFunction : kScript);
  }
};

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_SCRIPTING_BUSY_SCRIPT_H_
