// Interpreter: the Lua 5.1 that runs Redis scripts, sandboxed and deterministic.
//
// It is the interpreter that Redis embeds, with the globals that Redis 7.0.15 offers and no others:
// the base, table, string, math and coroutine functions, cjson, bit, and `redis`. Globals and
// libraries cannot be changed by a script, math.random gives Redis's own sequence, and nothing
// reaches files, the clock or the process.
//
// It knows nothing of the engine: what a script calls goes through a ScriptHost.
//
//   Interpreter interpreter;
//   interpreter.Compile(sha, "return redis.call('GET', KEYS[1])");
//   Reply reply = interpreter.Run(sha, keys, arguments, host);
//
// Not offered: struct and cmsgpack, redis.debug, and the debugger (redis.breakpoint answers false).
//
// Thread-safety: one thread.
#ifndef REDOUBLE_BACKENDS_MEMORY_SCRIPTING_INTERPRETER_H_
#define REDOUBLE_BACKENDS_MEMORY_SCRIPTING_INTERPRETER_H_

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "absl/container/btree_map.h"
#include "core/store/reply.h"

struct lua_State;

namespace redouble::memory {

// What a running script sees of Redis.
class ScriptHost {
 public:
  // Runs one command, name first; an error is a reply like any other.
  virtual store::Reply CallCommand(std::span<const std::string_view> words) = 0;

 protected:
  ~ScriptHost() = default;
};

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

  // Runs a compiled script; its result as Redis converts it, or the error reply.
  store::Reply Run(std::string_view sha, std::span<const std::string_view> keys,
                   std::span<const std::string_view> arguments, ScriptHost& host);

 private:
  struct CloseState {
    void operator()(lua_State* state) const;
  };

  void Open();
  store::Reply ErrorReply(std::string_view sha);

  std::unique_ptr<lua_State, CloseState> state_;
  // References in Lua's registry, by SHA-1.
  absl::btree_map<std::string, int, std::less<>> functions_;
  int environment_ = 0;
  int error_handler_ = 0;
};

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_SCRIPTING_INTERPRETER_H_
