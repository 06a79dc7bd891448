// QueueLimits: how many requests, and how many bytes of them, a client keeps at once.
//
// Every client refuses a further request once one of the limits is reached, so that a server that
// does not answer costs a bounded amount of memory. One request may exceed the bytes, because the
// limit is compared with what is queued already.
//
//   const QueueLimits limits = QueueLimits::From(options);
//   if (auto refusal = limits.Refuse(queued, queued_bytes, address)) ...
//   queued_bytes += BytesOf(request);
//
// Thread-safety: plain values.
#ifndef REDOUBLE_BACKENDS_REDIS_FSM_QUEUE_LIMITS_H_
#define REDOUBLE_BACKENDS_REDIS_FSM_QUEUE_LIMITS_H_

#include <cstddef>
#include <limits>
#include <optional>
#include <string_view>

#include "absl/status/status.h"
#include "redouble/backends/redis/options.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::redis {

struct QueueLimits {
  // The values of Options::queue_limit and Options::queue_bytes.
  static QueueLimits From(const Options& options);

  // Why no further request is accepted for `target` ("redis://127.0.0.1:6379"): ResourceExhausted,
  // of kind "not sent". nullopt if there is room.
  std::optional<absl::Status> Refuse(size_t queued, size_t queued_bytes,
                                     std::string_view target) const;

  size_t requests = std::numeric_limits<size_t>::max();
  size_t bytes = std::numeric_limits<size_t>::max();
};

// The size of the names and arguments of a request's commands. O(arguments).
size_t BytesOf(const store::Request& request);

}  // namespace redouble::inline v0_1::redis

#endif  // REDOUBLE_BACKENDS_REDIS_FSM_QUEUE_LIMITS_H_
