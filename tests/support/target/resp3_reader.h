// Resp3Reader: parses RESP3 replies and keeps their shapes.
//
// hiredis 0.14, which other code uses to parse replies, only supports RESP2. Tests compare these
// replies with the replies of the memory engine.
//
//   reader.Feed(bytes);
//   while (std::optional<store::Reply> reply = reader.Next()) { ... }
//
// For tests only: it trusts the server and does not validate sizes.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_TESTS_SUPPORT_TARGET_RESP3_READER_H_
#define REDOUBLE_TESTS_SUPPORT_TARGET_RESP3_READER_H_

#include <optional>
#include <string>
#include <string_view>

#include "redouble/core/store/reply.h"

namespace redouble::inline v0_1::tests {

class Resp3Reader {
 public:
  void Feed(std::string_view bytes) { bytes_.append(bytes); }

  // Returns the next reply, or nullopt if it is incomplete. Throws if a type is unknown.
  std::optional<store::Reply> Next();

 private:
  std::string bytes_;
};

// Returns the reply on one line with its shapes: map["f", double "1.5"].
std::string ShapedText(const store::Reply& reply);

}  // namespace redouble::inline v0_1::tests

#endif  // REDOUBLE_TESTS_SUPPORT_TARGET_RESP3_READER_H_
