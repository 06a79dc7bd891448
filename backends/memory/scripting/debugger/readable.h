// Replies and Lua values as the debugger shows them.
//
//   ReadableReply(Reply::Array({Reply::Integer(1), Reply::Bulk("a")}), kResp2);  // [1,"a"]
//   ReadableValue(state, -1);  // {1; "a"; {["k"]=true}}
//
// Thread-safety: one thread for each Lua state.
// Source: Redis 7.0 SCRIPT DEBUG.
#ifndef REDOUBLE_BACKENDS_MEMORY_SCRIPTING_DEBUGGER_READABLE_H_
#define REDOUBLE_BACKENDS_MEMORY_SCRIPTING_DEBUGGER_READABLE_H_

#include <lua.hpp>
#include <string>

#include "redouble/core/store/reply.h"
#include "redouble/core/store/resp/reply_encoding.h"

namespace redouble::inline v0_1::memory {

// The reply as it looks in the protocol of the script. Redis does not know types of RESP3 that it
// rarely sends (verbatim strings, big numbers, attributes): they are shown as nothing, and so is
// what follows them in an array.
std::string ReadableReply(const store::Reply& reply, store::Protocol protocol);

// The value at `index` of the stack. Tables are shown up to a depth of 10.
std::string ReadableValue(lua_State* state, int index);

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_SCRIPTING_DEBUGGER_READABLE_H_
