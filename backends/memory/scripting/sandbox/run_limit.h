// RunLimit: limits how long the Lua code of a state runs.
//
// script_host.h defines the unit: instructions, with weights for commands and bytes, or real time
// if the host measures it. When the limit is reached and the host does not let the script go on,
// RunLimit raises an error. A script can catch it, but each later instruction and command raises it
// again.
//
//   RunLimit limit(state, {.limit_ms = 5000, .error = kKilled, .host = &host});
//   lua_pcall(state, 0, 1, 0);
//   if (limit.overrun()) ...
//
// Thread-safety: one thread for each Lua state.
// Source: Redis 7.0 SCRIPT KILL.
#ifndef REDOUBLE_BACKENDS_MEMORY_SCRIPTING_SANDBOX_RUN_LIMIT_H_
#define REDOUBLE_BACKENDS_MEMORY_SCRIPTING_SANDBOX_RUN_LIMIT_H_

#include <cstddef>
#include <cstdint>
#include <lua.hpp>

#include "redouble/backends/memory/scripting/sandbox/script_host.h"

namespace redouble::inline v0_1::memory {

// In effect during its lifetime, for the state and the coroutines created in that time.
class RunLimit {
 public:
  struct Options {
    int64_t limit_ms = 0;
    const char* error = "";      // Raised when the limit is reached.
    ScriptHost* host = nullptr;  // Null: instructions are counted.
  };

  RunLimit(lua_State* state, const Options& options);
  ~RunLimit();
  RunLimit(const RunLimit&) = delete;
  RunLimit& operator=(const RunLimit&) = delete;

  // True if the error was raised.
  bool overrun() const { return overrun_; }

  // Whether the limit of this state was reached; false if the state has none.
  static bool IsOverrun(lua_State* state);

  // Counts a command with `bytes` of words. Raises the error if the limit of this state is reached
  // or was before: a script that caught it cannot run another command.
  static void ChargeCall(lua_State* state, size_t bytes);
  // Counts what a function of a library does, which takes as long as so many instructions. Raises
  // the error as ChargeCall does.
  static void ChargeWork(lua_State* state, int64_t instructions);
  // Counts allocated memory. Raises no error: the next instruction does if the limit is reached.
  void ChargeAllocation(size_t bytes);

 private:
  static void OnHook(lua_State* state, lua_Debug* place);
  static RunLimit* Of(lua_State* state);
  // Counts instructions. Returns true if the limit is reached.
  bool Charge(int64_t instructions);
  bool measures_time() const { return step_ < kInstructionsPerMilli; }
  // The limit is reached: raises the error unless the host lets the script go on.
  void Act(lua_State* state);
  // Makes every step, or each instruction, call the hook.
  void HookEveryStep(lua_State* state) const;
  static void HookEveryInstruction(lua_State* state);
  [[noreturn]] void Raise(lua_State* state) const;

  lua_State* const main_;
  const Options options_;
  // So many instructions are counted together. Where real time decides they are fewer, because an
  // instruction may call a function that takes milliseconds.
  const int step_;
  // Towards the next step.
  int64_t charged_instructions_ = 0;
  size_t charged_bytes_ = 0;
  int64_t left_ms_;
  // Of real time: how long the script had run when that was last asked, and when it is to stop.
  int64_t run_ms_ = 0;
  int64_t end_ms_;
  bool is_reached_ = false;
  bool overrun_ = false;
};

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_SCRIPTING_SANDBOX_RUN_LIMIT_H_
