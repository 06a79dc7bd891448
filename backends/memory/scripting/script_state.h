// ScriptState: a Lua state with the sandbox of scripts or functions, and calls into it with a
// limit.
//
// Everything that may raise an error runs in Protect, because an error outside of it would end the
// process: any push may run out of memory.
//
//   ScriptState state(ScriptKind::kScript, compatibility);
//   state.Protect([&](lua_State* lua) { LoadText(lua, body, "@user_script"); ... });
//   ScriptResult result = state.Call(push_function, sha, host, 5000);
//
// Thread-safety: one thread.
// Source: Redis 7.0 EVAL, FUNCTION LOAD.
#ifndef REDOUBLE_BACKENDS_MEMORY_SCRIPTING_SCRIPT_STATE_H_
#define REDOUBLE_BACKENDS_MEMORY_SCRIPTING_SCRIPT_STATE_H_

#include <cstddef>
#include <cstdint>
#include <lua.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "redouble/backends/memory/compatibility/compatibility.h"
#include "redouble/backends/memory/scripting/sandbox/lua_memory.h"
#include "redouble/backends/memory/scripting/sandbox/script_host.h"

namespace redouble::inline v0_1::memory {

class ScriptState {
 public:
  // `compatibility` must outlive the state.
  ScriptState(ScriptKind kind, const Compatibility& compatibility);
  ScriptState(const ScriptState&) = delete;
  ScriptState& operator=(const ScriptState&) = delete;

  lua_State* lua() const { return lua_.get(); }
  // Pushes the table of globals of scripts.
  void PushEnvironment() const { lua_rawgeti(lua(), LUA_REGISTRYINDEX, environment_); }

  // The memory used by Lua.
  size_t MemoryBytes() const;

  // Runs `body` with an empty stack. Returns false if it raised an error, which is lost.
  bool Protect(absl::FunctionRef<void(lua_State*)> body) const;

  // Calls a function. `push` pushes it and its arguments, and returns their number. Error messages
  // call the script `name`. The reply is the converted return value, or the error.
  ScriptResult Call(absl::FunctionRef<int(lua_State*)> push, std::string_view name,
                    ScriptHost& host, int64_t limit_ms);

  // Runs and pops the function on top of the stack, which registers a library's functions. Returns
  // nullopt on success, otherwise the error text. To be called in Protect.
  std::optional<std::string> Load(int64_t limit_ms);

 private:
  struct Close {
    void operator()(lua_State* state) const { lua_close(state); }
  };

  LuaMemory memory_;
  std::unique_ptr<lua_State, Close> lua_;
  int environment_ = 0;
  int error_handler_ = 0;
};

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_SCRIPTING_SCRIPT_STATE_H_
