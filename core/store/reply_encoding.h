// A reply as it goes over the wire, in RESP2 or RESP3.
//
// Why it exists: a reply is one value for both protocols, and its shape says what RESP3 makes of
// it (reply.h). What sends replies to clients, and what compares them with a server's byte for
// byte, needs the bytes.
//
//   std::string wire;
//   AppendReply(Reply::Map({Reply::Bulk("f"), Reply::Bulk("v")}), Protocol::kResp3, wire);
//   // "%1\r\n$1\r\nf\r\n$1\r\nv\r\n"
//
// Thread-safety: a free function.
// Source: the RESP3 specification; Redis 7.0 HELLO.
#ifndef REDOUBLE_CORE_STORE_REPLY_ENCODING_H_
#define REDOUBLE_CORE_STORE_REPLY_ENCODING_H_

#include <string>

#include "core/store/reply.h"

namespace redouble::store {

enum class Protocol { kResp2, kResp3 };

// Appends the reply. Linear in its size. A status or an error must be one line.
void AppendReply(const Reply& reply, Protocol protocol, std::string& out);

}  // namespace redouble::store

#endif  // REDOUBLE_CORE_STORE_REPLY_ENCODING_H_
