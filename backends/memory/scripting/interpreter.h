// Interpreter: the Lua 5.1 that runs Redis scripts, sandboxed and deterministic.
//
// It is the interpreter that Redis embeds, with the globals that Redis 7.0.15 offers and no others:
// the base, table, string, math and coroutine functions, cjson, cmsgpack, struct, bit, and `redis`.
// Globals and libraries cannot be changed by a script, math.random gives Redis's own sequence, and
// nothing reaches files, the clock or the process.
//
// It knows nothing of the engine: what a script calls goes through a ScriptHost.
//
//   Interpreter interpreter;
//   interpreter.Compile(sha, "return redis.call('GET', KEYS[1])");
//   ScriptResult result = interpreter.Run(sha, keys, arguments, host, limit_ms);
//
// Not offered: the debugger (redis.breakpoint answers false, redis.debug does nothing, as outside a
// debugging session).
//
// Thread-safety: one thread.
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
#include "backends/memory/scripting/script_host.h"
#include "core/store/reply.h"

namespace redouble::memory {

class ScriptState;

class Interpreter {
 public:
  Interpreter();
  Interpreter(const Interpreter&) = delete;
  Interpreter& operator=(const Interpreter&) = delete;
  ~Interpreter();

  // Compiles `body` under the name `sha`, which must be new. No value when it compiled, else the
  // error reply.
  std::optional<store::Reply> Compile(std::string_view sha, std::string_view body);
  bool Has(std::string_view sha) const { return functions_.contains(sha); }
  // Forgets every script, and with them all state of Lua.
  void Flush();

  // Runs a compiled script for at most `limit_ms` (script_host.h); its result as Redis converts it,
  // or the error reply.
  ScriptResult Run(std::string_view sha, std::span<const std::string_view> keys,
                   std::span<const std::string_view> arguments, ScriptHost& host,
                   int64_t limit_ms = 0);

  // What Lua has taken.
  size_t MemoryBytes() const;

 private:
  std::unique_ptr<ScriptState> state_;
  // References in Lua's registry, by SHA-1.
  absl::btree_map<std::string, int, std::less<>> functions_;
};

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_SCRIPTING_INTERPRETER_H_
