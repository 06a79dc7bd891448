#include "redouble/backends/memory/scripting/debugger/debugger.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "redouble/backends/memory/scripting/debugger/readable.h"
#include "redouble/backends/memory/scripting/sandbox/load_text.h"
#include "redouble/backends/memory/scripting/sandbox/lua_reply.h"
#include "redouble/core/base/text/redis_number.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/resp/reply_encoding.h"

namespace redouble::inline v0_1::memory {
namespace {

// The time is looked at after so many instructions.
constexpr int kInstructionsPerLook = 100'000;
constexpr int64_t kDefaultLimitMs = 5000;
// Lines are those of the script if their chunk has this in its name.
constexpr char kScriptName[] = "user_script";

constexpr const char* kHelp[] = {
    "Redis Lua debugger help:",
    "[h]elp               Show this help.",
    "[s]tep               Run current line and stop again.",
    "[n]ext               Alias for step.",
    "[c]ontinue           Run till next breakpoint.",
    "[l]ist               List source code around current line.",
    "[l]ist [line]        List source code around [line].",
    "                     line = 0 means: current position.",
    "[l]ist [line] [ctx]  In this form [ctx] specifies how many lines",
    "                     to show before/after [line].",
    "[w]hole              List all source code. Alias for 'list 1 1000000'.",
    "[p]rint              Show all the local variables.",
    "[p]rint <var>        Show the value of the specified variable.",
    "                     Can also show global vars KEYS and ARGV.",
    "[b]reak              Show all breakpoints.",
    "[b]reak <line>       Add a breakpoint to the specified line.",
    "[b]reak -<line>      Remove breakpoint from the specified line.",
    "[b]reak 0            Remove all breakpoints.",
    "[t]race              Show a backtrace.",
    "[e]val <code>        Execute some Lua code (in a different callframe).",
    "[r]edis <cmd>        Execute a Redis command.",
    "[m]axlen [len]       Trim logged Redis replies and Lua var dumps to len.",
    "                     Specifying zero as <len> means unlimited.",
    "[a]bort              Stop the execution of the script. In sync",
    "                     mode dataset changes will be retained.",
    "",
    "Debugger functions you can call from Lua scripts:",
    "redis.debug()        Produce logs in the debugger console.",
    "redis.breakpoint()   Stop execution like if there was a breakpoint in the",
    "                     next line of code.",
};

Debugger* DebuggerOf(lua_State* state) {
  PushRegistered(state, RegistryKey::kDebugger);
  auto* debugger = static_cast<Debugger*>(lua_touserdata(state, -1));
  lua_pop(state, 1);
  return debugger;
}

// The error on top of the stack. Redis passes on what is no string as a null pointer, which ends
// the process.
std::string ErrorText(lua_State* state) {
  if (lua_istable(state, -1)) {
    lua_pushliteral(state, "err");
    lua_rawget(state, -2);
    std::string text = lua_isstring(state, -1) != 0 ? std::string(ToView(state, -1)) : "";
    lua_pop(state, 1);
    if (!text.empty()) return text;
  }
  return lua_isstring(state, -1) != 0 ? lua_tostring(state, -1) : ReadableValue(state, -1);
}

}  // namespace

const Debugger::CommandRow Debugger::kCommands[] = {
    {"help", "h", &Debugger::Help},          {"step", "s", &Debugger::Step},
    {"next", "n", &Debugger::Step},          {"continue", "c", &Debugger::Continue},
    {"list", "l", &Debugger::List},          {"whole", "w", &Debugger::Whole},
    {"print", "p", &Debugger::Print},        {"break", "b", &Debugger::Break},
    {"trace", "t", &Debugger::Trace},        {"eval", "e", &Debugger::Eval},
    {"redis", "r", &Debugger::CallRedis, 2}, {"maxlen", "m", &Debugger::MaxLength},
    {"abort", "a", &Debugger::Abort},
};

Debugger::Debugger(std::string_view script, DebugChannel& channel, int64_t limit_ms)
    : channel_(channel),
      limit_us_((limit_ms > 0 ? limit_ms : kDefaultLimitMs) * 1000),
      source_(script),
      resumed_us_(channel.MonotonicMicros()) {}

void Debugger::Attach(lua_State* state) {
  lua_pushlightuserdata(state, this);
  PopRegistered(state, RegistryKey::kDebugger);
  lua_sethook(state, OnHook, LUA_MASKLINE | LUA_MASKCOUNT, kInstructionsPerLook);
}

void Debugger::Detach(lua_State* state) {
  lua_sethook(state, nullptr, 0, 0);
  lua_pushnil(state);
  PopRegistered(state, RegistryKey::kDebugger);
}

void Debugger::End() {
  Log("<endsession>");
  SendLog();
}

void Debugger::OnCall(std::span<const std::string_view> words) {
  if (!steps_) return;
  constexpr size_t kShownWords = 10;
  std::string text = "<redis>";
  for (const std::string_view word : words.first(std::min(words.size(), kShownWords))) {
    absl::StrAppend(&text, " ", base::ToAbsl(word));
  }
  if (words.size() > kShownWords) {
    // Redis does not count the word at which it stops.
    absl::StrAppend(&text, " ... (", words.size() - kShownWords - 1, " more)");
  }
  Log(std::move(text));
}

void Debugger::OnReply(const store::Reply& reply, bool resp3) {
  if (!steps_) return;
  const store::Protocol protocol = resp3 ? store::Protocol::kResp3 : store::Protocol::kResp2;
  LogLimited("<reply> " + ReadableReply(reply, protocol));
}

void Debugger::OnError(std::string_view text) {
  if (steps_) Log("<error> " + std::string(text));
}

void Debugger::OnDebug(lua_State* state) {
  std::string text = absl::StrCat("<debug> line ", line_, ": ");
  const int count = lua_gettop(state);
  for (int i = 1; i <= count; ++i) {
    absl::StrAppend(&text, i > 1 ? ", " : "", ReadableValue(state, i));
  }
  Log(std::move(text));
}

void Debugger::OnHook(lua_State* state, lua_Debug* place) {
  if (Debugger* debugger = DebuggerOf(state)) debugger->OnPlace(state, place);
}

bool Debugger::IsOverdue() const { return channel_.MonotonicMicros() - resumed_us_ >= limit_us_; }

void Debugger::OnPlace(lua_State* state, lua_Debug* place) {
  lua_getstack(state, 0, place);
  lua_getinfo(state, "Sl", place);
  line_ = place->currentline;
  if (std::strstr(place->short_src, kScriptName) == nullptr) return;
  const bool is_breakpoint = source_.IsBreakpoint(line_);
  bool is_overdue = false;
  if (!steps_ && !breaks_ && !is_breakpoint) {
    is_overdue = place->event == LUA_HOOKCOUNT && IsOverdue();
    if (!is_overdue) return;
  }
  const char* reason = "step over";
  if (breaks_) {
    reason = "redis.breakpoint() called";
  } else if (is_breakpoint) {
    reason = "break point";
  } else if (is_overdue) {
    reason = "timeout reached, infinite loop?";
  }
  steps_ = false;
  breaks_ = false;
  Log(absl::StrCat("* Stopped at ", line_, ", stop reason = ", reason));
  LogLine(line_);
  SendLog();
  const char* error = Converse(state);
  if (error == nullptr && has_left_ && is_overdue) {
    error = "ERR timeout during Lua debugging with client closing connection";
  }
  if (error != nullptr) {
    PushErrorTable(state, error);
    lua_error(state);
  }
  resumed_us_ = channel_.MonotonicMicros();
}

const char* Debugger::Converse(lua_State* state) {
  while (true) {
    if (const char* error = ReadCommand()) return error;
    if (has_left_) {
      source_.RemoveAllBreakpoints();
      return nullptr;
    }
    const Words words = request_.words();
    switch (RunCommand(state, words)) {
      case Outcome::kStays:
        SendLog();
        break;
      case Outcome::kRuns:
        return nullptr;
      case Outcome::kAborts:
        return "ERR script aborted for user request";
    }
  }
}

const char* Debugger::ReadCommand() {
  // As much as Redis reads at once: what is read with a command is dropped with it.
  std::array<char, 1024> buffer = {};
  while (true) {
    switch (request_.Parse()) {
      case DebugRequest::Progress::kComplete:
        return nullptr;
      case DebugRequest::Progress::kError:
        return "ERR protocol error";
      case DebugRequest::Progress::kIncomplete:
        break;
    }
    const size_t size = has_left_ ? 0 : channel_.Read(buffer);
    if (size == 0) {
      has_left_ = true;
      return nullptr;
    }
    if (!request_.Receive(std::string_view(buffer.data(), size))) {
      return "ERR max client buffer reached";
    }
  }
}

Debugger::Outcome Debugger::RunCommand(lua_State* state, const Words& words) {
  // Redis compares C strings.
  const absl::string_view name = words[0].c_str();
  for (const CommandRow& row : kCommands) {
    const bool is_named =
        absl::EqualsIgnoreCase(name, row.name) || absl::EqualsIgnoreCase(name, row.short_name);
    if (is_named && words.size() >= row.least_words) return (this->*row.handler)(state, words);
  }
  Log("<error> Unknown Redis Lua debugger command or wrong number of arguments.");
  return Outcome::kStays;
}

Debugger::Outcome Debugger::Help(lua_State*, const Words&) {
  log_.insert(log_.end(), std::begin(kHelp), std::end(kHelp));
  return Outcome::kStays;
}

Debugger::Outcome Debugger::Step(lua_State*, const Words&) {
  steps_ = true;
  return Outcome::kRuns;
}

Debugger::Outcome Debugger::Continue(lua_State*, const Words&) { return Outcome::kRuns; }

Debugger::Outcome Debugger::Abort(lua_State*, const Words&) { return Outcome::kAborts; }

Debugger::Outcome Debugger::List(lua_State*, const Words& words) {
  constexpr int kContext = 5;
  const int wanted = words.size() > 1 ? std::atoi(words[1].c_str()) : 0;
  ListLines(wanted > 0 ? wanted : line_, words.size() > 2 ? std::atoi(words[2].c_str()) : kContext);
  return Outcome::kStays;
}

Debugger::Outcome Debugger::Whole(lua_State*, const Words&) {
  ListLines(1, 1'000'000);
  return Outcome::kStays;
}

// Without a line all are listed.
void Debugger::ListLines(int around, int context) {
  for (int number = 1; number <= source_.size(); ++number) {
    if (around != 0 && std::abs(around - number) > context) continue;
    LogLine(number);
  }
}

Debugger::Outcome Debugger::Print(lua_State* state, const Words& words) {
  if (words.size() == 2) {
    PrintVariable(state, words[1].c_str());
  } else {
    PrintVariables(state);
  }
  return Outcome::kStays;
}

// The first local variable of that name, from the innermost function outwards.
void Debugger::PrintVariable(lua_State* state, const char* name) {
  constexpr char kPrefix[] = "<value> ";
  lua_Debug frame;
  for (int level = 0; lua_getstack(state, level, &frame) != 0; ++level) {
    const char* found = nullptr;
    for (int i = 1; (found = lua_getlocal(state, &frame, i)) != nullptr; ++i) {
      const bool is_it = std::strcmp(found, name) == 0;
      if (is_it) LogLimited(kPrefix + ReadableValue(state, -1));
      lua_pop(state, 1);
      if (is_it) return;
    }
  }
  if (std::strcmp(name, "KEYS") != 0 && std::strcmp(name, "ARGV") != 0) {
    Log("No such variable.");
    return;
  }
  lua_getglobal(state, name);
  LogLimited(kPrefix + ReadableValue(state, -1));
  lua_pop(state, 1);
}

void Debugger::PrintVariables(lua_State* state) {
  bool has_printed = false;
  lua_Debug frame;
  const char* name = nullptr;
  const bool has_frame = lua_getstack(state, 0, &frame) != 0;
  for (int i = 1; has_frame && (name = lua_getlocal(state, &frame, i)) != nullptr; ++i) {
    if (std::strstr(name, "(*temporary)") == nullptr) {
      LogLimited(absl::StrCat("<value> ", name, " = ", ReadableValue(state, -1)));
      has_printed = true;
    }
    lua_pop(state, 1);
  }
  if (!has_printed) Log("No local variables in the current context.");
}

Debugger::Outcome Debugger::Break(lua_State*, const Words& words) {
  if (words.size() > 1) {
    for (size_t i = 1; i < words.size(); ++i) ChangeBreakpoint(words[i]);
    return Outcome::kStays;
  }
  if (source_.breakpoints().empty()) {
    Log("No breakpoints set. Use 'b <line>' to add one.");
    return Outcome::kStays;
  }
  Log(absl::StrCat(source_.breakpoints().size(), " breakpoints set:"));
  for (const int number : source_.breakpoints()) LogLine(number);
  return Outcome::kStays;
}

// A line adds its breakpoint, a negative one removes it, and 0 removes all.
void Debugger::ChangeBreakpoint(std::string_view argument) {
  const std::optional<int64_t> read = base::ParseInt64(argument);
  if (!read) return Log(absl::StrCat("Invalid argument:'", base::ToAbsl(argument), "'"));
  constexpr int64_t kMost = std::numeric_limits<int>::max();
  const auto number = static_cast<int>(std::clamp(*read, -kMost, kMost));
  if (number == 0) {
    source_.RemoveAllBreakpoints();
    Log("All breakpoints removed.");
  } else if (number < 0) {
    Log(source_.RemoveBreakpoint(-number) ? "Breakpoint removed."
                                          : "No breakpoint in the specified line.");
  } else if (!source_.has_room_for_breakpoint()) {
    Log("Too many breakpoints set.");
  } else if (source_.AddBreakpoint(number)) {
    ListLines(number, 1);
  } else {
    Log("Wrong line number.");
  }
}

Debugger::Outcome Debugger::Trace(lua_State* state, const Words&) {
  lua_Debug frame;
  for (int level = 0; lua_getstack(state, level, &frame) != 0; ++level) {
    lua_getinfo(state, "Snl", &frame);
    if (std::strstr(frame.short_src, kScriptName) == nullptr) continue;
    Log(absl::StrCat(level == 0 ? "In " : "From ", frame.name != nullptr ? frame.name : "top level",
                     ":"));
    LogLine(frame.currentline);
  }
  return Outcome::kStays;
}

// Runs code, which may be an expression. It sees the globals of the script, not its locals.
Debugger::Outcome Debugger::Eval(lua_State* state, const Words& words) {
  constexpr char kChunkName[] = "@ldb_eval";
  const std::string code = absl::StrJoin(words.begin() + 1, words.end(), " ");
  int status = LoadText(state, "return " + code, kChunkName);
  if (status != 0) {
    lua_pop(state, 1);
    status = LoadText(state, code, kChunkName);
  }
  if (status == 0) status = lua_pcall(state, 0, 1, 0);
  if (status == 0) {
    LogLimited("<retval> " + ReadableValue(state, -1));
  } else {
    Log("<error> " + ErrorText(state));
  }
  lua_pop(state, 1);
  return Outcome::kStays;
}

// redis.call logs the command and its reply.
Debugger::Outcome Debugger::CallRedis(lua_State* state, const Words& words) {
  const auto count = static_cast<int>(words.size());
  if (lua_checkstack(state, count + 1) == 0) {
    Log("<reply> ");
    return Outcome::kStays;
  }
  lua_getglobal(state, "redis");
  lua_getfield(state, -1, "call");
  for (int i = 1; i < count; ++i) PushView(state, words[static_cast<size_t>(i)]);
  steps_ = true;
  lua_pcall(state, count - 1, 1, 0);
  steps_ = false;
  lua_pop(state, 2);
  return Outcome::kStays;
}

Debugger::Outcome Debugger::MaxLength(lua_State*, const Words& words) {
  constexpr int kLeast = 60;
  if (words.size() == 2) {
    const int wanted = std::atoi(words[1].c_str());
    has_hinted_ = true;
    max_length_ = wanted == 0 ? 0 : static_cast<size_t>(std::max(wanted, kLeast));
  }
  Log(max_length_ == 0 ? std::string("<value> replies are unlimited.")
                       : absl::StrCat("<value> replies are truncated at ", max_length_, " bytes."));
  return Outcome::kStays;
}

void Debugger::LogLimited(std::string text) {
  const bool is_trimmed = max_length_ > 0 && text.size() > max_length_;
  if (is_trimmed) {
    text.resize(max_length_);
    text += " ...";
  }
  Log(std::move(text));
  if (!is_trimmed || std::exchange(has_hinted_, true)) return;
  Log("<hint> The above reply was trimmed. Use 'maxlen 0' to disable trimming.");
}

void Debugger::SendLog() {
  std::string bytes = absl::StrCat("*", log_.size(), "\r\n");
  for (std::string& text : log_) {
    std::replace_if(
        text.begin(), text.end(), [](char c) { return c == '\r' || c == '\n'; }, ' ');
    absl::StrAppend(&bytes, "+", text, "\r\n");
  }
  log_.clear();
  channel_.Write(bytes);
}

}  // namespace redouble::inline v0_1::memory
