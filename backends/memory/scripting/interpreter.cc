#include "backends/memory/scripting/interpreter.h"

#include <lua.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/memory/scripting/lua_reply.h"
#include "backends/memory/scripting/redis_library.h"
#include "backends/memory/scripting/sandbox.h"

namespace redouble::memory {
namespace {

using store::Reply;

// Runs where an error is raised: makes it a table and notes where in the script it came from, which
// is the nearest function that is not written in C.
int NoteErrorPlace(lua_State* state) {
  if (lua_type(state, 1) != LUA_TTABLE) {
    lua_getglobal(state, "tostring");
    lua_pushvalue(state, 1);
    lua_call(state, 1, 1);
    const std::string text = "ERR " + std::string(ToView(state, -1));
    PushErrorTable(state, text);
    lua_replace(state, 1);
  }
  lua_Debug place;
  for (int level = 1; level <= 2 && lua_getstack(state, level, &place) != 0; ++level) {
    lua_getinfo(state, "Sl", &place);
    if (std::string_view(place.what) == "C") continue;
    lua_pushstring(state, place.source);
    lua_setfield(state, 1, "source");
    lua_pushnumber(state, place.currentline);
    lua_setfield(state, 1, "line");
    break;
  }
  lua_settop(state, 1);
  return 1;
}

std::string FieldText(lua_State* state, const char* name) {
  lua_getfield(state, -1, name);
  std::string text(lua_isstring(state, -1) != 0 ? ToView(state, -1) : std::string_view());
  lua_pop(state, 1);
  return text;
}

}  // namespace

void Interpreter::CloseState::operator()(lua_State* state) const { lua_close(state); }

Interpreter::Interpreter() { Open(); }

Interpreter::~Interpreter() = default;

void Interpreter::Open() {
  state_.reset(luaL_newstate());
  PushSandbox(state_.get());
  environment_ = luaL_ref(state_.get(), LUA_REGISTRYINDEX);
  lua_pushcfunction(state_.get(), NoteErrorPlace);
  error_handler_ = luaL_ref(state_.get(), LUA_REGISTRYINDEX);
}

void Interpreter::Flush() {
  functions_.clear();
  Open();
}

std::optional<Reply> Interpreter::Compile(std::string_view sha, std::string_view body) {
  lua_State* state = state_.get();
  if (luaL_loadbuffer(state, body.data(), body.size(), "@user_script") != 0) {
    const std::string text(ToView(state, -1));
    lua_pop(state, 1);
    return Reply::Error("ERR Error compiling script (new function): " + text);
  }
  lua_rawgeti(state, LUA_REGISTRYINDEX, environment_);
  lua_setfenv(state, -2);
  functions_.emplace(sha, luaL_ref(state, LUA_REGISTRYINDEX));
  return std::nullopt;
}

Reply Interpreter::Run(std::string_view sha, std::span<const std::string_view> keys,
                       std::span<const std::string_view> arguments, ScriptHost& host) {
  lua_State* state = state_.get();
  SetScriptHost(state, &host);
  lua_rawgeti(state, LUA_REGISTRYINDEX, environment_);
  SetStrings(state, lua_gettop(state), "KEYS", keys);
  SetStrings(state, lua_gettop(state), "ARGV", arguments);
  lua_pop(state, 1);
  lua_rawgeti(state, LUA_REGISTRYINDEX, error_handler_);
  lua_rawgeti(state, LUA_REGISTRYINDEX, functions_.find(sha)->second);
  const bool failed = lua_pcall(state, 0, 1, -2) != 0;
  Reply reply = failed ? ErrorReply(sha) : PopReply(state);
  lua_settop(state, 0);
  SetScriptHost(state, nullptr);
  // What the script leaves behind must not add up over many runs.
  lua_gc(state, LUA_GCSTEP, 0);
  return reply;
}

// The reply for the error on top of the stack, which NoteErrorPlace has made a table unless Lua had
// no memory left for it.
Reply Interpreter::ErrorReply(std::string_view sha) {
  lua_State* state = state_.get();
  if (lua_type(state, -1) != LUA_TTABLE)
    return Reply::Error("ERR not enough memory for the script");
  std::string text = FieldText(state, "err");
  if (text.empty()) text = "ERR unknown error";
  const std::string source = FieldText(state, "source");
  const std::string line = FieldText(state, "line");
  if (!source.empty() && !line.empty()) {
    absl::StrAppend(&text, " script: ", std::string(sha), ", on ", source, ":", line, ".");
  }
  return Reply::Error(text);
}

}  // namespace redouble::memory
