// Encodes replies as RESP2 or RESP3.
//
// A Reply is one value for both protocols; its shape (reply.h) decides the RESP3 type. Use this to
// send replies to clients or to compare them byte for byte with a server's.
//
//   std::string wire;
//   AppendReply(Reply::Map({Reply::Bulk("f"), Reply::Bulk("v")}), Protocol::kResp3, wire);
//   // "%1\r\n$1\r\nf\r\n$1\r\nv\r\n"
//
// Thread-safety: a free function.
// Source: the RESP3 specification; Redis 7.0 HELLO.
#ifndef REDOUBLE_CORE_STORE_RESP_REPLY_ENCODING_H_
#define REDOUBLE_CORE_STORE_RESP_REPLY_ENCODING_H_

#include <cstddef>
#include <string>
#include <string_view>

#include "redouble/core/store/reply.h"

namespace redouble::inline v0_1::store {

enum class Protocol { kResp2, kResp3 };

// Appends what precedes the elements of an array of that size. `shape`: any of an array except
// kMapOfPairs and kPreceded. After kPairs RESP3 needs the start of a plain array of two before each
// pair.
void AppendArrayStart(Reply::Shape shape, size_t size, Protocol protocol, std::string& out);

// Appends a bulk string, as AppendReply appends Reply::Bulk(text). O(bytes).
void AppendBulk(std::string_view text, std::string& out);

// Appends the bytes of `reply` to `out`. A status or an error must not contain line ends. O(bytes).
void AppendReply(const Reply& reply, Protocol protocol, std::string& out);

}  // namespace redouble::inline v0_1::store

#endif  // REDOUBLE_CORE_STORE_RESP_REPLY_ENCODING_H_
