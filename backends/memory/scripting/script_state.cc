#include "backends/memory/scripting/script_state.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "backends/memory/scripting/lua_reply.h"
#include "backends/memory/scripting/redis_library.h"
#include "backends/memory/scripting/run_limit.h"
#include "backends/memory/scripting/sandbox.h"

namespace redouble::memory {
namespace {

using store::Reply;

// As Redis words it, for functions too.
constexpr char kKilled[] = "ERR Script killed by user with SCRIPT KILL...";
constexpr char kLoadTimeout[] = "ERR FUNCTION LOAD timeout";

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

size_t ScriptState::MemoryBytes() const {
  constexpr size_t kKilobyte = 1024;
  return static_cast<size_t>(lua_gc(lua(), LUA_GCCOUNT, 0)) * kKilobyte +
         static_cast<size_t>(lua_gc(lua(), LUA_GCCOUNTB, 0));
}

ScriptState::ScriptState(ScriptKind kind) : lua_(luaL_newstate()) {
  PushSandbox(lua(), kind);
  // What a script loads with loadstring runs in the same globals.
  lua_pushvalue(lua(), -1);
  lua_replace(lua(), LUA_GLOBALSINDEX);
  environment_ = luaL_ref(lua(), LUA_REGISTRYINDEX);
  lua_pushcfunction(lua(), NoteErrorPlace);
  error_handler_ = luaL_ref(lua(), LUA_REGISTRYINDEX);
}

ScriptResult ScriptState::Call(int argument_count, std::string_view name, ScriptHost& host,
                               int64_t limit_ms) {
  lua_State* state = lua();
  SetScriptHost(state, &host);
  const int handler = lua_gettop(state) - argument_count;
  lua_rawgeti(state, LUA_REGISTRYINDEX, error_handler_);
  lua_insert(state, handler);
  ScriptResult result;
  {
    const RunLimit limit(state, limit_ms, kKilled);
    const bool failed = lua_pcall(state, argument_count, 1, handler) != 0;
    result.overran = limit.overrun();
    result.reply = failed ? ErrorReply(name) : PopReply(state);
  }
  lua_settop(state, 0);
  SetScriptHost(state, nullptr);
  // What the script leaves behind must not add up over many runs.
  lua_gc(state, LUA_GCSTEP, 0);
  return result;
}

std::optional<std::string> ScriptState::Load(int64_t limit_ms) {
  lua_State* state = lua();
  const RunLimit limit(state, limit_ms, kLoadTimeout);
  if (lua_pcall(state, 0, 0, 0) == 0) return std::nullopt;
  std::string text =
      lua_istable(state, -1) ? FieldText(state, "err") : "ERR " + std::string(ToView(state, -1));
  lua_settop(state, 0);
  return text;
}

// The reply for the error on top of the stack, which NoteErrorPlace has made a table unless Lua had
// no memory left for it.
Reply ScriptState::ErrorReply(std::string_view name) const {
  lua_State* state = lua();
  if (lua_type(state, -1) != LUA_TTABLE) {
    return Reply::Error("ERR not enough memory for the script");
  }
  std::string text = FieldText(state, "err");
  if (text.empty()) text = "ERR unknown error";
  const std::string source = FieldText(state, "source");
  const std::string line = FieldText(state, "line");
  if (!source.empty() && !line.empty()) {
    absl::StrAppend(&text, " script: ", std::string(name), ", on ", source, ":", line, ".");
  }
  return Reply::Error(text);
}

}  // namespace redouble::memory
