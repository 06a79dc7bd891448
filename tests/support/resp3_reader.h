// Resp3Reader: replies of RESP3 out of the bytes of a connection, their shapes kept.
//
// Why it exists: hiredis 0.14, which everything else here reads with, knows only RESP2. What this
// reads is compared with what the engine's replies would be on the wire.
//
// Not for bytes that nobody vouches for: it believes the server. Thread-safety: one thread.
#ifndef REDOUBLE_TESTS_SUPPORT_RESP3_READER_H_
#define REDOUBLE_TESTS_SUPPORT_RESP3_READER_H_

#include <optional>
#include <string>
#include <string_view>

#include "core/store/reply.h"

namespace redouble::tests {

class Resp3Reader {
 public:
  void Feed(std::string_view bytes) { bytes_.append(bytes); }

  // The next reply when it is whole. Throws on a type that is none.
  std::optional<store::Reply> Next();

 private:
  std::string bytes_;
};

// The reply on one line with its shapes: map["f", double "1.5"].
std::string ShapedText(const store::Reply& reply);

}  // namespace redouble::tests

#endif  // REDOUBLE_TESTS_SUPPORT_RESP3_READER_H_
