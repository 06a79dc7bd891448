#include "backends/memory/scripting/run_limit.h"

#include "backends/memory/scripting/lua_reply.h"
#include "backends/memory/scripting/script_host.h"

namespace redouble::memory {
namespace {

constexpr char kLimitKey[] = "redouble.limit";

}  // namespace

RunLimit::RunLimit(lua_State* state, int64_t limit_ms, const char* error)
    : main_(state), error_(error), left_ms_(limit_ms) {
  lua_pushlightuserdata(state, this);
  PopRegistered(state, kLimitKey);
  if (limit_ms > 0) lua_sethook(state, OnHook, LUA_MASKCOUNT, kInstructionsPerMilli);
}

RunLimit::~RunLimit() {
  lua_sethook(main_, nullptr, 0, 0);
  lua_pushnil(main_);
  PopRegistered(main_, kLimitKey);
}

RunLimit* RunLimit::Of(lua_State* state) {
  PushRegistered(state, kLimitKey);
  auto* limit = static_cast<RunLimit*>(lua_touserdata(state, -1));
  lua_pop(state, 1);
  return limit;
}

void RunLimit::Raise(lua_State* state) const {
  PushErrorTable(state, error_);
  lua_error(state);
  __builtin_unreachable();
}

void RunLimit::Enforce(lua_State* state) {
  const RunLimit* limit = Of(state);
  if (limit != nullptr && limit->overrun_) limit->Raise(state);
}

void RunLimit::OnHook(lua_State* state, lua_Debug*) {
  RunLimit* limit = Of(state);
  // A coroutine that an earlier run left behind keeps its hook.
  if (limit == nullptr) return;
  if (!limit->overrun_ && --limit->left_ms_ > 0) return;
  limit->overrun_ = true;
  // From now on every instruction raises, so that a pcall around the script does not save it.
  lua_sethook(state, OnHook, LUA_MASKLINE | LUA_MASKCOUNT, 1);
  lua_sethook(limit->main_, OnHook, LUA_MASKLINE | LUA_MASKCOUNT, 1);
  limit->Raise(state);
}

}  // namespace redouble::memory
