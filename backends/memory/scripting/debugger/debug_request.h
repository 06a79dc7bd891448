// DebugRequest: reads the requests of a debugger's client from its bytes.
//
// The debugger has a parser of its own, because a session does not return to the server's loop. As
// in Redis it is strict about lengths, and all bytes after a request are dropped with it: a client
// sends one request and waits for its reply.
//
//   DebugRequest request;
//   request.Receive("*1\r\n$4\r\nstep\r\n");
//   request.Parse();  // kComplete; request.words() is {"step"}
//
// Thread-safety: one thread.
// Source: Redis 7.0 SCRIPT DEBUG.
#ifndef REDOUBLE_BACKENDS_MEMORY_SCRIPTING_DEBUGGER_DEBUG_REQUEST_H_
#define REDOUBLE_BACKENDS_MEMORY_SCRIPTING_DEBUGGER_DEBUG_REQUEST_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace redouble::inline v0_1::memory {

class DebugRequest {
 public:
  enum class Progress : uint8_t { kIncomplete, kComplete, kError };

  // Adds bytes. Returns false if an incomplete request has become too long; it is dropped.
  bool Receive(std::string_view bytes);
  // After kComplete the bytes are dropped; after kError they stay.
  Progress Parse();
  const std::vector<std::string>& words() const { return words_; }

 private:
  Progress ParseWords();

  std::string bytes_;
  std::vector<std::string> words_;
};

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_SCRIPTING_DEBUGGER_DEBUG_REQUEST_H_
