// BlockedOperation: what a blocked command waits for, and how it continues.
//
// The engine retries it whenever one of its keys has changed, in Redis's order, and completes it
// with `timed_out` when the clock has passed its deadline. See blocking.h for the order.
//
// Thread-safety: a plain value.
// Source: Redis 7.0 BLPOP, XREAD.
#ifndef REDOUBLE_BACKENDS_MEMORY_BLOCKING_BLOCKED_OPERATION_H_
#define REDOUBLE_BACKENDS_MEMORY_BLOCKING_BLOCKED_OPERATION_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "redouble/core/store/reply.h"
#include "redouble/core/store/table/key_type.h"

namespace redouble::inline v0_1::memory {

class CommandContext;

struct BlockedOperation {
  // The keys it waits for, in the order of the command; a repeated key counts once.
  std::vector<std::string> keys;
  // The type that a key must have for a retry. kNone: the operation has no keys.
  store::KeyType type = store::KeyType::kNone;
  // True: also retried when the key was removed or has another type now.
  bool also_when_gone = false;
  // The last millisecond in which it waits. nullopt: no timeout.
  std::optional<int64_t> deadline_ms;
  // Retries on `key`. Returns the reply; nullopt if it has to wait on.
  std::function<std::optional<store::Reply>(CommandContext& context, std::string_view key)> retry;
  // The reply after the timeout.
  store::Reply timed_out = store::Reply::NilArray();
};

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_BLOCKING_BLOCKED_OPERATION_H_
