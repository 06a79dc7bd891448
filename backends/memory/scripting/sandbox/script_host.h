// ScriptHost: the commands that a running script can call; ScriptResult: how a script ended.
//
// The engine implements ScriptHost; tests use their own. The interpreters call it synchronously.
//
//   ScriptResult result = interpreter.Run(sha, keys, arguments, host, /*limit_ms=*/5000);
//   if (!result.overran) return result.reply;
//
// Thread-safety: one thread.
// Source: Redis 7.0 EVAL; redis.conf, busy-reply-threshold.
#ifndef REDOUBLE_BACKENDS_MEMORY_SCRIPTING_SANDBOX_SCRIPT_HOST_H_
#define REDOUBLE_BACKENDS_MEMORY_SCRIPTING_SANDBOX_SCRIPT_HOST_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "redouble/core/store/reply.h"

namespace redouble::inline v0_1::memory {

class ScriptDebugger;

// Runs the commands of a script with the permissions of its user.
class ScriptHost {
 public:
  // Runs one command; words[0] is its name. An error is returned as an error reply.
  virtual store::Reply CallCommand(std::span<const std::string_view> words) = 0;
  // Whether these words are a command. The container of subcommands counts as a command.
  enum class Recognized : uint8_t { kNo, kWrongArity, kYes };
  virtual Recognized Recognize(std::span<const std::string_view> words) const = 0;
  // True if the script's user may run the command with these arguments. The command must exist.
  virtual bool MayRun(std::span<const std::string_view> words) const = 0;
  // redis.set_repl: who receives the effects of the commands that follow. `flags` is a sum of
  // REPL_AOF (1) and REPL_REPLICA (2).
  virtual void SetReplication(int flags) { static_cast<void>(flags); }
  // How long the script has run, if the limit is one of real time; nullopt if it counts
  // instructions.
  virtual std::optional<int64_t> RunMillis() const { return std::nullopt; }
  // Called between two instructions of a script that has reached its limit, and then about once a
  // millisecond. Returns true if the script may continue, false if it must end.
  virtual bool MayContinue() { return false; }
  // True if the last CallCommand returned the error of a rule, and no command ran.
  virtual bool refused_last() const { return false; }
  // The debugger that follows the run, which then has no limit (script_debugger.h); null: none.
  virtual ScriptDebugger* debugger() { return nullptr; }

 protected:
  ~ScriptHost() = default;
};

// Time limits of scripts are in milliseconds of kInstructionsPerMilli Lua instructions each, so
// that they do not depend on the machine, unless the host measures real time. The limit 0 means no
// limit.
inline constexpr int kInstructionsPerMilli = 100'000;
// A command counts as several instructions, and so do the bytes of its words and the bytes that Lua
// allocates, because they take longer than one.
inline constexpr int64_t kInstructionsPerCall = 100;
inline constexpr int64_t kBytesPerInstruction = 40;

// The errors within an array, map or set that a script returned.
struct NestedErrors {
  std::vector<std::string> texts;
  int64_t counted = 0;  // Those of commands that the script called, which the host has counted.
};

struct ScriptResult {
  store::Reply reply;
  // The script exceeded its limit and was stopped. `reply` is then the reply if it is killed.
  bool overran = false;
  // `reply` is the error of a command that the script called, which the host has counted.
  bool error_is_counted = false;
  NestedErrors nested_errors = {};
};

// The kind of code: scripts and functions have separate Lua states and globals.
enum class ScriptKind : uint8_t { kScript, kFunction };

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_SCRIPTING_SANDBOX_SCRIPT_HOST_H_
