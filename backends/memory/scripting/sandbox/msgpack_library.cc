#include "redouble/backends/memory/scripting/sandbox/msgpack_library.h"

#include <bit>
#include <climits>
#include <cstdint>
#include <new>
#include <string>
#include <string_view>

#include "redouble/backends/memory/compatibility/feature.h"

// No local object may own memory while a Lua function that can raise runs: errors leave by longjmp.
// The packed bytes are collected in a string that Lua's garbage collector owns.

namespace redouble::inline v0_1::memory {
namespace {

// Tables nested more deeply are packed as nil, which also ends cycles.
constexpr int kMaxNesting = 16;

// Registry key of the metatable of strings owned by the garbage collector.
constexpr char kBufferKey[] = "redouble.msgpack.buffer";

// The first bytes of MessagePack's types.
enum Type : uint8_t {
  kFixMap = 0x80,
  kFixArray = 0x90,
  kFixString = 0xa0,
  kNil = 0xc0,
  kFalse = 0xc2,
  kTrue = 0xc3,
  kFloat = 0xca,
  kDouble = 0xcb,
  kUint8 = 0xcc,
  kUint16 = 0xcd,
  kUint32 = 0xce,
  kUint64 = 0xcf,
  kInt8 = 0xd0,
  kInt16 = 0xd1,
  kInt32 = 0xd2,
  kInt64 = 0xd3,
  kString8 = 0xd9,
  kString16 = 0xda,
  kString32 = 0xdb,
  kArray16 = 0xdc,
  kArray32 = 0xdd,
  kMap16 = 0xde,
  kMap32 = 0xdf,
  kNegativeFix = 0xe0,
};

int FreeBuffer(lua_State* state) {
  using std::string;
  static_cast<string*>(lua_touserdata(state, 1))->~string();
  return 0;
}

// Pushes a userdata with an empty string, which is destroyed with it.
std::string& PushBuffer(lua_State* state) {
  auto* buffer = new (lua_newuserdata(state, sizeof(std::string))) std::string();
  if (luaL_newmetatable(state, kBufferKey) != 0) {
    lua_pushcfunction(state, FreeBuffer);
    lua_setfield(state, -2, "__gc");
  }
  lua_setmetatable(state, -2);
  return *buffer;
}

void AppendBigEndian(uint64_t value, size_t size, std::string& out) {
  for (size_t i = size; i-- > 0;) out.push_back(static_cast<char>(value >> (8 * i)));
}

void AppendTyped(Type type, uint64_t value, size_t size, std::string& out) {
  out.push_back(static_cast<char>(type));
  AppendBigEndian(value, size, out);
}

void AppendInteger(int64_t value, std::string& out) {
  const auto bits = static_cast<uint64_t>(value);
  if (value >= -32 && value <= 127) {
    out.push_back(static_cast<char>(value));
  } else if (value >= 0) {
    if (value <= UINT8_MAX) return AppendTyped(kUint8, bits, 1, out);
    if (value <= UINT16_MAX) return AppendTyped(kUint16, bits, 2, out);
    if (value <= UINT32_MAX) return AppendTyped(kUint32, bits, 4, out);
    AppendTyped(kUint64, bits, 8, out);
  } else {
    if (value >= INT8_MIN) return AppendTyped(kInt8, bits, 1, out);
    if (value >= INT16_MIN) return AppendTyped(kInt16, bits, 2, out);
    if (value >= INT32_MIN) return AppendTyped(kInt32, bits, 4, out);
    AppendTyped(kInt64, bits, 8, out);
  }
}

// Integers are packed as integers, other numbers in the fewest bytes that preserve them.
void AppendNumber(lua_Number number, std::string& out) {
  constexpr lua_Number kLimit = 9223372036854775808.0;
  const bool fits = number >= -kLimit && number < kLimit;
  if (fits && static_cast<lua_Number>(static_cast<int64_t>(number)) == number) {
    AppendInteger(static_cast<int64_t>(number), out);
  } else if (const auto narrow = static_cast<float>(number);
             static_cast<lua_Number>(narrow) == number) {
    AppendTyped(kFloat, std::bit_cast<uint32_t>(narrow), 4, out);
  } else {
    AppendTyped(kDouble, std::bit_cast<uint64_t>(number), 8, out);
  }
}

// The size of an array or a map: in the type byte, in two bytes or in four bytes.
void AppendSize(size_t size, Type fix, Type two_bytes, Type four_bytes, std::string& out) {
  constexpr size_t kMaxFix = 15;
  if (size <= kMaxFix) {
    out.push_back(static_cast<char>(fix | size));
  } else if (size <= UINT16_MAX) {
    AppendTyped(two_bytes, size, 2, out);
  } else {
    AppendTyped(four_bytes, size, 4, out);
  }
}

void AppendString(std::string_view text, std::string& out) {
  constexpr size_t kMaxFix = 31;
  if (text.size() <= kMaxFix) {
    out.push_back(static_cast<char>(kFixString | text.size()));
  } else if (text.size() <= UINT8_MAX) {
    AppendTyped(kString8, text.size(), 1, out);
  } else if (text.size() <= UINT16_MAX) {
    AppendTyped(kString16, text.size(), 2, out);
  } else {
    AppendTyped(kString32, text.size(), 4, out);
  }
  out.append(text);
}

// The number of entries of the table on top of the stack, and whether its keys are 1 to that
// number.
struct TableShape {
  size_t size = 0;
  bool is_array = true;
};

TableShape ShapeOf(lua_State* state) {
  TableShape shape;
  lua_Number highest = 0;
  lua_pushnil(state);
  while (lua_next(state, -2) != 0) {
    lua_pop(state, 1);
    ++shape.size;
    const lua_Number key = lua_type(state, -1) == LUA_TNUMBER ? lua_tonumber(state, -1) : 0;
    const bool is_index = key >= 1 && key <= INT_MAX && key == static_cast<int>(key);
    shape.is_array = shape.is_array && is_index;
    if (key > highest) highest = key;
  }
  shape.is_array = shape.is_array && highest == static_cast<lua_Number>(shape.size);
  return shape;
}

void AppendTop(lua_State* state, int depth, std::string& out);

void AppendTable(lua_State* state, int depth, std::string& out) {
  luaL_checkstack(state, 4, "too many tables to pack");
  const TableShape shape = ShapeOf(state);
  if (shape.is_array) {
    AppendSize(shape.size, kFixArray, kArray16, kArray32, out);
    for (size_t i = 1; i <= shape.size; ++i) {
      lua_pushnumber(state, static_cast<lua_Number>(i));
      lua_gettable(state, -2);
      AppendTop(state, depth + 1, out);
    }
    return;
  }
  AppendSize(shape.size, kFixMap, kMap16, kMap32, out);
  lua_pushnil(state);
  while (lua_next(state, -2) != 0) {
    lua_pushvalue(state, -2);
    AppendTop(state, depth + 1, out);
    AppendTop(state, depth + 1, out);
  }
}

// Packs and pops the value on top of the stack.
void AppendTop(lua_State* state, int depth, std::string& out) {
  switch (lua_type(state, -1)) {
    case LUA_TSTRING: {
      size_t size = 0;
      const char* text = lua_tolstring(state, -1, &size);
      AppendString({text, size}, out);
      break;
    }
    case LUA_TBOOLEAN:
      out.push_back(static_cast<char>(lua_toboolean(state, -1) != 0 ? kTrue : kFalse));
      break;
    case LUA_TNUMBER:
      AppendNumber(lua_tonumber(state, -1), out);
      break;
    case LUA_TTABLE:
      if (depth < kMaxNesting) {
        AppendTable(state, depth, out);
        break;
      }
      [[fallthrough]];
    default:
      out.push_back(static_cast<char>(kNil));
  }
  lua_pop(state, 1);
}

int Pack(lua_State* state) {
  const int count = lua_gettop(state);
  if (count == 0) return luaL_argerror(state, 0, "MessagePack pack needs input.");
  luaL_checkstack(state, 4, "too many arguments to pack");
  std::string& out = PushBuffer(state);
  for (int i = 1; i <= count; ++i) {
    lua_pushvalue(state, i);
    AppendTop(state, 0, out);
  }
  lua_pushlstring(state, out.data(), out.size());
  return 1;
}

// Reads MessagePack from the front and pushes the values. Raises errors in the script.
class Unpacker {
 public:
  Unpacker(lua_State* state, std::string_view bytes) : state_(state), left_(bytes) {}

  size_t left() const { return left_.size(); }

  void PushNext() {
    luaL_checkstack(state_, 4, "too many values to unpack");
    const auto first = static_cast<uint8_t>(Take(1)[0]);
    if (first < kFixMap) return lua_pushnumber(state_, first);
    if (first < kFixArray) return PushMap(first & 0x0f);
    if (first < kFixString) return PushArray(first & 0x0f);
    if (first < kNil) return PushString(first & 0x1f);
    if (first >= kNegativeFix) return lua_pushnumber(state_, static_cast<int8_t>(first));
    PushLong(first);
  }

 private:
  std::string_view Take(size_t size) {
    if (left_.size() < size) luaL_error(state_, "Missing bytes in input.");
    const std::string_view taken = left_.substr(0, size);
    left_.remove_prefix(size);
    return taken;
  }

  uint64_t TakeNumber(size_t size) {
    uint64_t value = 0;
    for (const char byte : Take(size)) value = (value << 8) | static_cast<uint8_t>(byte);
    return value;
  }

  template <typename T>
  void PushNumber() {
    lua_pushnumber(state_, static_cast<lua_Number>(static_cast<T>(TakeNumber(sizeof(T)))));
  }

  void PushString(size_t size) {
    const std::string_view text = Take(size);
    lua_pushlstring(state_, text.data(), text.size());
  }

  void PushArray(size_t size) {
    lua_newtable(state_);
    for (size_t i = 1; i <= size; ++i) {
      lua_pushnumber(state_, static_cast<lua_Number>(i));
      PushNext();
      lua_settable(state_, -3);
    }
  }

  void PushMap(size_t size) {
    lua_newtable(state_);
    for (size_t i = 0; i < size; ++i) {
      PushNext();
      PushNext();
      lua_settable(state_, -3);
    }
  }

  void PushLong(uint8_t type) {
    switch (type) {
      case kNil:
        return lua_pushnil(state_);
      case kFalse:
      case kTrue:
        return lua_pushboolean(state_, type == kTrue ? 1 : 0);
      case kFloat:
        return lua_pushnumber(state_, std::bit_cast<float>(static_cast<uint32_t>(TakeNumber(4))));
      case kDouble:
        return lua_pushnumber(state_, std::bit_cast<double>(TakeNumber(8)));
      case kUint8:
        return PushNumber<uint8_t>();
      case kUint16:
        return PushNumber<uint16_t>();
      case kUint32:
        return PushNumber<uint32_t>();
      case kUint64:  // As in Redis, the upper half is negative.
        return PushNumber<int64_t>();
      case kInt8:
        return PushNumber<int8_t>();
      case kInt16:
        return PushNumber<int16_t>();
      case kInt32:
        return PushNumber<int32_t>();
      case kInt64:
        return PushNumber<int64_t>();
      case kString8:
        return PushString(TakeNumber(1));
      case kString16:
        return PushString(TakeNumber(2));
      case kString32:
        return PushString(TakeNumber(4));
      case kArray16:
        return PushArray(TakeNumber(2));
      case kArray32:
        return PushArray(TakeNumber(4));
      case kMap16:
        return PushMap(TakeNumber(2));
      case kMap32:
        return PushMap(TakeNumber(4));
      default:
        luaL_error(state_, "Bad data format in input.");
    }
  }

  lua_State* state_;
  std::string_view left_;
};

// Pushes the values from `offset` on, at most `limit`. With neither argument it pushes all values;
// otherwise the offset of the remaining bytes (-1 if there are none) precedes the values.
int UnpackFrom(lua_State* state, lua_Integer limit, lua_Integer offset) {
  size_t size = 0;
  const char* bytes = luaL_checklstring(state, 1, &size);
  // Redis compares the whole numbers, and prints their lower halves.
  const auto printed_offset = static_cast<int>(offset);
  const auto printed_size = static_cast<int>(size);
  if (offset < 0 || limit < 0) {
    return luaL_error(state, "Invalid request to unpack with offset of %d and limit of %d.",
                      printed_offset, printed_size);
  }
  if (static_cast<size_t>(offset) > size) {
    return luaL_error(state, "Start offset %d greater than input length %d.", printed_offset,
                      printed_size);
  }
  const bool all = limit == 0 && offset == 0;
  lua_settop(state, 1);
  Unpacker unpacker(state, {bytes + offset, size - static_cast<size_t>(offset)});
  int count = 0;
  for (; unpacker.left() > 0 && (all || count < limit); ++count) unpacker.PushNext();
  if (all) return count;
  const size_t next = size - unpacker.left();
  lua_pushinteger(state, unpacker.left() == 0 ? -1 : static_cast<lua_Integer>(next));
  lua_insert(state, 2);
  return count + 1;
}

int UnpackAll(lua_State* state) { return UnpackFrom(state, 0, 0); }

int UnpackOne(lua_State* state) { return UnpackFrom(state, 1, luaL_optinteger(state, 2, 0)); }

int UnpackLimit(lua_State* state) {
  const lua_Integer limit = luaL_checkinteger(state, 2);
  return UnpackFrom(state, limit, luaL_optinteger(state, 3, 0));
}

}  // namespace

void PushMsgpackLibrary(lua_State* state, const Compatibility& compatibility) {
  struct FunctionRow {
    const char* name;
    lua_CFunction function;
  };
  constexpr FunctionRow kFunctions[] = {
      {"pack", Pack},
      {"unpack", UnpackAll},
      {"unpack_one", UnpackOne},
      {"unpack_limit", UnpackLimit},
  };
  // The library's description of itself, as in Redis.
  struct TextRow {
    const char* name;
    const char* text;
  };
  const bool is_valkey = compatibility.Has(Feature::kValkeyNames);
  const TextRow texts[] = {
      {"_NAME", "cmsgpack"},
      {"_VERSION", "lua-cmsgpack 0.4.0"},
      {"_COPYRIGHT",
       is_valkey ? "Copyright (C) 2012, Redis Ltd." : "Copyright (C) 2012, Salvatore Sanfilippo"},
      {"_DESCRIPTION", "MessagePack C implementation for Lua"},
  };
  lua_newtable(state);
  for (const FunctionRow& row : kFunctions) {
    lua_pushcfunction(state, row.function);
    lua_setfield(state, -2, row.name);
  }
  for (const TextRow& row : texts) {
    lua_pushstring(state, row.text);
    lua_setfield(state, -2, row.name);
  }
}

}  // namespace redouble::inline v0_1::memory
