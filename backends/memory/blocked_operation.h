// BlockedOperation: what a blocking command leaves behind when it has to wait.
//
// The engine tries it again whenever one of its keys changed, in Redis's order (keys in the order
// in which they changed, the clients of a key first come, first served), and ends it when the clock
// passes its deadline. How: blocking.h.
#ifndef REDOUBLE_BACKENDS_MEMORY_BLOCKED_OPERATION_H_
#define REDOUBLE_BACKENDS_MEMORY_BLOCKED_OPERATION_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/store/key_type.h"
#include "core/store/reply.h"

namespace redouble::memory {

class CommandContext;

struct BlockedOperation {
  // The keys it waits for, in the order of the command; one named twice counts once.
  std::vector<std::string> keys;
  // The type that a key must have before the operation is tried on it; kNone: it has no keys.
  store::KeyType type = store::KeyType::kNone;
  // The operation is tried as well when a key of that type is gone, or is of another type now.
  bool also_when_gone = false;
  // Still waiting at this millisecond, given up at the next; none: for ever.
  std::optional<int64_t> deadline_ms;
  // Tries again on `key`; no value: still nothing to be had.
  std::function<std::optional<store::Reply>(CommandContext& context, std::string_view key)> retry;
  // The reply when the deadline passes.
  store::Reply timed_out = store::Reply::NilArray();
};

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_BLOCKED_OPERATION_H_
