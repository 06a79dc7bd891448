// FunctionInterpreter: the Lua 5.1 interpreter that runs the functions of libraries (FUNCTION LOAD,
// FCALL).
//
// Its Lua state is separate from that of scripts (interpreter.h) and shared by all libraries, as in
// Redis. While a library is loaded, its code sees only a small `redis` table with
// register_function. A running function sees the globals of scripts except KEYS and ARGV, which are
// its parameters.
//
//   FunctionInterpreter interpreter;
//   std::vector<RegisteredFunction> functions;
//   if (auto error = interpreter.Load("redis.register_function('f', ...)", functions)) ...
//   ScriptResult result =
//       interpreter.Run(functions[0].reference, "f", keys, arguments, host, 5000);
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

#include "redouble/backends/memory/compatibility/compatibility.h"
#include "redouble/backends/memory/scripting/sandbox/script_host.h"
#include "redouble/backends/memory/scripting/script_flags.h"

namespace redouble::inline v0_1::memory {

class ScriptState;

// A function as a library registered it with redis.register_function.
struct RegisteredFunction {
  std::string name;
  std::optional<std::string> description = std::nullopt;
  ScriptFlags flags = {};
  // A reference to the compiled function. Free it with Release.
  int reference = 0;
};

class FunctionInterpreter {
 public:
  // Functions see the API of this version, which must outlive the interpreter.
  explicit FunctionInterpreter(const Compatibility& compatibility);
  FunctionInterpreter(const FunctionInterpreter&) = delete;
  FunctionInterpreter& operator=(const FunctionInterpreter&) = delete;
  ~FunctionInterpreter();

  // Runs a library's code (without its first line) and appends the functions that it registers, in
  // that order. The limit is 500 ms in the unit of script_host.h. Returns nullopt on success;
  // otherwise the error text that follows "ERR ", and the functions that were registered are
  // released.
  std::optional<std::string> Load(std::string_view code,
                                  std::vector<RegisteredFunction>& functions);
  void Release(int reference);

  // Calls a function with its keys and arguments for at most `limit_ms`. Returns the converted
  // result, or the error reply.
  ScriptResult Run(int reference, std::string_view name, std::span<const std::string_view> keys,
                   std::span<const std::string_view> arguments, ScriptHost& host, int64_t limit_ms);

  // The memory used by Lua.
  size_t MemoryBytes() const;

 private:
  // Sets the globals: those of a library that is loaded, or those of a running function.
  void ShowGlobals(int reference);

  std::unique_ptr<ScriptState> state_;
  // Registry references of the tables that the globals read from.
  int running_globals_ = 0;
  int loading_globals_ = 0;
};

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_SCRIPTING_FUNCTION_INTERPRETER_H_
