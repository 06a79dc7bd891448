// Typed commands of Redis strings.
//
// Each function sends one command: one round trip. Arguments are views that must live until the
// task has finished. Errors common to all: WRONGTYPE (FailedPrecondition) when the key holds
// another type, and those of the store itself (errors.h). Source: Redis 7.0, the command of the
// same name, unless a function says otherwise.
//
//   absl::StatusOr<std::optional<std::string>> value = co_await store::Get(store, "greeting");
//
// Thread-safety: as Store.
#ifndef REDOUBLE_CORE_STORE_STRINGS_H_
#define REDOUBLE_CORE_STORE_STRINGS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/base/task.h"
#include "core/store/expiry.h"
#include "core/store/store.h"

namespace redouble::store {

// The value; none when the key does not exist.
base::Task<absl::StatusOr<std::optional<std::string>>> Get(Store& store, std::string_view key);

struct SetOptions {
  enum class Condition { kAlways, kIfAbsent, kIfPresent };
  Condition condition = Condition::kAlways;
  // When the key shall expire; none: never.
  Expiry expiry = {};
  // Keeps the time to live that the key has; not together with `expiry`.
  bool keep_ttl = false;
};

// Sets the value. True when it was set; false when the condition did not hold.
base::Task<absl::StatusOr<bool>> Set(Store& store, std::string_view key, std::string_view value,
                                     SetOptions options = {});

// Sets the value and gives the old one; none when the key did not exist. SET with GET: the old
// value comes back also when the condition did not hold.
base::Task<absl::StatusOr<std::optional<std::string>>> SetAndGet(Store& store, std::string_view key,
                                                                 std::string_view value,
                                                                 SetOptions options = {});

// The value, and sets or (Expiry::Persist()) removes the key's expiry in the same step; an empty
// expiry changes nothing.
base::Task<absl::StatusOr<std::optional<std::string>>> GetEx(Store& store, std::string_view key,
                                                             Expiry expiry);
// The value, and deletes the key.
base::Task<absl::StatusOr<std::optional<std::string>>> GetDel(Store& store, std::string_view key);

// The values in the order of the keys; none for a key that does not exist or is no string.
base::Task<absl::StatusOr<std::vector<std::optional<std::string>>>> MGet(
    Store& store, std::span<const std::string_view> keys);
// Sets all in one atomic step.
base::Task<absl::Status> MSet(Store& store,
                              std::span<const std::pair<std::string_view, std::string_view>> pairs);
// Sets all, or nothing when any of the keys exists. True when set.
base::Task<absl::StatusOr<bool>> MSetNx(
    Store& store, std::span<const std::pair<std::string_view, std::string_view>> pairs);

// Appends; gives the new length in bytes.
base::Task<absl::StatusOr<int64_t>> Append(Store& store, std::string_view key,
                                           std::string_view value);
// The length in bytes; 0 when the key does not exist.
base::Task<absl::StatusOr<int64_t>> StrLen(Store& store, std::string_view key);
// The bytes from `first` to `last`, both included; negative positions count from the end.
base::Task<absl::StatusOr<std::string>> GetRange(Store& store, std::string_view key, int64_t first,
                                                 int64_t last);
// Overwrites from `offset` on, filling a gap with zero bytes; gives the new length.
base::Task<absl::StatusOr<int64_t>> SetRange(Store& store, std::string_view key, int64_t offset,
                                             std::string_view value);

// Adds to a decimal 64-bit integer; a missing key counts as 0. The new value. Errors:
// InvalidArgument when the value is no integer or would overflow. The key's TTL stays.
base::Task<absl::StatusOr<int64_t>> Incr(Store& store, std::string_view key);
base::Task<absl::StatusOr<int64_t>> IncrBy(Store& store, std::string_view key, int64_t increment);
base::Task<absl::StatusOr<int64_t>> Decr(Store& store, std::string_view key);
base::Task<absl::StatusOr<int64_t>> DecrBy(Store& store, std::string_view key, int64_t decrement);
// Adds a number given as text, which decides the digits that Redis sees; the new value as Redis
// wrote it. Errors: InvalidArgument when either is no number or the sum is NaN or infinite.
base::Task<absl::StatusOr<std::string>> IncrByFloat(Store& store, std::string_view key,
                                                    std::string_view increment);

}  // namespace redouble::store

#endif  // REDOUBLE_CORE_STORE_STRINGS_H_
