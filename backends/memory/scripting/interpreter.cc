#include "backends/memory/scripting/interpreter.h"

#include <lua.hpp>

#include "backends/memory/scripting/lua_reply.h"
#include "backends/memory/scripting/sandbox.h"
#include "backends/memory/scripting/script_state.h"

namespace redouble::memory {

using store::Reply;

Interpreter::Interpreter() : state_(std::make_unique<ScriptState>(ScriptKind::kScript)) {}

Interpreter::~Interpreter() = default;

size_t Interpreter::MemoryBytes() const { return state_->MemoryBytes(); }

void Interpreter::Flush() {
  functions_.clear();
  state_ = std::make_unique<ScriptState>(ScriptKind::kScript);
}

std::optional<Reply> Interpreter::Compile(std::string_view sha, std::string_view body) {
  lua_State* lua = state_->lua();
  if (luaL_loadbuffer(lua, body.data(), body.size(), "@user_script") != 0) {
    const std::string text(ToView(lua, -1));
    lua_pop(lua, 1);
    return Reply::Error("ERR Error compiling script (new function): " + text);
  }
  state_->PushEnvironment();
  lua_setfenv(lua, -2);
  functions_.emplace(sha, luaL_ref(lua, LUA_REGISTRYINDEX));
  return std::nullopt;
}

ScriptResult Interpreter::Run(std::string_view sha, std::span<const std::string_view> keys,
                              std::span<const std::string_view> arguments, ScriptHost& host,
                              int64_t limit_ms) {
  lua_State* lua = state_->lua();
  state_->PushEnvironment();
  SetStrings(lua, lua_gettop(lua), "KEYS", keys);
  SetStrings(lua, lua_gettop(lua), "ARGV", arguments);
  lua_pop(lua, 1);
  lua_rawgeti(lua, LUA_REGISTRYINDEX, functions_.find(sha)->second);
  return state_->Call(0, sha, host, limit_ms);
}

}  // namespace redouble::memory
