#include "redouble/backends/memory/scripting/interpreter.h"

#include <lua.hpp>

#include "redouble/backends/memory/scripting/sandbox/load_text.h"
#include "redouble/backends/memory/scripting/sandbox/lua_reply.h"
#include "redouble/backends/memory/scripting/sandbox/sandbox.h"
#include "redouble/backends/memory/scripting/script_state.h"

namespace redouble::inline v0_1::memory {

using store::Reply;

Interpreter::Interpreter(const Compatibility& compatibility)
    : compatibility_(compatibility),
      state_(std::make_unique<ScriptState>(ScriptKind::kScript, compatibility)) {}

Interpreter::~Interpreter() = default;

size_t Interpreter::MemoryBytes() const { return state_->MemoryBytes(); }

void Interpreter::Flush() {
  functions_.clear();
  state_ = std::make_unique<ScriptState>(ScriptKind::kScript, compatibility_);
}

std::optional<Reply> Interpreter::Compile(std::string_view sha, std::string_view body) {
  std::optional<Reply> error = Reply::Error("ERR not enough memory to compile the script");
  state_->Protect([&](lua_State* lua) {
    if (LoadText(lua, body, "@user_script") != 0) {
      error = Reply::Error("ERR Error compiling script (new function): " +
                           OneLine(std::string(ToView(lua, -1))));
      return;
    }
    state_->PushEnvironment();
    lua_setfenv(lua, -2);
    functions_.emplace(sha, luaL_ref(lua, LUA_REGISTRYINDEX));
    error.reset();
  });
  return error;
}

ScriptResult Interpreter::Run(std::string_view sha, std::span<const std::string_view> keys,
                              std::span<const std::string_view> arguments, ScriptHost& host,
                              int64_t limit_ms) {
  const int reference = functions_.find(sha)->second;
  const auto push = [&](lua_State* lua) {
    state_->PushEnvironment();
    SetStrings(lua, lua_gettop(lua), "KEYS", keys);
    SetStrings(lua, lua_gettop(lua), "ARGV", arguments);
    lua_pop(lua, 1);
    lua_rawgeti(lua, LUA_REGISTRYINDEX, reference);
    return 0;
  };
  return state_->Call(push, sha, host, limit_ms);
}

}  // namespace redouble::inline v0_1::memory
