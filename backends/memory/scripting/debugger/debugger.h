// Debugger: a debugging session of one script: it stops at lines, and runs the commands that its
// client sends meanwhile: step, continue, list, print, break, trace, eval, redis, maxlen, abort.
//
// Everything that a client sees is a line of a log; a stop or the end of a command sends the log as
// an array of simple strings. Neither sockets nor processes are known here (debug_host.h).
//
//   Debugger debugger(script, channel, limit_ms);
//   const ScriptResult result = interpreter.Run(sha, keys, arguments, host_with_debugger);
//   debugger.End();  // Before the reply of the script.
//
// If the client leaves, the script runs on without stops; it ends with an error if it takes longer
// than `limit_ms`.
//
// Thread-safety: one thread.
// Source: Redis 7.0 SCRIPT DEBUG; "Redis Lua debugger".
#ifndef REDOUBLE_BACKENDS_MEMORY_SCRIPTING_DEBUGGER_DEBUGGER_H_
#define REDOUBLE_BACKENDS_MEMORY_SCRIPTING_DEBUGGER_DEBUGGER_H_

#include <cstddef>
#include <cstdint>
#include <lua.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redouble/backends/memory/scripting/debugger/debug_host.h"
#include "redouble/backends/memory/scripting/debugger/debug_request.h"
#include "redouble/backends/memory/scripting/debugger/debug_source.h"
#include "redouble/backends/memory/scripting/sandbox/script_debugger.h"
#include "redouble/core/store/reply.h"

namespace redouble::inline v0_1::memory {

class Debugger final : public ScriptDebugger {
 public:
  // `channel` must outlive the debugger. A script that runs longer than `limit_ms` without a stop
  // is stopped; 0: the limit is 5 s.
  Debugger(std::string_view script, DebugChannel& channel, int64_t limit_ms);
  Debugger(const Debugger&) = delete;
  Debugger& operator=(const Debugger&) = delete;

  // Sends what is left and the mark of the end.
  void End();

  // ScriptDebugger
  void Attach(lua_State* state) override;
  void Detach(lua_State* state) override;
  void OnCall(std::span<const std::string_view> words) override;
  void OnReply(const store::Reply& reply, bool resp3) override;
  void OnError(std::string_view text) override;
  void OnBreakpoint() override { breaks_ = true; }
  void OnDebug(lua_State* state) override;

 private:
  using Words = std::vector<std::string>;
  enum class Outcome : uint8_t { kStays, kRuns, kAborts };
  using Handler = Outcome (Debugger::*)(lua_State* state, const Words& words);
  struct CommandRow {
    const char* name;
    const char* short_name;
    Handler handler;
    size_t least_words = 1;
  };
  static const CommandRow kCommands[];

  static void OnHook(lua_State* state, lua_Debug* place);
  // Called before a line runs, and after so many instructions. Stops if there is a reason.
  void OnPlace(lua_State* state, lua_Debug* place);
  bool IsOverdue() const;
  // Runs commands of the client until one lets the script run. Returns null, or the error with
  // which the script is to end.
  const char* Converse(lua_State* state);
  // Waits for the next command. Returns null, or the error with which the script is to end. Without
  // words afterwards, the client has left.
  const char* ReadCommand();
  Outcome RunCommand(lua_State* state, const Words& words);

  Outcome Help(lua_State* state, const Words& words);
  Outcome Step(lua_State* state, const Words& words);
  Outcome Continue(lua_State* state, const Words& words);
  Outcome List(lua_State* state, const Words& words);
  Outcome Whole(lua_State* state, const Words& words);
  Outcome Print(lua_State* state, const Words& words);
  Outcome Break(lua_State* state, const Words& words);
  Outcome Trace(lua_State* state, const Words& words);
  Outcome Eval(lua_State* state, const Words& words);
  Outcome CallRedis(lua_State* state, const Words& words);
  Outcome MaxLength(lua_State* state, const Words& words);
  Outcome Abort(lua_State* state, const Words& words);

  void PrintVariable(lua_State* state, const char* name);
  void PrintVariables(lua_State* state);
  void ChangeBreakpoint(std::string_view argument);
  void ListLines(int around, int context);
  void LogLine(int number) { Log(source_.LineAt(number, line_)); }
  void Log(std::string text) { log_.push_back(std::move(text)); }
  void LogLimited(std::string text);
  void SendLog();

  DebugChannel& channel_;
  const int64_t limit_us_;
  DebugSource source_;
  DebugRequest request_;
  std::vector<std::string> log_;
  int line_ = 0;
  bool steps_ = true;    // Stops at the next line, and logs commands and their replies.
  bool breaks_ = false;  // The script asked to stop at its next line.
  bool has_left_ = false;
  size_t max_length_ = 256;  // 0: no limit.
  bool has_hinted_ = false;  // The client knows of maxlen.
  int64_t resumed_us_ = 0;
};

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_SCRIPTING_DEBUGGER_DEBUGGER_H_
