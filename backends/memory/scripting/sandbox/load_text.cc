#include "redouble/backends/memory/scripting/sandbox/load_text.h"

#include <cstddef>
#include <utility>

#include "redouble/backends/memory/scripting/sandbox/lua_reply.h"

namespace redouble::inline v0_1::memory {
namespace {

// The loader decides by the first byte. A space changes neither the meaning nor the line numbers of
// a text.
constexpr char kFirstPiece[] = " ";

struct Text {
  std::string_view rest;
  bool has_begun = false;
};

const char* ReadText(lua_State*, void* data, size_t* size) {
  Text& text = *static_cast<Text*>(data);
  *size = 1;
  if (!std::exchange(text.has_begun, true)) return kFirstPiece;
  *size = text.rest.size();
  return std::exchange(text.rest, {}).data();
}

// The pieces that a script's function returns. The current one is kept at this stack index.
constexpr int kPieceIndex = 3;

const char* ReadPieces(lua_State* state, void* data, size_t* size) {
  bool& has_begun = *static_cast<bool*>(data);
  *size = 1;
  if (!std::exchange(has_begun, true)) return kFirstPiece;
  luaL_checkstack(state, 2, "too many nested functions");
  lua_pushvalue(state, 1);
  lua_call(state, 0, 1);
  *size = 0;
  if (lua_isnil(state, -1)) return nullptr;
  if (lua_isstring(state, -1) == 0) luaL_error(state, "reader function must return a string");
  lua_replace(state, kPieceIndex);
  return lua_tolstring(state, kPieceIndex, size);
}

// The function on top of the stack, or nil and the message.
int Loaded(lua_State* state, int status) {
  if (status == 0) return 1;
  lua_pushnil(state);
  lua_insert(state, -2);
  return 2;
}

}  // namespace

int LoadText(lua_State* state, std::string_view text, const char* chunk_name) {
  // The compiler does not protect the chunk's name from the collector.
  lua_pushstring(state, chunk_name);
  Text source{text};
  const int status = lua_load(state, ReadText, &source, lua_tostring(state, -1));
  lua_remove(state, -2);
  return status;
}

int LuaLoadString(lua_State* state) {
  size_t size = 0;
  const char* text = luaL_checklstring(state, 1, &size);
  return Loaded(state, LoadText(state, {text, size}, luaL_optstring(state, 2, text)));
}

int LuaLoad(lua_State* state) {
  luaL_checktype(state, 1, LUA_TFUNCTION);
  lua_settop(state, 2);
  if (lua_isnil(state, 2)) {
    lua_pushstring(state, "=(load)");
    lua_replace(state, 2);
  }
  const char* chunk_name = luaL_checkstring(state, 2);
  lua_settop(state, kPieceIndex);
  bool has_begun = false;
  return Loaded(state, lua_load(state, ReadPieces, &has_begun, chunk_name));
}

}  // namespace redouble::inline v0_1::memory
