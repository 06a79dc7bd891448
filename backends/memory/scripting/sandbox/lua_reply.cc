#include "redouble/backends/memory/scripting/sandbox/lua_reply.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <utility>
#include <vector>

#include "redouble/backends/memory/compatibility/feature.h"
#include "redouble/backends/memory/scripting/sandbox/redis_library.h"
#include "redouble/core/base/text/redis_number.h"
#include "redouble/core/base/text/shortest_double.h"

namespace redouble::inline v0_1::memory {
namespace {

using store::Reply;

constexpr int kStackReserve = 4;

// The greatest nesting depth of a script's result. Redis's limit is that of Lua's stack, about
// 8,000 levels; no client reads such a reply, and the stack of a sanitizer build is too small for
// it.
constexpr int kMaxDepth = 1000;

Reply PopReplyAt(lua_State* state, int depth, NestedErrors& nested);

void SetField(lua_State* state, const char* name, std::string_view value) {
  PushView(state, value);
  lua_setfield(state, -2, name);
}

void PushElements(lua_State* state, const std::vector<Reply>& elements, bool resp3) {
  lua_createtable(state, static_cast<int>(elements.size()), 0);
  for (size_t i = 0; i < elements.size(); ++i) {
    PushReply(state, elements[i], resp3);
    lua_rawseti(state, -2, static_cast<int>(i) + 1);
  }
}

// Pushes {map={...}} or {set={...}}, the RESP3 forms in scripts.
void PushKeyed(lua_State* state, const char* kind, const std::vector<Reply>& elements) {
  const bool map = std::string_view(kind) == "map";
  lua_newtable(state);
  lua_newtable(state);
  for (size_t i = 0; i < elements.size(); i += map ? 2 : 1) {
    PushReply(state, elements[i], true);
    if (map) {
      PushReply(state, elements[i + 1], true);
    } else {
      lua_pushboolean(state, 1);
    }
    lua_rawset(state, -3);
  }
  lua_setfield(state, -2, kind);
}

// Alternating elements as pairs.
void PushPairs(lua_State* state, const std::vector<Reply>& elements) {
  lua_createtable(state, static_cast<int>(elements.size() / 2), 0);
  for (size_t i = 0; i + 1 < elements.size(); i += 2) {
    PushElements(state, {elements[i], elements[i + 1]}, true);
    lua_rawseti(state, -2, static_cast<int>(i / 2) + 1);
  }
}

// Pushes pairs as {map={...}}.
void PushMapOfPairs(lua_State* state, const std::vector<Reply>& pairs) {
  std::vector<Reply> alternating;
  for (const Reply& pair : pairs) {
    alternating.insert(alternating.end(), pair.elements().begin(), pair.elements().end());
  }
  PushKeyed(state, "map", alternating);
}

void PushArray(lua_State* state, const Reply& reply, bool resp3) {
  if (resp3 && reply.shape() == Reply::Shape::kPairs) {
    PushPairs(state, reply.elements());
  } else if (resp3 && reply.shape() == Reply::Shape::kMapOfPairs) {
    PushMapOfPairs(state, reply.elements());
  } else if (resp3 && reply.shape() == Reply::Shape::kMap) {
    PushKeyed(state, "map", reply.elements());
  } else if (resp3 && reply.shape() == Reply::Shape::kSet) {
    PushKeyed(state, "set", reply.elements());
  } else {
    PushElements(state, reply.elements(), resp3);
  }
}

void PushBulk(lua_State* state, const Reply& reply, bool resp3) {
  if (!resp3) return PushView(state, reply.text());
  switch (reply.shape()) {
    case Reply::Shape::kDouble:
      lua_newtable(state);
      lua_pushnumber(state, base::ParseDouble(reply.text()).value_or(0));
      return lua_setfield(state, -2, "double");
    case Reply::Shape::kBigNumber:
      lua_newtable(state);
      return SetField(state, "big_number", reply.text());
    case Reply::Shape::kVerbatim:
      lua_newtable(state);
      lua_newtable(state);
      SetField(state, "string", reply.text());
      SetField(state, "format", "txt");
      return lua_setfield(state, -2, "verbatim_string");
    default:
      return PushView(state, reply.text());
  }
}

// The result of a C cast of the number to a 64-bit integer on x86-64, also out of range.
int64_t Truncate(lua_Number number) {
  constexpr lua_Number kLimit = 9223372036854775808.0;
  if (!(number >= -kLimit && number < kLimit)) return std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(number);
}

// A field of the table on top of the stack if it is a string; otherwise nullopt.
std::optional<std::string> StringField(lua_State* state, const char* name) {
  lua_pushstring(state, name);
  lua_rawget(state, -2);
  std::optional<std::string> value;
  if (lua_type(state, -1) == LUA_TSTRING) value = std::string(ToView(state, -1));
  lua_pop(state, 1);
  return value;
}

// The elements of the table on top of the stack, up to the first nil.
Reply ArrayReply(lua_State* state, int depth, NestedErrors& nested) {
  std::vector<Reply> elements;
  for (int i = 1;; ++i) {
    lua_rawgeti(state, -1, i);
    if (lua_isnil(state, -1)) break;
    elements.push_back(PopReplyAt(state, depth + 1, nested));
  }
  lua_pop(state, 1);
  return Reply::Array(std::move(elements));
}

// The reply for {map={...}} or {set={...}} on top of the stack; nullopt if it is neither.
std::optional<Reply> KeyedReply(lua_State* state, const char* kind, int depth,
                                NestedErrors& nested) {
  lua_pushstring(state, kind);
  lua_rawget(state, -2);
  if (!lua_istable(state, -1)) {
    lua_pop(state, 1);
    return std::nullopt;
  }
  const bool map = std::string_view(kind) == "map";
  std::vector<Reply> elements;
  lua_pushnil(state);
  while (lua_next(state, -2) != 0) {
    lua_pushvalue(state, -2);
    elements.push_back(PopReplyAt(state, depth + 1, nested));
    if (map) {
      elements.push_back(PopReplyAt(state, depth + 1, nested));
    } else {
      lua_pop(state, 1);
    }
  }
  lua_pop(state, 1);
  return map ? Reply::Map(std::move(elements)) : Reply::Set(std::move(elements));
}

std::optional<Reply> DoubleReply(lua_State* state) {
  lua_pushstring(state, "double");
  lua_rawget(state, -2);
  std::optional<Reply> reply;
  if (lua_type(state, -1) == LUA_TNUMBER) {
    const lua_Number number = lua_tonumber(state, -1);
    const bool is_short = CompatibilityOf(state).Has(Feature::kShortestScores);
    reply = Reply::Double(is_short ? base::FormatShortestDouble(number) : NumberText(number));
  }
  lua_pop(state, 1);
  return reply;
}

// The reply for {verbatim_string={string=..., format=...}} on top of the stack; nullopt if it is
// none. The format is always "txt", the only one that Redis's own commands use.
std::optional<Reply> VerbatimReply(lua_State* state) {
  lua_pushstring(state, "verbatim_string");
  lua_rawget(state, -2);
  std::optional<std::string> text;
  if (lua_istable(state, -1)) {
    text = StringField(state, "string");
    if (!StringField(state, "format")) text.reset();
  }
  lua_pop(state, 1);
  if (!text) return std::nullopt;
  return Reply::Verbatim(*std::move(text));
}

// RESP2 has no booleans: false is nil, unless the script selected RESP3.
Reply BooleanReply(lua_State* state) {
  const bool value = lua_toboolean(state, -1) != 0;
  PushRegistered(state, RegistryKey::kResp3);
  const bool resp3 = lua_toboolean(state, -1) != 0;
  lua_pop(state, 1);
  if (resp3) return Reply::Bool(value);
  return value ? Reply::Integer(1) : Reply::Nil();
}

Reply TableReply(lua_State* state, int depth, NestedErrors& nested) {
  if (std::optional<std::string> error = StringField(state, "err")) {
    std::string text = OneLine(*std::move(error));
    if (depth > 0 && IsMarked(state)) {
      ++nested.counted;
    } else if (depth > 0) {
      nested.texts.push_back(text);
    }
    return Reply::Error(std::move(text));
  }
  if (std::optional<std::string> status = StringField(state, "ok")) {
    return Reply::Status(OneLine(*std::move(status)));
  }
  if (std::optional<Reply> number = DoubleReply(state)) return *std::move(number);
  if (std::optional<std::string> digits = StringField(state, "big_number")) {
    return Reply::BigNumber(OneLine(*std::move(digits)));
  }
  if (std::optional<Reply> text = VerbatimReply(state)) return *std::move(text);
  if (std::optional<Reply> map = KeyedReply(state, "map", depth, nested)) {
    return *std::move(map);
  }
  if (std::optional<Reply> set = KeyedReply(state, "set", depth, nested)) return *std::move(set);
  return ArrayReply(state, depth, nested);
}

Reply PopReplyAt(lua_State* state, int depth, NestedErrors& nested) {
  if (depth > kMaxDepth || lua_checkstack(state, kStackReserve) == 0) {
    lua_pop(state, 1);
    return Reply::Error("ERR reached lua stack limit");
  }
  Reply reply;
  switch (lua_type(state, -1)) {
    case LUA_TSTRING:
      reply = Reply::Bulk(ToView(state, -1));
      break;
    case LUA_TBOOLEAN:
      reply = BooleanReply(state);
      break;
    case LUA_TNUMBER:
      reply = Reply::Integer(Truncate(lua_tonumber(state, -1)));
      break;
    case LUA_TTABLE:
      reply = TableReply(state, depth, nested);
      break;
    default:
      break;
  }
  lua_pop(state, 1);
  return reply;
}

}  // namespace

std::string OneLine(std::string text) {
  text.resize(std::min(text.size(), text.find('\0')));
  for (char& c : text) {
    if (c == '\r' || c == '\n') c = ' ';
  }
  return text;
}

std::string NumberText(lua_Number number) {
  // Up to 17 digits, integral numbers have the same text in both formats; zero may have a sign.
  constexpr lua_Number kManyDigits = 1e15;
  const bool is_negative_zero = number == 0 && std::signbit(number);
  if (std::abs(number) < kManyDigits && number == std::trunc(number) && !is_negative_zero) {
    return base::FormatInt64(static_cast<int64_t>(number));
  }
  char text[64];
  const int size = std::snprintf(text, sizeof(text), "%.17g", number);
  return std::string(text, static_cast<size_t>(size));
}

void PushErrorTable(lua_State* state, std::string_view text) {
  lua_newtable(state);
  SetField(state, "err", text);
}

void PushReply(lua_State* state, const Reply& reply, bool resp3) {
  luaL_checkstack(state, kStackReserve, "reply nests too deep");
  switch (reply.kind()) {
    case Reply::Kind::kNil:
      resp3 ? lua_pushnil(state) : lua_pushboolean(state, 0);
      return;
    case Reply::Kind::kStatus:
      lua_newtable(state);
      return SetField(state, "ok", reply.text());
    case Reply::Kind::kError:
      return PushErrorTable(state, reply.text());
    case Reply::Kind::kInteger:
      if (resp3 && reply.shape() == Reply::Shape::kBool) {
        return lua_pushboolean(state, static_cast<int>(reply.integer()));
      }
      return lua_pushnumber(state, static_cast<lua_Number>(reply.integer()));
    case Reply::Kind::kBulk:
      return PushBulk(state, reply, resp3);
    case Reply::Kind::kArray:
      return PushArray(state, reply, resp3);
  }
}

Reply PopReply(lua_State* state, NestedErrors& nested) { return PopReplyAt(state, 0, nested); }

bool IsMarked(lua_State* state) {
  if (lua_type(state, -1) != LUA_TTABLE) return false;
  lua_pushstring(state, "ignore_error_stats_update");
  lua_rawget(state, -2);
  const bool marked = lua_isboolean(state, -1) && lua_toboolean(state, -1) != 0;
  lua_pop(state, 1);
  return marked;
}

}  // namespace redouble::inline v0_1::memory
