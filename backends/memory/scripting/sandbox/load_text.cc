#include "redouble/backends/memory/scripting/sandbox/load_text.h"

#include <cstddef>
#include <utility>

#include "redouble/backends/memory/scripting/sandbox/lua_memory.h"
#include "redouble/backends/memory/scripting/sandbox/lua_reply.h"
#include "redouble/backends/memory/scripting/sandbox/run_limit.h"

namespace redouble::inline v0_1::memory {
namespace {

// The loader decides by the first byte. A space changes neither the meaning nor the line numbers of
// a text.
constexpr char kFirstPiece[] = " ";

// Lua counts lines in an int. When that overflows before the first token, the message is made of a
// token that was never set, which ends the process. No text of half as many bytes is compiled.
constexpr size_t kMaxBytes = LuaMemory::kMaxBytes;
constexpr char kTooLong[] = "chunk has too many lines";

// Compiling runs no instruction of the script.
void ChargeBytes(lua_State* state, size_t bytes) {
  constexpr size_t kBytesReadPerInstruction = 4;
  RunLimit::ChargeWork(state, static_cast<int64_t>(bytes / kBytesReadPerInstruction));
}

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

struct Pieces {
  size_t bytes = 0;
  bool has_begun = false;
};

const char* ReadPieces(lua_State* state, void* data, size_t* size) {
  Pieces& pieces = *static_cast<Pieces*>(data);
  *size = 1;
  if (!std::exchange(pieces.has_begun, true)) return kFirstPiece;
  luaL_checkstack(state, 2, "too many nested functions");
  lua_pushvalue(state, 1);
  lua_call(state, 0, 1);
  *size = 0;
  if (lua_isnil(state, -1)) return nullptr;
  if (lua_isstring(state, -1) == 0) luaL_error(state, "reader function must return a string");
  lua_replace(state, kPieceIndex);
  const char* const piece = lua_tolstring(state, kPieceIndex, size);
  pieces.bytes += *size;
  if (pieces.bytes > kMaxBytes) return nullptr;
  ChargeBytes(state, *size);
  return piece;
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
  if (text.size() > kMaxBytes) {
    lua_pushstring(state, kTooLong);
    return LUA_ERRSYNTAX;
  }
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
  ChargeBytes(state, size);
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
  Pieces pieces;
  int status = lua_load(state, ReadPieces, &pieces, chunk_name);
  if (pieces.bytes > kMaxBytes) {
    lua_pushstring(state, kTooLong);
    status = LUA_ERRSYNTAX;
  }
  return Loaded(state, status);
}

}  // namespace redouble::inline v0_1::memory
