#include "redouble/backends/memory/scripting/script_state.h"

#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "redouble/backends/memory/scripting/sandbox/lua_reply.h"
#include "redouble/backends/memory/scripting/sandbox/redis_library.h"
#include "redouble/backends/memory/scripting/sandbox/run_limit.h"
#include "redouble/backends/memory/scripting/sandbox/sandbox.h"
#include "redouble/backends/memory/scripting/sandbox/script_debugger.h"

namespace redouble::inline v0_1::memory {
namespace {

using store::Reply;

// Redis's text, also used for functions.
constexpr char kKilled[] = "ERR Script killed by user with SCRIPT KILL...";
constexpr char kLoadTimeout[] = "ERR FUNCTION LOAD timeout";
constexpr char kNoMemory[] = "ERR not enough memory for the script";

// The text of an error value that is not a table. A script cannot change it, as it could if this
// called its `tostring`; the addresses that `tostring` prints would differ in each process.
std::string TextOfError(lua_State* state, int index) {
  switch (lua_type(state, index)) {
    case LUA_TSTRING:
    case LUA_TNUMBER:
      return std::string(ToView(state, index));
    case LUA_TBOOLEAN:
      return lua_toboolean(state, index) != 0 ? "true" : "false";
    default:
      return lua_typename(state, lua_type(state, index));
  }
}

// The error handler: converts the error to a table and records its position, that of the nearest
// function that is not written in C.
int NoteErrorPlace(lua_State* state) {
  if (lua_type(state, 1) != LUA_TTABLE) {
    PushErrorTable(state, "ERR " + TextOfError(state, 1));
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

// A field of the table on top of the stack. Metamethods of a script's table are not called.
std::string FieldText(lua_State* state, const char* name) {
  lua_pushstring(state, name);
  lua_rawget(state, -2);
  std::string text(lua_isstring(state, -1) != 0 ? ToView(state, -1) : std::string_view());
  lua_pop(state, 1);
  return text;
}

// The reply for the error on top of the stack. NoteErrorPlace has converted it to a table, unless
// it failed itself.
Reply ErrorReply(lua_State* state, int status, std::string_view name) {
  if (lua_type(state, -1) != LUA_TTABLE) {
    if (status != LUA_ERRERR) return Reply::Error(kNoMemory);
    return Reply::Error("ERR " + TextOfError(state, -1));
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

// What watches a run: the debugger if there is one, otherwise a limit.
class RunGuard {
 public:
  RunGuard(lua_State* state, ScriptHost& host, int64_t limit_ms)
      : state_(state), debugger_(host.debugger()) {
    if (debugger_ != nullptr) {
      debugger_->Attach(state);
    } else {
      limit_.emplace(state,
                     RunLimit::Options{.limit_ms = limit_ms, .error = kKilled, .host = &host});
    }
  }
  ~RunGuard() {
    if (debugger_ != nullptr) debugger_->Detach(state_);
  }
  RunGuard(const RunGuard&) = delete;
  RunGuard& operator=(const RunGuard&) = delete;

  bool overrun() const { return limit_ && limit_->overrun(); }

 private:
  lua_State* const state_;
  ScriptDebugger* const debugger_;
  std::optional<RunLimit> limit_;
};

using Body = absl::FunctionRef<void(lua_State*)>;

int RunBody(lua_State* state) {
  const Body& body = *static_cast<const Body*>(lua_touserdata(state, 1));
  lua_settop(state, 0);
  body(state);
  return 0;
}

}  // namespace

size_t ScriptState::MemoryBytes() const {
  constexpr size_t kKilobyte = 1024;
  return static_cast<size_t>(lua_gc(lua(), LUA_GCCOUNT, 0)) * kKilobyte +
         static_cast<size_t>(lua_gc(lua(), LUA_GCCOUNTB, 0));
}

ScriptState::ScriptState(ScriptKind kind, const Compatibility& compatibility)
    : lua_(lua_newstate(LuaMemory::Allocate, &memory_)) {
  Protect([&](lua_State* state) {
    PushSandbox(state, kind, compatibility);
    // Code that a script compiles with loadstring runs with the same globals.
    lua_pushvalue(state, -1);
    lua_replace(state, LUA_GLOBALSINDEX);
    environment_ = luaL_ref(state, LUA_REGISTRYINDEX);
    lua_pushcfunction(state, NoteErrorPlace);
    error_handler_ = luaL_ref(state, LUA_REGISTRYINDEX);
    SetScriptHost(state, nullptr);
  });
}

bool ScriptState::Protect(Body body) const {
  const bool done = lua_cpcall(lua(), RunBody, &body) == 0;
  lua_settop(lua(), 0);
  // What the code has left is what the next one lacks.
  if (!done) lua_gc(lua(), LUA_GCCOLLECT, 0);
  return done;
}

ScriptResult ScriptState::Call(absl::FunctionRef<int(lua_State*)> push, std::string_view name,
                               ScriptHost& host, int64_t limit_ms) {
  ScriptResult result{.reply = Reply::Error(kNoMemory)};
  Protect([&](lua_State* state) {
    constexpr int kHandlerIndex = 1;
    SetScriptHost(state, &host);
    lua_rawgeti(state, LUA_REGISTRYINDEX, error_handler_);
    const int argument_count = push(state);
    const RunGuard guard(state, host, limit_ms);
    const int status = lua_pcall(state, argument_count, 1, kHandlerIndex);
    result.overran = guard.overrun();
    result.error_is_counted = IsMarked(state);
    result.reply =
        status == 0 ? PopReply(state, result.nested_errors) : ErrorReply(state, status, name);
  });
  SetScriptHost(lua(), nullptr);
  // Garbage must not accumulate over many runs.
  lua_gc(lua(), LUA_GCSTEP, 0);
  return result;
}

std::optional<std::string> ScriptState::Load(int64_t limit_ms) {
  lua_State* state = lua();
  const RunLimit limit(state, {.limit_ms = limit_ms, .error = kLoadTimeout});
  if (lua_pcall(state, 0, 0, 0) == 0) return std::nullopt;
  return lua_istable(state, -1) ? FieldText(state, "err") : "ERR " + TextOfError(state, -1);
}

}  // namespace redouble::inline v0_1::memory
