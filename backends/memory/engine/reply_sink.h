// ReplySink: where a host takes a long reply while a command makes it.
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

#include "redouble/core/store/reply.h"

namespace redouble::memory {

class ReplySink {
 public:
  virtual ~ReplySink() = default;

  // Begins an array of that shape, within the arrays that have begun. nullopt: how many elements
  // follow is known at its end only. The request's result has no meaning then.
  virtual void BeginArray(store::Reply::Shape shape, std::optional<size_t> size) = 0;
  // The next element of the array.
  virtual void Add(const store::Reply& element) = 0;
  // Ends the array, which has got `size` elements.
  virtual void EndArray(size_t size) = 0;
  // The reply cannot be finished: the connection has to be closed.
  virtual void Abort() = 0;
  // True if nothing more is sent, for example because the output exceeds its limit: what has no
  // other effect than the reply may stop.
  virtual bool closed() const = 0;
  // True if a limit of the output stops a reply of any size.
  virtual bool limits_output() const = 0;
};

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_ENGINE_REPLY_SINK_H_
