// SharedPush: a message to one session or more, which share it.
//
//   const auto push = std::make_shared<const SharedPush>(Reply::Push({...}));
//   for (SessionCore* session : sessions) engine.PushLater(*session, push);
//
// A host writes the same bytes to every receiver, so they are made once for each protocol.
// Thread-safety: one thread, the one that uses the engine.
#ifndef REDOUBLE_BACKENDS_MEMORY_PUBSUB_SHARED_PUSH_H_
#define REDOUBLE_BACKENDS_MEMORY_PUBSUB_SHARED_PUSH_H_

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "redouble/core/store/reply.h"
#include "redouble/core/store/resp/reply_encoding.h"

namespace redouble::inline v0_1::memory {

class SharedPush {
 public:
  explicit SharedPush(store::Reply reply);
  SharedPush(const SharedPush&) = delete;
  SharedPush& operator=(const SharedPush&) = delete;

  const store::Reply& reply() const { return reply_; }
  // What the message counts in the queue of a session: the size of its texts and an overhead.
  size_t bytes() const { return bytes_; }
  // The bytes of the reply in this protocol. Valid as long as the push.
  std::string_view Encoded(store::Protocol protocol) const;

 private:
  const store::Reply reply_;
  const size_t bytes_;
  // By protocol; empty before the first use.
  mutable std::array<std::string, 2> encoded_;
};

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_PUBSUB_SHARED_PUSH_H_
