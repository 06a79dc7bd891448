// ToResp: the RESP2 bytes that Redis writes for a reply, as a string, for tests.
//
// AppendReply (reply_encoding.h) writes them. It is the inverse of ReplyReader:
//
//   reader.Feed(ToResp(Reply::Bulk("value")));  // "$5...value"
//
// Thread-safety: a free function on values.
#ifndef REDOUBLE_CORE_STORE_RESP_REPLY_WRITER_FOR_TEST_H_
#define REDOUBLE_CORE_STORE_RESP_REPLY_WRITER_FOR_TEST_H_

#include <string>

#include "redouble/core/store/reply.h"
#include "redouble/core/store/resp/reply_encoding.h"

namespace redouble::inline v0_1::store {

inline std::string ToResp(const Reply& reply) {
  std::string wire;
  AppendReply(reply, Protocol::kResp2, wire);
  return wire;
}

}  // namespace redouble::inline v0_1::store

#endif  // REDOUBLE_CORE_STORE_RESP_REPLY_WRITER_FOR_TEST_H_
