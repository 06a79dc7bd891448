#include "redouble/backends/memory/scripting/function_interpreter.h"

#include <algorithm>
#include <iterator>
#include <lua.hpp>
#include <span>
#include <utility>

#include "absl/strings/match.h"
#include "redouble/backends/memory/compatibility/feature.h"
#include "redouble/backends/memory/scripting/sandbox/load_text.h"
#include "redouble/backends/memory/scripting/sandbox/lua_reply.h"
#include "redouble/backends/memory/scripting/sandbox/redis_library.h"
#include "redouble/backends/memory/scripting/sandbox/sandbox.h"
#include "redouble/backends/memory/scripting/script_state.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::memory {
namespace {

constexpr int kLoadLimitMillis = 500;

using Functions = std::vector<RegisteredFunction>;

bool SameWord(std::string_view a, std::string_view b) {
  return absl::EqualsIgnoreCase(base::ToAbsl(a), base::ToAbsl(b));
}

std::optional<std::string> StringAt(lua_State* state, int index) {
  if (lua_isstring(state, index) == 0) return std::nullopt;
  return std::string(ToView(state, index));
}

// Pops the function on top of the stack.
int TakeReference(lua_State* state) { return luaL_ref(state, LUA_REGISTRYINDEX); }

// Reads the table of flags on top of the stack. Returns false if one is unknown.
bool ReadFlags(lua_State* state, ScriptFlags& flags) {
  for (int i = 1;; ++i) {
    lua_rawgeti(state, -1, i);
    if (lua_isnil(state, -1)) break;
    const std::optional<std::string> name = StringAt(state, -1);
    lua_pop(state, 1);
    if (!name) return false;
    const auto* row =
        std::find_if(std::begin(kScriptFlags), std::end(kScriptFlags),
                     [&](const ScriptFlagRow& known) { return SameWord(known.name, *name); });
    if (row == std::end(kScriptFlags)) return false;
    flags.*(row->member) = true;
  }
  lua_pop(state, 1);
  return true;
}

// The following readers return the text of an error, or null.

const char* ReadNamedArgument(lua_State* state, RegisteredFunction& function, bool& has_name) {
  // A number is an unknown flag. Reading it as a string would convert it and confuse lua_next.
  if (lua_isstring(state, -2) == 0) {
    return "ERR named argument key given to redis.register_function is not a string";
  }
  const std::string_view key =
      lua_type(state, -2) == LUA_TSTRING ? ToView(state, -2) : std::string_view();
  if (SameWord(key, "function_name")) {
    const std::optional<std::string> name = StringAt(state, -1);
    if (!name) {
      return "ERR function_name argument given to redis.register_function must be a string";
    }
    function.name = *name;
    has_name = true;
  } else if (SameWord(key, "description")) {
    function.description = StringAt(state, -1);
    if (!function.description) {
      return "ERR description argument given to redis.register_function must be a string";
    }
  } else if (SameWord(key, "callback")) {
    if (lua_isfunction(state, -1) == 0) {
      return "ERR callback argument given to redis.register_function must be a function";
    }
    lua_pushvalue(state, -1);
    function.reference = TakeReference(state);
  } else if (SameWord(key, "flags")) {
    if (lua_istable(state, -1) == 0) {
      return "ERR flags argument to redis.register_function must be a table representing function "
             "flags";
    }
    if (!ReadFlags(state, function.flags)) return "ERR unknown flag given";
  } else {
    return "ERR unknown argument given to redis.register_function";
  }
  return nullptr;
}

const char* ReadNamed(lua_State* state, RegisteredFunction& function) {
  if (lua_istable(state, 1) == 0) {
    return "ERR calling redis.register_function with a single argument is only applicable to Lua "
           "table (representing named arguments).";
  }
  bool has_name = false;
  lua_pushnil(state);
  while (lua_next(state, 1) != 0) {
    if (const char* error = ReadNamedArgument(state, function, has_name)) return error;
    lua_settop(state, 2);
  }
  if (!has_name) return "ERR redis.register_function must get a function name argument";
  if (function.reference == 0) return "ERR redis.register_function must get a callback argument";
  return nullptr;
}

const char* ReadPositional(lua_State* state, RegisteredFunction& function) {
  std::optional<std::string> name = StringAt(state, 1);
  if (!name) return "ERR first argument to redis.register_function must be a string";
  if (lua_isfunction(state, 2) == 0) {
    return "ERR second argument to redis.register_function must be a function";
  }
  function.name = *std::move(name);
  function.reference = TakeReference(state);
  return nullptr;
}

bool IsName(std::string_view name) {
  const auto right = [](char c) {
    return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || ('0' <= c && c <= '9') || c == '_';
  };
  return !name.empty() && std::all_of(name.begin(), name.end(), right);
}

bool IsTaken(std::string_view name, std::span<const RegisteredFunction> functions) {
  return std::any_of(functions.begin(), functions.end(),
                     [&](const RegisteredFunction& other) { return other.name == name; });
}

const char* Register(lua_State* state) {
  PushRegistered(state, RegistryKey::kLoad);
  auto* functions = static_cast<Functions*>(lua_touserdata(state, -1));
  lua_pop(state, 1);
  if (functions == nullptr) {
    return "ERR redis.register_function can only be called on FUNCTION LOAD command";
  }
  const int arguments = lua_gettop(state);
  if (arguments < 1 || arguments > 2) {
    return "ERR wrong number of arguments to redis.register_function";
  }
  RegisteredFunction function;
  function.flags.declared = true;
  const char* error = arguments == 1 ? ReadNamed(state, function) : ReadPositional(state, function);
  if (error == nullptr && !CompatibilityOf(state).Has(Feature::kFunctionNames)) {
    if (!IsName(function.name)) {
      error =
          "ERR Library names can only contain letters, numbers, or underscores(_) and must be at "
          "least one character long";
    } else if (IsTaken(function.name, *functions)) {
      error = "ERR Function already exists in the library";
    }
  }
  if (error != nullptr) {
    if (function.reference != 0) luaL_unref(state, LUA_REGISTRYINDEX, function.reference);
    return error;
  }
  functions->push_back(std::move(function));
  return nullptr;
}

// The error of the first function, in the order of registration, whose name is invalid or taken.
std::optional<std::string> RefuseNames(const Functions& functions) {
  for (size_t i = 0; i < functions.size(); ++i) {
    if (!IsName(functions[i].name)) {
      return "Function names can only contain letters, numbers, or underscores(_) and must be at "
             "least one character long";
    }
    if (IsTaken(functions[i].name, std::span(functions).first(i))) {
      return "Function already exists in the library";
    }
  }
  return std::nullopt;
}

// lua_error leaves by longjmp, so it is called when no local object owns memory.
int RegisterFunction(lua_State* state) {
  const char* error = Register(state);
  if (error == nullptr) return 0;
  PushLibraryError(state, error);
  return lua_error(state);
}

void SetLoading(lua_State* state, Functions* functions) {
  lua_pushlightuserdata(state, functions);
  PopRegistered(state, RegistryKey::kLoad);
}

}  // namespace

FunctionInterpreter::FunctionInterpreter(const Compatibility& compatibility)
    : state_(std::make_unique<ScriptState>(ScriptKind::kFunction, compatibility)) {
  state_->Protect([&](lua_State* lua) {
    state_->PushEnvironment();
    lua_getmetatable(lua, -1);
    lua_getfield(lua, -1, "__index");
    running_globals_ = luaL_ref(lua, LUA_REGISTRYINDEX);
    PushLoadingGlobals(lua, RegisterFunction);
    loading_globals_ = luaL_ref(lua, LUA_REGISTRYINDEX);
    SetLoading(lua, nullptr);
  });
}

FunctionInterpreter::~FunctionInterpreter() = default;

size_t FunctionInterpreter::MemoryBytes() const { return state_->MemoryBytes(); }

void FunctionInterpreter::ShowGlobals(int reference) {
  lua_State* lua = state_->lua();
  state_->PushEnvironment();
  lua_getmetatable(lua, -1);
  lua_rawgeti(lua, LUA_REGISTRYINDEX, reference);
  lua_setfield(lua, -2, "__index");
  lua_pop(lua, 2);
}

std::optional<std::string> FunctionInterpreter::Load(std::string_view code,
                                                     std::vector<RegisteredFunction>& functions) {
  std::optional<std::string> error = "Error compiling function: not enough memory";
  std::vector<RegisteredFunction> registered;
  state_->Protect([&](lua_State* lua) {
    if (LoadText(lua, code, "@user_function") != 0) {
      error = "Error compiling function: " + std::string(ToView(lua, -1));
      return;
    }
    state_->PushEnvironment();
    lua_setfenv(lua, -2);
    SetLoading(lua, &registered);
    ShowGlobals(loading_globals_);
    error = state_->Load(kLoadLimitMillis);
    if (error) {
      error = "Error registering functions: " + *error;
    } else if (CompatibilityOf(lua).Has(Feature::kFunctionNames)) {
      error = RefuseNames(registered);
    }
  });
  ShowGlobals(running_globals_);
  SetLoading(state_->lua(), nullptr);
  if (error) {
    for (const RegisteredFunction& function : registered) Release(function.reference);
    return error;
  }
  std::move(registered.begin(), registered.end(), std::back_inserter(functions));
  return std::nullopt;
}

void FunctionInterpreter::Release(int reference) {
  luaL_unref(state_->lua(), LUA_REGISTRYINDEX, reference);
}

ScriptResult FunctionInterpreter::Run(int reference, std::string_view name,
                                      std::span<const std::string_view> keys,
                                      std::span<const std::string_view> arguments, ScriptHost& host,
                                      int64_t limit_ms) {
  const auto push = [&](lua_State* lua) {
    lua_rawgeti(lua, LUA_REGISTRYINDEX, reference);
    PushStrings(lua, keys);
    PushStrings(lua, arguments);
    return 2;
  };
  return state_->Call(push, name, host, limit_ms);
}

}  // namespace redouble::inline v0_1::memory
