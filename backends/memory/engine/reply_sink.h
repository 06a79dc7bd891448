// ReplySink: where a host takes the messages of a client, and a long reply while a command makes
// it.
//
// Without a sink a reply is one value, which a host then encodes: a reply of five million short
// elements needs ten times the memory of its bytes, and a limit on the output cannot stop it. With
// a sink the elements of an array are passed on one by one. Handlers use ReplyArray
// (commands/reply_array.h), which hides the difference.
//
//   session.set_reply_sink(&client);
//
// Thread-safety: one thread, the one that uses the engine.
#ifndef REDOUBLE_BACKENDS_MEMORY_ENGINE_REPLY_SINK_H_
#define REDOUBLE_BACKENDS_MEMORY_ENGINE_REPLY_SINK_H_

#include <cstddef>
#include <optional>
#include <string_view>

#include "redouble/backends/memory/pubsub/shared_push.h"
#include "redouble/core/store/reply.h"

namespace redouble::inline v0_1::memory {

class ReplySink {
 public:
  virtual ~ReplySink() = default;

  // Begins an array, inside of the arrays that have begun and not ended. `size` is nullopt if the
  // number of elements is known at the end only. A request whose reply begins with it has no other
  // result.
  virtual void BeginArray(store::Reply::Shape shape, std::optional<size_t> size) = 0;
  // The next element of the array.
  virtual void Add(const store::Reply& element) = 0;
  // As Add(Reply::Bulk(text)), without a copy.
  virtual void AddBulk(std::string_view text) = 0;
  // Ends the array, which has `size` elements.
  virtual void EndArray(size_t size) = 0;
  // To be called if the reply cannot be completed. The host closes the connection.
  virtual void Abort() = 0;
  // True if nothing more is sent, for example because the output exceeds its limit. A command that
  // only reads may then stop.
  virtual bool closed() const = 0;
  // True if the output has a limit that ends any reply that is too long, so that a command may
  // begin a reply of any length.
  virtual bool limits_output() const = 0;

  // A message. It comes when the command or script that sent it has ended.
  virtual void AddPush(const SharedPush& push) = 0;
  // True if the output and `pending_bytes` of messages that wait for the end of the current command
  // exceed the hard limit. The host then closes the connection, without its output.
  virtual bool Overflows(size_t pending_bytes) = 0;
};

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_ENGINE_REPLY_SINK_H_
