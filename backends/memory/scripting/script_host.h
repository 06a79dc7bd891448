// What a running script sees of Redis, and how it came to its end.
#ifndef REDOUBLE_BACKENDS_MEMORY_SCRIPTING_SCRIPT_HOST_H_
#define REDOUBLE_BACKENDS_MEMORY_SCRIPTING_SCRIPT_HOST_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "core/store/reply.h"

namespace redouble::memory {

class ScriptHost {
 public:
  // Runs one command, name first; an error is a reply like any other.
  virtual store::Reply CallCommand(std::span<const std::string_view> words) = 0;
  // True when there is such a command (a subcommand's container counts).
  virtual bool HasCommand(std::span<const std::string_view> words) const = 0;
  // True when the script's user may run the command, which there is, with these arguments.
  virtual bool MayRun(std::span<const std::string_view> words) const = 0;

 protected:
  ~ScriptHost() = default;
};

// How long a script may run: in milliseconds of kInstructionsPerMilli instructions of Lua each, so
// that it does not depend on the machine. 0: for ever.
inline constexpr int kInstructionsPerMilli = 100'000;

struct ScriptResult {
  store::Reply reply;
  // It ran too long and was stopped; `reply` is what Redis answers when it is killed then.
  bool overran = false;
};

// Where a script's code stands: each kind has a Lua and globals of its own.
enum class ScriptKind : uint8_t { kScript, kFunction };

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_SCRIPTING_SCRIPT_HOST_H_
