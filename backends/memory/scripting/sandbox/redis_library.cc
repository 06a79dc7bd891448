#include "redouble/backends/memory/scripting/sandbox/redis_library.h"

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "redouble/backends/memory/compatibility/feature.h"
#include "redouble/backends/memory/compatibility/server_text.h"
#include "redouble/backends/memory/scripting/sandbox/lua_reply.h"
#include "redouble/backends/memory/scripting/sandbox/run_limit.h"
#include "redouble/backends/memory/scripting/sandbox/script_debugger.h"
#include "redouble/core/base/hash/digest.h"
#include "redouble/core/base/text/shortest_double.h"
#include "redouble/core/base/text/trim.h"

namespace redouble::inline v0_1::memory {
namespace {

using store::Reply;

// `text` is that of Redis.
[[noreturn]] void Raise(lua_State* state, std::string_view text) {
  PushLibraryError(state, text);
  lua_error(state);
  __builtin_unreachable();
}

// Null if no script is running.
ScriptHost* FindHost(lua_State* state) {
  PushRegistered(state, RegistryKey::kHost);
  auto* host = static_cast<ScriptHost*>(lua_touserdata(state, -1));
  lua_pop(state, 1);
  return host;
}

// Null if the running script is not debugged.
ScriptDebugger* DebuggerOf(lua_State* state) {
  ScriptHost* const host = FindHost(state);
  return host == nullptr ? nullptr : host->debugger();
}

ScriptHost& HostOf(lua_State* state) {
  ScriptHost* const host = FindHost(state);
  if (host == nullptr) Raise(state, "ERR redis.call/pcall can only be called inside a script");
  return *host;
}

bool UsesResp3(lua_State* state) {
  PushRegistered(state, RegistryKey::kResp3);
  const bool resp3 = lua_toboolean(state, -1) != 0;
  lua_pop(state, 1);
  return resp3;
}

// The words of a command. They point to strings on Lua's stack.
using Words = absl::InlinedVector<std::string_view, 8>;

// The text of a number as an argument.
std::string ArgumentText(lua_State* state, lua_Number number) {
  if (!CompatibilityOf(state).Has(Feature::kShortestScores)) return NumberText(number);
  if (std::isnan(number)) return std::signbit(number) ? "-nan" : "nan";
  return number == 0 ? "0" : base::FormatShortestDouble(number);
}

// Reads the words of redis.call. Returns an error text if they are invalid, otherwise null. A
// number is converted to text.
const char* ReadWords(lua_State* state, Words& words) {
  const int count = lua_gettop(state);
  if (count == 0) return "ERR Please specify at least one argument for this redis lib call";
  for (int i = 1; i <= count; ++i) {
    const int type = lua_type(state, i);
    if (type == LUA_TNUMBER) {
      PushView(state, ArgumentText(state, lua_tonumber(state, i)));
      lua_replace(state, i);
    } else if (type != LUA_TSTRING) {
      return "ERR Lua redis lib command arguments must be strings or integers";
    }
    words.push_back(ToView(state, i));
  }
  return nullptr;
}

constexpr std::string_view kGeneralCode = "ERR ";

// Shows an error of the library or of a rule to the debugger. Redis adds the code ERR later; other
// errors are the server's shared texts with their line end.
void ShowError(lua_State* state, std::string_view text) {
  ScriptDebugger* const debugger = DebuggerOf(state);
  if (debugger == nullptr) return;
  if (text.starts_with(kGeneralCode)) return debugger->OnError(text.substr(kGeneralCode.size()));
  debugger->OnError("-" + std::string(text) + "\r\n");
}

// Shows the reply of a command that has run, or the error of the rule that refused it.
void ShowReply(lua_State* state, ScriptHost& host, const Reply& reply) {
  if (host.refused_last()) return ShowError(state, reply.text());
  if (reply.is_error()) host.debugger()->OnError("-" + reply.text());
  host.debugger()->OnReply(reply, UsesResp3(state));
}

// Runs the command in the arguments and pushes its reply. Returns true if it is an error. An error
// returned by a command, or by rejecting it, is marked, because a server counts it once.
bool CallHost(lua_State* state) {
  ScriptHost& host = HostOf(state);
  Words words;
  if (const char* error = ReadWords(state, words)) {
    lua_settop(state, 0);
    PushLibraryError(state, error);
    return true;
  }
  size_t bytes = 0;
  for (const std::string_view word : words) bytes += word.size();
  RunLimit::ChargeCall(state, bytes);
  ScriptDebugger* const debugger = host.debugger();
  if (debugger != nullptr) debugger->OnCall(words);
  const Reply reply = host.CallCommand(words);
  if (debugger != nullptr) ShowReply(state, host, reply);
  // The words may fill Lua's stack.
  lua_settop(state, 0);
  PushReply(state, reply, UsesResp3(state));
  if (!reply.is_error()) return false;
  lua_pushboolean(state, 1);
  lua_setfield(state, -2, "ignore_error_stats_update");
  return true;
}

int RedisCall(lua_State* state) { return CallHost(state) ? lua_error(state) : 1; }

int RedisPcall(lua_State* state) {
  CallHost(state);
  return 1;
}

// Returns the error of redis.acl_check_cmd for words that are no command, otherwise null.
const char* RefuseToCheck(lua_State* state, const Words& words) {
  using Recognized = ScriptHost::Recognized;
  const Recognized recognized = HostOf(state).Recognize(words);
  if (recognized == Recognized::kNo) {
    return "ERR Invalid command passed to redis.acl_check_cmd()";
  }
  const bool checks_arity = CompatibilityOf(state).Has(Feature::kCheckedArity);
  if (recognized == Recognized::kWrongArity && checks_arity) {
    return "ERR Wrong number of args for redis.acl_check_cmd()";
  }
  return nullptr;
}

// True if the user may run the command.
int RedisAclCheckCmd(lua_State* state) {
  const ScriptHost& host = HostOf(state);
  const char* error = nullptr;
  bool may_run = false;
  {
    Words words;
    error = ReadWords(state, words);
    if (error == nullptr) error = RefuseToCheck(state, words);
    if (error == nullptr) may_run = host.MayRun(words);
  }
  if (error != nullptr) Raise(state, error);
  lua_pushboolean(state, may_run ? 1 : 0);
  return 1;
}

// The result of redis.error_reply and redis.status_reply for anything but one string: an error is
// returned, not raised.
int RefuseArguments(lua_State* state) {
  PushLibraryError(state, "ERR wrong number or type of arguments");
  return 1;
}

// redis.error_reply: "-CODE text" or "CODE text"; a single word becomes the text of an "ERR" error.
// The text ends at a zero byte, and line breaks at its ends are removed, as in Redis.
int RedisErrorReply(lua_State* state) {
  if (lua_gettop(state) != 1 || lua_type(state, 1) != LUA_TSTRING) return RefuseArguments(state);
  std::string_view text = lua_tostring(state, 1);
  if (text.starts_with('-')) text.remove_prefix(1);
  if (ScriptDebugger* debugger = DebuggerOf(state)) debugger->OnError("-" + std::string(text));
  std::string_view code = "ERR";
  if (const size_t space = text.find(' '); space != std::string_view::npos) {
    code = text.substr(0, space);
    text.remove_prefix(space + 1);
  }
  PushErrorTable(state, std::string(code) + " " + std::string(base::Trim(text, "\r\n")));
  return 1;
}

int RedisStatusReply(lua_State* state) {
  if (lua_gettop(state) != 1 || lua_type(state, 1) != LUA_TSTRING) return RefuseArguments(state);
  lua_newtable(state);
  lua_pushvalue(state, 1);
  lua_setfield(state, -2, "ok");
  return 1;
}

int RedisSha1Hex(lua_State* state) {
  if (lua_gettop(state) != 1) Raise(state, "ERR wrong number of arguments");
  size_t size = 0;
  const char* text = lua_tolstring(state, 1, &size);
  RunLimit::ChargeWork(state, static_cast<int64_t>(size));
  PushView(state,
           base::Sha1Hex(text == nullptr ? std::string_view() : std::string_view(text, size)));
  return 1;
}

constexpr int kLogDebug = 0;
constexpr int kLogWarning = 3;

// There is no log. Arguments that Redis rejects are rejected.
int RedisLog(lua_State* state) {
  if (lua_gettop(state) < 2) Raise(state, "ERR redis.log() requires two arguments or more.");
  if (lua_isnumber(state, 1) == 0) {
    Raise(state, "ERR First argument must be a number (log level).");
  }
  const auto level = static_cast<int>(lua_tonumber(state, 1));
  if (level < kLogDebug || level > kLogWarning) {
    const bool is_new = CompatibilityOf(state).Has(Feature::kScriptErrors);
    Raise(state, is_new ? "ERR Invalid log level." : "ERR Invalid debug level.");
  }
  return 0;
}

int RedisSetResp(lua_State* state) {
  if (lua_gettop(state) != 1) Raise(state, "ERR redis.setresp() requires one argument.");
  const lua_Number version = lua_tonumber(state, 1);
  if (version != 2 && version != 3) Raise(state, "ERR RESP version must be 2 or 3.");
  lua_pushboolean(state, version == 3 ? 1 : 0);
  PopRegistered(state, RegistryKey::kResp3);
  return 0;
}

// Redis 7.0 always replicates scripts by their effects, so this returns true.
int RedisReplicateCommands(lua_State* state) {
  lua_pushboolean(state, 1);
  return 1;
}

constexpr int kReplAll = 3;

// A flag that Redis does not know is rejected.
int RedisSetRepl(lua_State* state) {
  if (lua_gettop(state) != 1) {
    const bool is_new = CompatibilityOf(state).Has(Feature::kScriptErrors);
    Raise(state, is_new ? "ERR redis.set_repl() requires one argument."
                        : "ERR redis.set_repl() requires two arguments.");
  }
  const auto flags = static_cast<int>(lua_tonumber(state, 1));
  if ((flags & ~kReplAll) != 0) {
    Raise(state,
          "ERR Invalid replication flags. Use REPL_AOF, REPL_REPLICA, REPL_ALL or REPL_NONE.");
  }
  HostOf(state).SetReplication(flags);
  return 0;
}

// Returns whether the script is debugged.
int RedisBreakpoint(lua_State* state) {
  ScriptDebugger* const debugger = DebuggerOf(state);
  if (debugger != nullptr) debugger->OnBreakpoint();
  lua_pushboolean(state, debugger != nullptr ? 1 : 0);
  return 1;
}

// Outside a debugging session this does nothing.
int RedisDebug(lua_State* state) {
  if (ScriptDebugger* debugger = DebuggerOf(state)) debugger->OnDebug(state);
  return 0;
}

// The code that sees a row: scripts, running functions, libraries while they are loaded.
enum Audience : uint8_t { kScripts = 1, kRunning = 2, kLoading = 4 };
constexpr uint8_t kBoth = kScripts | kRunning;
constexpr uint8_t kEverybody = kBoth | kLoading;

struct FunctionRow {
  const char* name;
  lua_CFunction function;
  uint8_t audience;
};
constexpr FunctionRow kFunctions[] = {
    {"call", RedisCall, kBoth},
    {"pcall", RedisPcall, kBoth},
    {"error_reply", RedisErrorReply, kBoth},
    {"status_reply", RedisStatusReply, kBoth},
    {"sha1hex", RedisSha1Hex, kBoth},
    {"log", RedisLog, kEverybody},
    {"setresp", RedisSetResp, kBoth},
    {"acl_check_cmd", RedisAclCheckCmd, kBoth},
    {"set_repl", RedisSetRepl, kBoth},
    {"replicate_commands", RedisReplicateCommands, kScripts},
    {"breakpoint", RedisBreakpoint, kScripts},
    {"debug", RedisDebug, kScripts},
};

struct ConstantRow {
  const char* name;
  int value;
  uint8_t audience;
};
constexpr ConstantRow kConstants[] = {
    {"LOG_DEBUG", kLogDebug, kEverybody},
    {"LOG_VERBOSE", 1, kEverybody},
    {"LOG_NOTICE", 2, kEverybody},
    {"LOG_WARNING", kLogWarning, kEverybody},
    {"REPL_NONE", 0, kBoth},
    {"REPL_AOF", 1, kBoth},
    {"REPL_SLAVE", 2, kBoth},
    {"REPL_REPLICA", 2, kBoth},
    {"REPL_ALL", kReplAll, kBoth},
};

// Sets a version in the table on top of the stack: NAME and NAME_NUM.
void SetVersion(lua_State* state, const std::string& name, std::string_view version) {
  PushView(state, version);
  lua_setfield(state, -2, name.c_str());
  lua_pushnumber(state, store::VersionNumber(version));
  lua_setfield(state, -2, (name + "_NUM").c_str());
}

// Valkey has the version of the Redis that it is compatible with, and its own.
void PushVersions(lua_State* state) {
  const Compatibility& compatibility = CompatibilityOf(state);
  SetVersion(state, "REDIS_VERSION", compatibility.spec().redis_version);
  if (!compatibility.Has(Feature::kValkeyNames)) return;
  SetVersion(state, "VALKEY_VERSION", compatibility.spec().version);
  lua_pushliteral(state, "valkey");
  lua_setfield(state, -2, "SERVER_NAME");
}

void PushRows(lua_State* state, Audience audience) {
  lua_newtable(state);
  for (const FunctionRow& row : kFunctions) {
    if ((row.audience & audience) == 0) continue;
    lua_pushcfunction(state, row.function);
    lua_setfield(state, -2, row.name);
  }
  for (const ConstantRow& row : kConstants) {
    if ((row.audience & audience) == 0) continue;
    lua_pushnumber(state, row.value);
    lua_setfield(state, -2, row.name);
  }
  PushVersions(state);
}

// The 48-bit linear congruential generator of lrand48, of which Redis has its own copy.
struct Random {
  uint64_t state = 0x1234abcd330e;
  int64_t Next() {
    constexpr uint64_t kMask = (uint64_t{1} << 48) - 1;
    state = (state * 0x5deece66d + 0xb) & kMask;
    return static_cast<int64_t>(state >> 17);
  }
};
constexpr int64_t kRandomMax = 0x7fffffff;

Random& RandomOf(lua_State* state) {
  PushRegistered(state, RegistryKey::kRandom);
  auto* random = static_cast<Random*>(lua_touserdata(state, -1));
  lua_pop(state, 1);
  return *random;
}

// math.random as in Lua 5.1, with Redis's generator.
int MathRandom(lua_State* state) {
  const lua_Number unit = static_cast<lua_Number>(RandomOf(state).Next() % kRandomMax) /
                          static_cast<lua_Number>(kRandomMax);
  switch (lua_gettop(state)) {
    case 0:
      lua_pushnumber(state, unit);
      return 1;
    case 1: {
      const int upper = luaL_checkint(state, 1);
      luaL_argcheck(state, 1 <= upper, 1, "interval is empty");
      lua_pushnumber(state, std::floor(unit * upper) + 1);
      return 1;
    }
    case 2: {
      const int lower = luaL_checkint(state, 1);
      const int upper = luaL_checkint(state, 2);
      luaL_argcheck(state, lower <= upper, 2, "interval is empty");
      lua_pushnumber(state, std::floor(unit * (upper - lower + 1)) + lower);
      return 1;
    }
    default:
      return luaL_error(state, "wrong number of arguments");
  }
}

int MathRandomSeed(lua_State* state) {
  const auto seed = static_cast<uint32_t>(luaL_checkint(state, 1));
  RandomOf(state).state = (static_cast<uint64_t>(seed) << 16) | 0x330e;
  return 0;
}

// Always 0: the processor's clock would make scripts nondeterministic.
int OsClock(lua_State* state) {
  lua_pushnumber(state, 0);
  return 1;
}

}  // namespace

void PushRedisLibrary(lua_State* state, ScriptKind kind) {
  PushRows(state, kind == ScriptKind::kScript ? kScripts : kRunning);
}

void PushLoadingRedisLibrary(lua_State* state, lua_CFunction register_function) {
  PushRows(state, kLoading);
  lua_pushcfunction(state, register_function);
  lua_setfield(state, -2, "register_function");
}

void SetCompatibility(lua_State* state, const Compatibility& compatibility) {
  // Lua has no constant userdata; nothing writes through it.
  lua_pushlightuserdata(state, const_cast<Compatibility*>(&compatibility));
  PopRegistered(state, RegistryKey::kCompatibility);
}

const Compatibility& CompatibilityOf(lua_State* state) {
  PushRegistered(state, RegistryKey::kCompatibility);
  const auto* compatibility = static_cast<const Compatibility*>(lua_touserdata(state, -1));
  lua_pop(state, 1);
  return *compatibility;
}

void NameRedisLibrary(lua_State* state, int globals) {
  if (CompatibilityOf(state).Has(Feature::kValkeyNames)) {
    lua_pushvalue(state, -1);
    lua_setfield(state, globals, "server");
  }
  lua_setfield(state, globals, "redis");
}

void PushClockLibrary(lua_State* state) {
  lua_newtable(state);
  lua_pushcfunction(state, OsClock);
  lua_setfield(state, -2, "clock");
}

void PushLibraryError(lua_State* state, std::string_view redis_text) {
  ShowError(state, redis_text);
  PushErrorTable(state, ServerText(CompatibilityOf(state), redis_text));
}

void SetScriptHost(lua_State* state, ScriptHost* host) {
  lua_pushlightuserdata(state, host);
  PopRegistered(state, RegistryKey::kHost);
  lua_pushboolean(state, 0);
  PopRegistered(state, RegistryKey::kResp3);
}

void ReplaceRandom(lua_State* state) {
  *static_cast<Random*>(lua_newuserdata(state, sizeof(Random))) = Random();
  PopRegistered(state, RegistryKey::kRandom);
  lua_pushcfunction(state, MathRandom);
  lua_setfield(state, -2, "random");
  lua_pushcfunction(state, MathRandomSeed);
  lua_setfield(state, -2, "randomseed");
}

}  // namespace redouble::inline v0_1::memory
