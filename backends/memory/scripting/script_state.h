// ScriptState: a Lua state with the sandbox of scripts or of functions, and calls into it that end.
//
//   ScriptState state(ScriptKind::kScript);
//   luaL_loadbuffer(state.lua(), ...);                    // pushes the function
//   ScriptResult result = state.Call(0, sha, host, 5000);
//
// Thread-safety: one thread.
#ifndef REDOUBLE_BACKENDS_MEMORY_SCRIPTING_SCRIPT_STATE_H_
#define REDOUBLE_BACKENDS_MEMORY_SCRIPTING_SCRIPT_STATE_H_

#include <cstddef>
#include <cstdint>
#include <lua.hpp>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "backends/memory/scripting/script_host.h"

namespace redouble::memory {

class ScriptState {
 public:
  explicit ScriptState(ScriptKind kind);
  ScriptState(const ScriptState&) = delete;
  ScriptState& operator=(const ScriptState&) = delete;

  lua_State* lua() const { return lua_.get(); }
  // Pushes the table that scripts have as their globals.
  void PushEnvironment() const { lua_rawgeti(lua(), LUA_REGISTRYINDEX, environment_); }

  // What Lua has taken for all of it.
  size_t MemoryBytes() const;

  // Calls the function that stands below its `argument_count` arguments on top of the stack;
  // empties the stack. `name` is what an error calls the script. The reply is what it returned as
  // Redis converts it, or the error.
  ScriptResult Call(int argument_count, std::string_view name, ScriptHost& host, int64_t limit_ms);

  // Runs the function on top of the stack, which registers a library's functions, and pops it. No
  // value when it ended well, else the error's text.
  std::optional<std::string> Load(int64_t limit_ms);

 private:
  struct Close {
    void operator()(lua_State* state) const { lua_close(state); }
  };

  store::Reply ErrorReply(std::string_view name) const;

  std::unique_ptr<lua_State, Close> lua_;
  int environment_ = 0;
  int error_handler_ = 0;
};

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_SCRIPTING_SCRIPT_STATE_H_
