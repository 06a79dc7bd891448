// DebugHost: where a debugging session of a script takes place; DebugChannel: its client.
//
// The engine has no sockets and no processes. Its host may implement these; an engine without them
// refuses to debug. As in Redis, a session is one of two kinds. SYNC holds the server: no other
// client is served until it ends, and what the script writes stays. YES takes place apart, in a
// process that the host forks: what the script writes ends with that process, and the others are
// served meanwhile.
//
//   absl::StatusOr<DebugChannel*> channel = host.Begin(session, /*apart=*/true);
//   if (channel.ok() && *channel != nullptr) Debugger debugger(text, **channel, limit_ms);
//
// Thread-safety: one thread.
// Source: Redis 7.0 SCRIPT DEBUG.
#ifndef REDOUBLE_BACKENDS_MEMORY_SCRIPTING_DEBUGGER_DEBUG_HOST_H_
#define REDOUBLE_BACKENDS_MEMORY_SCRIPTING_DEBUGGER_DEBUG_HOST_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "absl/status/statusor.h"

namespace redouble::inline v0_1::memory {

class SessionCore;

class DebugChannel {
 public:
  virtual ~DebugChannel() = default;

  // Blocks until the client has sent something and returns how many bytes are in `buffer`; 0 if
  // the client has left or the server is to stop.
  virtual size_t Read(std::span<char> buffer) = 0;
  // Blocks for a few seconds if the client does not read. What cannot be sent is lost; the next
  // Read notices that the client has left.
  virtual void Write(std::string_view bytes) = 0;
  // A monotonic clock, for scripts that do not end.
  virtual int64_t MonotonicMicros() = 0;
};

class DebugHost {
 public:
  virtual ~DebugHost() = default;

  // Begins the debugging of the command that `session` runs now. Returns the channel, which exists
  // until End; null if another process debugs: the caller's connection is then closed here without
  // a reply, and the process has returned from this call with a channel. Errors: strerror of the
  // reason.
  virtual absl::StatusOr<DebugChannel*> Begin(const SessionCore& session, bool apart) = 0;
  // The script has ended. A process of its own ends after it has sent the reply to the command.
  virtual void End(const SessionCore& session) = 0;
};

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_SCRIPTING_DEBUGGER_DEBUG_HOST_H_
