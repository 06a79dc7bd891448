// ToResp: the RESP2 bytes that Redis writes for a reply, for tests.
//
// It is the inverse of ReplyReader:
//
//   reader.Feed(ToResp(Reply::Bulk("value")));  // "$5...value"
//
// Thread-safety: a free function on values.
#ifndef REDOUBLE_BACKENDS_REDIS_PROTOCOL_REPLY_WRITER_FOR_TEST_H_
#define REDOUBLE_BACKENDS_REDIS_PROTOCOL_REPLY_WRITER_FOR_TEST_H_

#include <string>

#include "redouble/core/store/reply.h"

namespace redouble::redis {

inline std::string ToResp(const store::Reply& reply) {
  using Kind = store::Reply::Kind;
  switch (reply.kind()) {
    case Kind::kNil:
      return reply.shape() == store::Reply::Shape::kNilArray ? "*-1\r\n" : "$-1\r\n";
    case Kind::kStatus:
      return "+" + reply.text() + "\r\n";
    case Kind::kError:
      return "-" + reply.text() + "\r\n";
    case Kind::kInteger:
      return ":" + std::to_string(reply.integer()) + "\r\n";
    case Kind::kBulk:
      return "$" + std::to_string(reply.text().size()) + "\r\n" + reply.text() + "\r\n";
    case Kind::kArray:
      break;
  }
  std::string text = "*" + std::to_string(reply.elements().size()) + "\r\n";
  for (const store::Reply& element : reply.elements()) text += ToResp(element);
  return text;
}

}  // namespace redouble::redis

#endif  // REDOUBLE_BACKENDS_REDIS_PROTOCOL_REPLY_WRITER_FOR_TEST_H_
