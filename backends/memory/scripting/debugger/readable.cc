#include "redouble/backends/memory/scripting/debugger/readable.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "redouble/backends/memory/scripting/sandbox/lua_arena.h"
#include "redouble/backends/memory/scripting/sandbox/lua_reply.h"
#include "redouble/backends/memory/scripting/sandbox/proxy_table.h"
#include "redouble/core/base/text/redis_number.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::memory {
namespace {

// Reads the encoded reply from left to right, as Redis does, so that both stop at the same types.
class ReplyReader {
 public:
  explicit ReplyReader(std::string_view bytes) : left_(bytes) {}

  void Read(std::string& out) {
    if (left_.empty()) return;
    switch (left_.front()) {
      case ':':
        absl::StrAppend(&out, base::ToAbsl(TakeLine().substr(1)));
        return;
      case ',':
        absl::StrAppend(&out, "(double) ", base::ToAbsl(TakeLine().substr(1)));
        return;
      case '+':
      case '-':
        out += store::QuoteBytes(TakeLine());
        return;
      case '$':
        return ReadBulk(out);
      case '_':
        TakeLine();
        out += "(null)";
        return;
      case '#':
        out += TakeLine().starts_with("#t") ? "#true" : "#false";
        return;
      case '*':
        return ReadElements({"[", "]"}, out);
      case '~':
        return ReadElements({"~(", ")"}, out);
      case '%':
        return ReadMap(out);
      default:
        return;
    }
  }

 private:
  struct Brackets {
    std::string_view open;
    std::string_view close;
  };

  std::string_view TakeLine() {
    const std::string_view line = left_.substr(0, left_.find("\r\n"));
    Skip(line.size() + 2);
    return line;
  }

  // An error text with line ends leaves less than its sizes say.
  void Skip(size_t bytes) { left_.remove_prefix(std::min(bytes, left_.size())); }

  // -1 for null.
  int64_t TakeSize() { return base::ParseInt64(TakeLine().substr(1)).value_or(-1); }

  void ReadBulk(std::string& out) {
    const int64_t size = TakeSize();
    if (size < 0) {
      out += "NULL";
      return;
    }
    out += store::QuoteBytes(left_.substr(0, static_cast<size_t>(size)));
    Skip(static_cast<size_t>(size) + 2);
  }

  void ReadElements(const Brackets& brackets, std::string& out) {
    const int64_t size = TakeSize();
    if (size < 0) {
      out += "NULL";
      return;
    }
    out += brackets.open;
    for (int64_t i = 0; i < size; ++i) {
      if (i > 0) out += ',';
      Read(out);
    }
    out += brackets.close;
  }

  void ReadMap(std::string& out) {
    const int64_t size = TakeSize();
    out += '{';
    for (int64_t i = 0; i < size; ++i) {
      if (i > 0) out += ',';
      Read(out);
      out += " => ";
      Read(out);
    }
    out += '}';
  }

  std::string_view left_;
};

void AppendValue(lua_State* state, int index, int depth, std::string& out);

// The entries are written twice, as those of an array and as those of a map, because only the last
// one decides which it is.
void AppendTable(lua_State* state, int index, int depth, std::string& out) {
  std::string array;
  std::string map;
  bool is_array = true;
  int next_index = 1;
  lua_pushvalue(state, index);
  LookBehind(state, lua_gettop(state));
  lua_pushnil(state);
  while (lua_next(state, -2) != 0) {
    is_array = is_array && lua_type(state, -2) == LUA_TNUMBER &&
               lua_tonumber(state, -2) == static_cast<lua_Number>(next_index);
    ++next_index;
    std::string value;
    AppendValue(state, -1, depth, value);
    absl::StrAppend(&array, array.empty() ? "" : "; ", value);
    map += map.empty() ? "[" : "; [";
    AppendValue(state, -2, depth, map);
    absl::StrAppend(&map, "]=", value);
    lua_pop(state, 1);
  }
  lua_pop(state, 1);
  absl::StrAppend(&out, "{", is_array ? array : map, "}");
}

const char* KindOf(int type) {
  switch (type) {
    case LUA_TFUNCTION:
      return "function";
    case LUA_TUSERDATA:
      return "userdata";
    case LUA_TTHREAD:
      return "thread";
    default:
      return "light-userdata";
  }
}

// Of a light pointer only whether it is null: cjson.null is.
const void* ShownAddress(lua_State* state, int index, int type) {
  const void* const address = lua_topointer(state, index);
  return address == nullptr || type == LUA_TLIGHTUSERDATA ? nullptr
                                                          : LuaArena::ShownPlaceOf(address);
}

void AppendValue(lua_State* state, int index, int depth, std::string& out) {
  constexpr int kMaxDepth = LUA_MINSTACK / 2;
  constexpr int kSlotsPerTable = 3;
  if (depth == kMaxDepth || lua_checkstack(state, kSlotsPerTable) == 0) {
    out += "<max recursion level reached! Nested table?>";
    return;
  }
  switch (const int type = lua_type(state, index)) {
    case LUA_TSTRING:
      out += store::QuoteBytes(ToView(state, index));
      return;
    case LUA_TBOOLEAN:
      out += lua_toboolean(state, index) != 0 ? "true" : "false";
      return;
    case LUA_TNUMBER:
      absl::StrAppendFormat(&out, "%g", lua_tonumber(state, index));
      return;
    case LUA_TNIL:
      out += "nil";
      return;
    case LUA_TTABLE:
      return AppendTable(state, index, depth + 1, out);
    default:
      absl::StrAppendFormat(&out, "\"%s@%p\"", KindOf(type), ShownAddress(state, index, type));
      return;
  }
}

}  // namespace

std::string ReadableReply(const store::Reply& reply, store::Protocol protocol) {
  std::string bytes;
  store::AppendReply(reply, protocol, bytes);
  std::string out;
  ReplyReader(bytes).Read(out);
  return out;
}

std::string ReadableValue(lua_State* state, int index) {
  std::string out;
  AppendValue(state, index, 0, out);
  return out;
}

}  // namespace redouble::inline v0_1::memory
