// RunLimit: stops the Lua code of a state after so many instructions, and lets nothing catch that.
#ifndef REDOUBLE_BACKENDS_MEMORY_SCRIPTING_RUN_LIMIT_H_
#define REDOUBLE_BACKENDS_MEMORY_SCRIPTING_RUN_LIMIT_H_

#include <cstdint>
#include <lua.hpp>

namespace redouble::memory {

// In force while it lives, on the state and the coroutines that begin in that time.
class RunLimit {
 public:
  // `limit_ms` in the milliseconds of script_host.h; `error` is raised when they are over.
  RunLimit(lua_State* state, int64_t limit_ms, const char* error);
  ~RunLimit();
  RunLimit(const RunLimit&) = delete;
  RunLimit& operator=(const RunLimit&) = delete;

  bool overrun() const { return overrun_; }

  // Raises the error again when the limit of this state, if any, is over: a script that caught it
  // reaches no command any more.
  static void Enforce(lua_State* state);

 private:
  static void OnHook(lua_State* state, lua_Debug* place);
  static RunLimit* Of(lua_State* state);
  [[noreturn]] void Raise(lua_State* state) const;

  lua_State* const main_;
  const char* const error_;
  int64_t left_ms_;
  bool overrun_ = false;
};

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_SCRIPTING_RUN_LIMIT_H_
