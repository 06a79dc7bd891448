// ScriptDebugger: follows one run of a script (scripting/debugger/debugger.h).
//
// The sandbox reports to it what the script does with the `redis` table. A ScriptHost that has one
// makes the interpreter attach it instead of a limit of time:
//
//   debugger.Attach(state);
//   lua_pcall(state, 0, 1, 0);
//   debugger.Detach(state);
//
// Thread-safety: one thread.
// Source: Redis 7.0 SCRIPT DEBUG.
#ifndef REDOUBLE_BACKENDS_MEMORY_SCRIPTING_SANDBOX_SCRIPT_DEBUGGER_H_
#define REDOUBLE_BACKENDS_MEMORY_SCRIPTING_SANDBOX_SCRIPT_DEBUGGER_H_

#include <lua.hpp>
#include <span>
#include <string_view>

#include "redouble/core/store/reply.h"

namespace redouble::inline v0_1::memory {

class ScriptDebugger {
 public:
  // From Attach to Detach the debugger sees each line of the script before it runs. Coroutines that
  // outlast the run see nothing any more.
  virtual void Attach(lua_State* state) = 0;
  virtual void Detach(lua_State* state) = 0;

  // The script calls a command; words[0] is its name.
  virtual void OnCall(std::span<const std::string_view> words) = 0;
  // The command has run. `resp3`: the script selected RESP3.
  virtual void OnReply(const store::Reply& reply, bool resp3) = 0;
  // The library makes an error. `text` is as Redis passes it on: "-CODE text" for the error of a
  // command that has run, a text without code for what the library itself refuses.
  virtual void OnError(std::string_view text) = 0;
  // The script asks to stop at its next line.
  virtual void OnBreakpoint() = 0;
  // The script shows values: those on its stack.
  virtual void OnDebug(lua_State* state) = 0;

 protected:
  ~ScriptDebugger() = default;
};

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_SCRIPTING_SANDBOX_SCRIPT_DEBUGGER_H_
