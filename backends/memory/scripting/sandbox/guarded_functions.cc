#include "redouble/backends/memory/scripting/sandbox/guarded_functions.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

#include "redouble/backends/memory/scripting/sandbox/load_text.h"
#include "redouble/backends/memory/scripting/sandbox/lua_arena.h"
#include "redouble/backends/memory/scripting/sandbox/lua_reply.h"
#include "redouble/backends/memory/scripting/sandbox/proxy_table.h"
#include "redouble/backends/memory/scripting/sandbox/run_limit.h"

namespace redouble::inline v0_1::memory {
namespace {

int Next(lua_State* state) {
  luaL_checktype(state, 1, LUA_TTABLE);
  lua_settop(state, 2);
  LookBehind(state, 1);
  if (lua_next(state, 1) != 0) return 2;
  lua_pushnil(state);
  return 1;
}

int Pairs(lua_State* state) {
  luaL_checktype(state, 1, LUA_TTABLE);
  lua_pushcfunction(state, Next);
  lua_pushvalue(state, 1);
  lua_pushnil(state);
  return 3;
}

// pcall returns the text of an error that redis.call raised as a table.
int Pcall(lua_State* state) {
  luaL_checkany(state, 1);
  if (lua_pcall(state, lua_gettop(state) - 1, LUA_MULTRET, 0) == 0) {
    lua_pushboolean(state, 1);
    lua_insert(state, 1);
    return lua_gettop(state);
  }
  lua_settop(state, 1);
  if (lua_istable(state, 1)) {
    lua_getfield(state, 1, "err");
    lua_isstring(state, -1) != 0 ? lua_replace(state, 1) : lua_pop(state, 1);
  }
  lua_pushboolean(state, 0);
  lua_insert(state, 1);
  return 2;
}

// Lua runs a handler where the error was raised. The limit raises its error in a hook, in which no
// other hook is called: a handler that does not end could not be stopped there. So the error of the
// limit gets no handler. redis-server hangs.
int CallHandler(lua_State* state) {
  if (RunLimit::IsOverrun(state)) return 1;
  lua_pushvalue(state, lua_upvalueindex(1));
  lua_insert(state, 1);
  lua_call(state, 1, 1);
  return 1;
}

int XPcall(lua_State* state) {
  luaL_checkany(state, 2);
  lua_settop(state, 2);
  // Lua has its own error for a handler that is no function.
  if (lua_isfunction(state, 2)) lua_pushcclosure(state, CallHandler, 1);
  lua_insert(state, 1);
  const int result = lua_pcall(state, 0, LUA_MULTRET, 1);
  lua_pushboolean(state, result == 0);
  lua_replace(state, 1);
  return lua_gettop(state);
}

int RawGet(lua_State* state) {
  luaL_checktype(state, 1, LUA_TTABLE);
  luaL_checkany(state, 2);
  lua_settop(state, 2);
  LookBehind(state, 1);
  lua_rawget(state, 1);
  return 1;
}

int RawSet(lua_State* state) {
  luaL_checktype(state, 1, LUA_TTABLE);
  luaL_checkany(state, 2);
  luaL_checkany(state, 3);
  lua_settop(state, 3);
  RefuseProxy(state, 1);
  lua_rawset(state, 1);
  return 1;
}

// Returns the metatable of a protected table itself, or nil. Never returns the metatable of a
// proxy.
int GetMetatable(lua_State* state) {
  luaL_checkany(state, 1);
  LookBehind(state, 1);
  if (lua_getmetatable(state, 1) == 0) {
    lua_pushnil(state);
    return 1;
  }
  luaL_getmetafield(state, 1, "__metatable");
  return 1;
}

int SetMetatable(lua_State* state) {
  luaL_checktype(state, 1, LUA_TTABLE);
  const int type = lua_type(state, 2);
  luaL_argcheck(state, type == LUA_TNIL || type == LUA_TTABLE, 2, "nil or table expected");
  RefuseProxy(state, 1);
  if (luaL_getmetafield(state, 1, "__metatable") != 0) {
    luaL_error(state, "cannot change a protected metatable");
  }
  lua_settop(state, 2);
  lua_setmetatable(state, 1);
  return 1;
}

int Unpack(lua_State* state) {
  luaL_checktype(state, 1, LUA_TTABLE);
  const int64_t first = luaL_optint(state, 2, 1);
  const int64_t last = lua_isnoneornil(state, 3) ? static_cast<int64_t>(lua_objlen(state, 1))
                                                 : luaL_checkint(state, 3);
  if (first > last) return 0;
  const int64_t count = last - first + 1;
  if (count >= std::numeric_limits<int>::max() ||
      lua_checkstack(state, static_cast<int>(count)) == 0) {
    return luaL_error(state, "too many results to unpack");
  }
  for (int64_t i = first; i <= last; ++i) lua_rawgeti(state, 1, static_cast<int>(i));
  return static_cast<int>(count);
}

// A guard calls the function that it replaces in its own frame, so that error positions and
// argument numbers stay as they are. The function is this upvalue; a function that needs its own
// upvalue finds it as the first one.
constexpr int kReplacedUpvalue = 2;

int CallReplaced(lua_State* state) {
  return lua_tocfunction(state, lua_upvalueindex(kReplacedUpvalue))(state);
}

// A function that walks the table runs no instruction of the script.
void ChargeTable(lua_State* state) {
  if (lua_istable(state, 1)) {
    RunLimit::ChargeWork(state, static_cast<int64_t>(lua_objlen(state, 1)));
  }
}

int TableInsert(lua_State* state) {
  const int arguments = lua_gettop(state);
  if (arguments == 2 || arguments == 3) RefuseProxy(state, 1);
  if (arguments == 3) ChargeTable(state);
  return CallReplaced(state);
}

int TableRemove(lua_State* state) {
  if (lua_gettop(state) == 2) ChargeTable(state);
  return CallReplaced(state);
}

int TableMaxN(lua_State* state) {
  ChargeTable(state);
  return CallReplaced(state);
}

int TableForEach(lua_State* state) {
  LookBehind(state, 1);
  return CallReplaced(state);
}

// Sorting numbers or strings runs no instruction of the script.
int TableSort(lua_State* state) {
  if (lua_istable(state, 1)) {
    const size_t size = lua_objlen(state, 1);
    RunLimit::ChargeWork(state, static_cast<int64_t>(size) * std::bit_width(size));
  }
  return CallReplaced(state);
}

// Lua reads both numbers in one expression, which x86-64's compilers evaluate from the right and
// arm64's from the left. So another argument is named in the error.
int CallWithTwoNumbers(lua_State* state) {
  luaL_checknumber(state, 2);
  return CallReplaced(state);
}

// Scripts can see the sign of NaN: "nan" and "-nan". It depends on the processor and the C library.
// These functions give it the sign that redis-server has on x86-64. third_party/lua_numbers.c does
// the same for arithmetic.
int MathAbs(lua_State* state) {
  lua_pushnumber(state, std::abs(luaL_checknumber(state, 1)));
  return 1;
}

// For functions whose result is NaN for numbers that they are not defined for.
int CallPartialFunction(lua_State* state) {
  const lua_Number number = luaL_checknumber(state, 1);
  const int results = CallReplaced(state);
  if (std::isnan(number) || !std::isnan(lua_tonumber(state, -1))) return results;
  lua_pushnumber(state, std::numeric_limits<lua_Number>::quiet_NaN());
  return 1;
}

// The number of digits is negated, which the least number cannot be. More than 8 digits are 8.
int BitToHex(lua_State* state) {
  if (lua_isnumber(state, 2) != 0) {
    // The bitop library's conversion: the low 32 bits of the number's mantissa.
    constexpr lua_Number kShift = 6755399441055744.0;
    constexpr auto kLeast = uint32_t{1} << 31;
    const auto bits = std::bit_cast<uint64_t>(lua_tonumber(state, 2) + kShift);
    if (static_cast<uint32_t>(bits) == kLeast) {
      lua_pushinteger(state, -8);
      lua_replace(state, 2);
    }
  }
  return CallReplaced(state);
}

// Lua writes the address of a table or function. Here it is the place in the state's memory, which
// is the same in every process.
int ToString(lua_State* state) {
  luaL_checkany(state, 1);
  const int type = lua_type(state, 1);
  const bool has_place =
      type == LUA_TTABLE || type == LUA_TFUNCTION || type == LUA_TTHREAD || type == LUA_TUSERDATA;
  if (!has_place || luaL_getmetafield(state, 1, "__tostring") != 0) {
    lua_settop(state, 1);
    return CallReplaced(state);
  }
  lua_pushfstring(state, "%s: %p", luaL_typename(state, 1),
                  LuaArena::ShownPlaceOf(lua_topointer(state, 1)));
  return 1;
}

// A full collection visits all that the script has.
int CollectGarbage(lua_State* state) {
  if (lua_isnoneornil(state, 1) || ToView(state, 1) == "collect") {
    const int64_t kilobytes = lua_gc(state, LUA_GCCOUNT, 0);
    RunLimit::ChargeWork(state, kilobytes * 1024 / kBytesPerInstruction);
  }
  return CallReplaced(state);
}

// Lua's matcher calls itself for each repetition of a pattern. Tens of thousands of repetitions
// overflow the C stack and end the process; redis-server ends too. Later versions of Lua return
// this error.
int CallMatcher(lua_State* state) {
  constexpr std::ptrdiff_t kMaxRepetitions = 2000;
  if (lua_isstring(state, 2) != 0) {
    const std::string_view pattern = ToView(state, 2);
    const auto repeats = [](char byte) {
      return byte == '*' || byte == '+' || byte == '-' || byte == '?';
    };
    if (std::count_if(pattern.begin(), pattern.end(), repeats) > kMaxRepetitions) {
      return luaL_error(state, "pattern too complex");
    }
    // At the least the text is read once.
    if (lua_isstring(state, 1) != 0) {
      RunLimit::ChargeWork(state, static_cast<int64_t>(lua_objlen(state, 1)));
    }
  }
  return CallReplaced(state);
}

// A plain search takes the pattern for text.
int StringFind(lua_State* state) {
  return lua_toboolean(state, 4) != 0 ? CallReplaced(state) : CallMatcher(state);
}

// Lua appends even an empty string as often as the script asks: 2^31 times take seconds, in
// which no limit acts.
int StringRep(lua_State* state) {
  const bool is_valid = lua_isstring(state, 1) != 0 && lua_isnumber(state, 2) != 0;
  if (!is_valid || lua_objlen(state, 1) > 0) return CallReplaced(state);
  lua_pushliteral(state, "");
  return 1;
}

// cjson counts the bytes of its buffer, which it doubles, in an int; it ends the process when that
// overflows.
constexpr size_t kMaxJsonBytes = (size_t{1} << 30) - 1;

// The guard of cjson's encode finds the functions that tell its settings as further upvalues.
constexpr int kMaxDepthUpvalue = 3;
constexpr int kSparseArrayUpvalue = 4;

// Measures a text of cjson before it is written. The walk has cjson's order and ends where cjson
// raises an error, so that it takes no more steps than cjson, in tables that contain themselves
// too.
class JsonMeasure {
 public:
  // Reads the settings. Must be constructed in the guard of encode.
  explicit JsonMeasure(lua_State* state) : state_(state) {
    lua_pushvalue(state, lua_upvalueindex(kMaxDepthUpvalue));
    lua_call(state, 0, 1);
    lua_pushvalue(state, lua_upvalueindex(kSparseArrayUpvalue));
    lua_call(state, 0, 3);
    max_depth_ = lua_tointeger(state, -4);
    sparse_ratio_ = lua_tonumber(state, -2);
    sparse_safe_ = lua_tonumber(state, -1);
    lua_pop(state, 4);
  }

  // Adds an upper bound of the size of the value on top of the stack; raises an error if the sum is
  // too great. Returns false if cjson raises an error here.
  bool Add(lua_Integer depth = 1) {
    switch (lua_type(state_, -1)) {
      case LUA_TSTRING:
        AddBytes(kScalarBytes + kEscapedBytes * lua_objlen(state_, -1));
        return true;
      case LUA_TTABLE:
        return AddTable(depth);
      case LUA_TNIL:
        AddBytes(kNullBytes);
        return true;
      default:
        AddBytes(kScalarBytes);
        return true;
    }
  }

 private:
  static constexpr size_t kScalarBytes = 32;
  static constexpr size_t kEscapedBytes = 6;
  static constexpr size_t kNullBytes = 5;
  // What cjson reserves for each level of nesting.
  static constexpr int kStackReserve = 3;

  void AddBytes(size_t bytes) {
    bytes_ += bytes;
    if (bytes_ > kMaxJsonBytes) luaL_error(state_, "Cannot serialise: the text would be too long");
  }

  bool AddTable(lua_Integer depth) {
    if (depth > max_depth_ || lua_checkstack(state_, kStackReserve) == 0) return false;
    AddBytes(kScalarBytes);
    lua_Number items = 0;
    const lua_Number last = ArrayLength(items);
    if (last == 0 || IsSparse(last, items)) return AddObject(depth);
    if (last * kNullBytes > kMaxJsonBytes) {
      luaL_error(state_, "Cannot serialise table: excessively sparse array");
    }
    for (int i = 1; i <= static_cast<int>(last); ++i) {
      lua_rawgeti(state_, -1, i);
      const bool added = Add(depth + 1);
      lua_pop(state_, 1);
      if (!added) return false;
    }
    return true;
  }

  // cjson writes a sparse array as an object, or raises an error.
  bool IsSparse(lua_Number last, lua_Number items) const {
    return sparse_ratio_ > 0 && last > items * sparse_ratio_ && last > sparse_safe_;
  }

  // The greatest key of the table on top of the stack, if all keys are positive integers; otherwise
  // 0. Counts the keys in `items`.
  lua_Number ArrayLength(lua_Number& items) {
    lua_Number last = 0;
    lua_pushnil(state_);
    while (lua_next(state_, -2) != 0) {
      const lua_Number key =
          lua_type(state_, -2) == LUA_TNUMBER ? lua_tonumber(state_, -2) : lua_Number{0};
      if (key < 1 || key != std::floor(key)) {
        lua_pop(state_, 2);
        return 0;
      }
      last = std::max(last, key);
      ++items;
      lua_pop(state_, 1);
    }
    return last;
  }

  bool AddObject(lua_Integer depth) {
    lua_pushnil(state_);
    while (lua_next(state_, -2) != 0) {
      AddBytes(kScalarBytes);
      if (lua_type(state_, -2) == LUA_TSTRING) {
        AddBytes(kEscapedBytes * lua_objlen(state_, -2));
      }
      const bool added = Add(depth + 1);
      lua_pop(state_, 1);
      if (added) continue;
      lua_pop(state_, 1);
      return false;
    }
    return true;
  }

  lua_State* const state_;
  lua_Integer max_depth_ = 0;
  lua_Number sparse_ratio_ = 0;
  lua_Number sparse_safe_ = 0;
  size_t bytes_ = 0;
};

int JsonEncode(lua_State* state) {
  if (lua_gettop(state) == 1) {
    LookBehind(state, 1);
    JsonMeasure(state).Add();
  }
  return CallReplaced(state);
}

// Pushes the function `name` of the table on top of the stack, and its upvalue or nil.
void PushReplaced(lua_State* state, const char* name) {
  lua_getfield(state, -1, name);
  if (lua_getupvalue(state, -1, 1) == nullptr) lua_pushnil(state);
  lua_insert(state, -2);
}

// Replaces the function `name` of the table on top of the stack by `guard`.
void Guard(lua_State* state, const char* name, lua_CFunction guard) {
  PushReplaced(state, name);
  lua_pushcclosure(state, guard, kReplacedUpvalue);
  lua_setfield(state, -2, name);
}

void GuardJsonEncode(lua_State* state) {
  const int library = lua_gettop(state);
  PushReplaced(state, "encode");
  lua_getfield(state, library, "encode_max_depth");
  lua_getfield(state, library, "encode_sparse_array");
  lua_pushcclosure(state, JsonEncode, kSparseArrayUpvalue);
  lua_setfield(state, library, "encode");
}

// cjson.new returns another library, with settings of its own.
int JsonNew(lua_State* state) {
  const int results = CallReplaced(state);
  GuardJsonLibrary(state);
  return results;
}

}  // namespace

void GuardBaseFunctions(lua_State* state) {
  static constexpr luaL_Reg kFunctions[] = {
      {"getmetatable", GetMetatable},
      {"load", LuaLoad},
      {"loadstring", LuaLoadString},
      {"next", Next},
      {"pairs", Pairs},
      {"pcall", Pcall},
      {"rawget", RawGet},
      {"rawset", RawSet},
      {"setmetatable", SetMetatable},
      {"unpack", Unpack},
      {"xpcall", XPcall},
  };
  for (const luaL_Reg& row : kFunctions) {
    lua_pushcfunction(state, row.func);
    lua_setfield(state, -2, row.name);
  }
  Guard(state, "collectgarbage", CollectGarbage);
  Guard(state, "tostring", ToString);
}

void GuardTableLibrary(lua_State* state) {
  Guard(state, "insert", TableInsert);
  Guard(state, "remove", TableRemove);
  Guard(state, "maxn", TableMaxN);
  Guard(state, "foreach", TableForEach);
  Guard(state, "sort", TableSort);
}

void GuardStringLibrary(lua_State* state) {
  Guard(state, "find", StringFind);
  Guard(state, "rep", StringRep);
  for (const char* name : {"gmatch", "gsub", "match"}) Guard(state, name, CallMatcher);
}

void GuardMathLibrary(lua_State* state) {
  for (const char* const name : {"atan2", "fmod", "ldexp", "mod", "pow"}) {
    Guard(state, name, CallWithTwoNumbers);
  }
  for (const char* const name : {"acos", "asin", "log10"}) Guard(state, name, CallPartialFunction);
  lua_pushcfunction(state, MathAbs);
  lua_setfield(state, -2, "abs");
}

void GuardBitLibrary(lua_State* state) { Guard(state, "tohex", BitToHex); }

void GuardJsonLibrary(lua_State* state) {
  GuardJsonEncode(state);
  Guard(state, "new", JsonNew);
}

}  // namespace redouble::inline v0_1::memory
