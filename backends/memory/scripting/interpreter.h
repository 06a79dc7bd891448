// Interpreter: the Lua 5.1 interpreter that runs Redis scripts, sandboxed and deterministic.
//
// It offers the globals of the server of a version and no others: the functions of base, table,
// string, math and coroutine, cjson, cmsgpack, struct, bit, and `redis`. A script cannot change
// globals or libraries, math.random has Redis's own sequence, and no function reaches files, the
// clock or the process.
//
// The interpreter does not depend on the engine: a script runs commands through a ScriptHost.
//
//   Interpreter interpreter(compatibility);
//   interpreter.Compile(sha, "return redis.call('GET', KEYS[1])");
//   ScriptResult result = interpreter.Run(sha, keys, arguments, host, limit_ms);
//
// A ScriptHost with a debugger debugs the script (scripting/debugger/debugger.h).
//
// Thread-safety: one thread.
// Source: Redis 7.0 EVAL; the scripting documentation.
#ifndef REDOUBLE_BACKENDS_MEMORY_SCRIPTING_INTERPRETER_H_
#define REDOUBLE_BACKENDS_MEMORY_SCRIPTING_INTERPRETER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "absl/container/btree_map.h"
#include "redouble/backends/memory/compatibility/compatibility.h"
#include "redouble/backends/memory/scripting/sandbox/script_host.h"
#include "redouble/core/store/reply.h"

namespace redouble::inline v0_1::memory {

class ScriptState;

class Interpreter {
 public:
  // Scripts see the API of this version, which must outlive the interpreter.
  explicit Interpreter(const Compatibility& compatibility);
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;
  ~Interpreter();

  // Compiles `body` under the name `sha`, which must be new. Returns nullopt on success, otherwise
  // the error reply.
  std::optional<store::Reply> Compile(std::string_view sha, std::string_view body);
  bool Has(std::string_view sha) const { return functions_.contains(sha); }
  // Removes all scripts and resets the Lua state.
  void Flush();

  // Runs a compiled script for at most `limit_ms` (script_host.h). Returns the converted result, or
  // the error reply.
  ScriptResult Run(std::string_view sha, std::span<const std::string_view> keys,
                   std::span<const std::string_view> arguments, ScriptHost& host,
                   int64_t limit_ms = 0);

  // The memory used by Lua.
  size_t MemoryBytes() const;

 private:
  const Compatibility& compatibility_;
  std::unique_ptr<ScriptState> state_;
  // References in Lua's registry, by SHA-1.
  absl::btree_map<std::string, int, std::less<>> functions_;
};

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_SCRIPTING_INTERPRETER_H_
