// BusyScript: the script that ran longer than busy-reply-threshold and has not been killed.
//
// The engine has one thread and no time of its own, so a script is never seen half-way; one that
// passes the limit is taken to be one that does not end. It stays where the limit met it, with what
// it wrote, and its caller gets no reply. Until SCRIPT KILL (FUNCTION KILL) every other command is
// answered BUSY; a script that called a write command cannot be killed, and the engine stays busy
// for good, as a redis-server does until it is shut down. In a transaction, where the caller cannot
// be left waiting, the script is killed at once instead, whatever it wrote.
//
// Thread-safety: a plain value.
// Source: Redis 7.0 SCRIPT KILL; redis.conf, busy-reply-threshold.
#ifndef REDOUBLE_BACKENDS_MEMORY_BUSY_SCRIPT_H_
#define REDOUBLE_BACKENDS_MEMORY_BUSY_SCRIPT_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/store/reply.h"

namespace redouble::memory {

class Session;

struct BusyScript {
  // Waits for the script; null when it is gone.
  Session* caller = nullptr;
  bool is_function = false;
  bool called_write_command = false;
  std::string name;                  // Of the function, or the script's SHA-1.
  std::vector<std::string> command;  // As it was sent, command's name in upper case.
  int64_t started_ms = 0;
  store::Reply killed;  // What the caller gets when it is killed.

  // What other commands are answered meanwhile.
  std::string_view refusal() const {
    return is_function ? "BUSY Redis is busy running a script. You can only call FUNCTION KILL or "
                         "SHUTDOWN NOSAVE."
                       : "BUSY Redis is busy running a script. You can only call SCRIPT KILL or "
                         "SHUTDOWN NOSAVE.";
  }
};

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_BUSY_SCRIPT_H_
