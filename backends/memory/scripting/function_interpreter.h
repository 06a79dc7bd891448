// FunctionInterpreter: the Lua 5.1 that runs the functions of libraries (FUNCTION LOAD, FCALL).
//
// It is a Lua of its own beside that of scripts (interpreter.h), as in Redis: all libraries share
// it. While a library's code runs it sees nothing but a small `redis` table, whose
// register_function names its functions; when a function runs it sees what scripts see, without
// KEYS and ARGV, which are its parameters.
//
//   FunctionInterpreter interpreter;
//   std::vector<RegisteredFunction> functions;
//   if (auto error = interpreter.Load("redis.register_function('f', ...)", functions)) ...
//   ScriptResult result = interpreter.Run(functions[0].reference, "f", keys, arguments, host,
//   5000);
//
// Thread-safety: one thread.
// Source: Redis 7.0 FUNCTION LOAD, FCALL.
#ifndef REDOUBLE_BACKENDS_MEMORY_SCRIPTING_FUNCTION_INTERPRETER_H_
#define REDOUBLE_BACKENDS_MEMORY_SCRIPTING_FUNCTION_INTERPRETER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/memory/scripting/script_flags.h"
#include "backends/memory/scripting/script_host.h"

namespace redouble::memory {

class ScriptState;

// What redis.register_function said of one function.
struct RegisteredFunction {
  std::string name;
  std::optional<std::string> description = std::nullopt;
  ScriptFlags flags = {};
  // Names the compiled function; to be given back with Release.
  int reference = 0;
};

class FunctionInterpreter {
 public:
  FunctionInterpreter();
  FunctionInterpreter(const FunctionInterpreter&) = delete;
  FunctionInterpreter& operator=(const FunctionInterpreter&) = delete;
  ~FunctionInterpreter();

  // Runs a library's code (the first line cut off) and appends what it registers, in that order;
  // for half a second at most, in the milliseconds of script_host.h. No value when it ended well,
  // else the error's text behind "ERR "; what was registered then is given back already.
  std::optional<std::string> Load(std::string_view code,
                                  std::vector<RegisteredFunction>& functions);
  void Release(int reference);

  // Calls a function with its keys and arguments for at most `limit_ms`; its result as Redis
  // converts it, or the error reply.
  ScriptResult Run(int reference, std::string_view name, std::span<const std::string_view> keys,
                   std::span<const std::string_view> arguments, ScriptHost& host, int64_t limit_ms);

  // What Lua has taken.
  size_t MemoryBytes() const;

 private:
  // Lets the globals be those that a library's code sees, or those of a running function.
  void ShowGlobals(int reference);

  std::unique_ptr<ScriptState> state_;
  // References to what stands behind the globals.
  int running_globals_ = 0;
  int loading_globals_ = 0;
};

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_SCRIPTING_FUNCTION_INTERPRETER_H_
