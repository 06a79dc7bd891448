// Typed commands of Redis strings.
//
//   absl::StatusOr<bool> set = co_await store::Set(store, "greeting", "hello",
//                                                  {.expiry = Expiry::In(absl::Hours(1))});
//   absl::StatusOr<std::optional<std::string>> value = co_await store::Get(store, "greeting");
//
// Each function sends one command: one round trip. Arguments are views that must outlive the task.
// Errors of all functions: WRONGTYPE (FailedPrecondition) if the key holds another type, and those
// of the store (errors.h).
// Source: Redis 7.0, the command of the same name, unless a function says otherwise.
//
// Thread-safety: as Store.
#ifndef REDOUBLE_CORE_STORE_TYPED_STRINGS_H_
#define REDOUBLE_CORE_STORE_TYPED_STRINGS_H_

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
#include "redouble/core/base/task/task.h"
#include "redouble/core/store/store.h"
#include "redouble/core/store/typed/expiry.h"

namespace redouble::inline v0_1::store {

// Returns the value, or nullopt if the key does not exist.
base::Task<absl::StatusOr<std::optional<std::string>>> Get(Store& store, std::string_view key);

struct SetOptions {
  enum class Condition { kAlways, kIfAbsent, kIfPresent };
  Condition condition = Condition::kAlways;
  // The key's new expiry; by default it has none.
  Expiry expiry = {};
  // Keeps the key's TTL. Not together with `expiry`.
  bool keep_ttl = false;
};

// Sets the value; returns false if the condition did not hold.
base::Task<absl::StatusOr<bool>> Set(Store& store, std::string_view key, std::string_view value,
                                     SetOptions options = {});

// Sets the value and returns the old one, or nullopt if the key did not exist. The old value is
// also returned if the condition did not hold. Source: Redis 7.0 SET with GET.
base::Task<absl::StatusOr<std::optional<std::string>>> SetAndGet(Store& store, std::string_view key,
                                                                 std::string_view value,
                                                                 SetOptions options = {});

// Returns the value and sets the key's expiry, or removes it (Expiry::Persist()), atomically. An
// empty expiry changes nothing.
base::Task<absl::StatusOr<std::optional<std::string>>> GetEx(Store& store, std::string_view key,
                                                             Expiry expiry);
// Returns the value and deletes the key, atomically.
base::Task<absl::StatusOr<std::optional<std::string>>> GetDel(Store& store, std::string_view key);

// Returns the values in the order of the keys; nullopt for a key that is missing or not a string.
base::Task<absl::StatusOr<std::vector<std::optional<std::string>>>> MGet(
    Store& store, std::span<const std::string_view> keys);
// Runs GET for each key, in the order of the keys, and returns what Get would: not one moment of
// all keys, an error for a key that is not a string, and on a cluster keys of any slot. One
// pipeline for each 400 keys. Errors: those of the store, for the result as a whole; an error of
// one key is its element.
base::Task<absl::StatusOr<std::vector<absl::StatusOr<std::optional<std::string>>>>> GetEach(
    Store& store, std::span<const std::string> keys);
// Sets all pairs atomically.
base::Task<absl::Status> MSet(Store& store,
                              std::span<const std::pair<std::string_view, std::string_view>> pairs);
// Sets all pairs atomically, or none if any of the keys exists; returns whether they were set.
base::Task<absl::StatusOr<bool>> MSetNx(
    Store& store, std::span<const std::pair<std::string_view, std::string_view>> pairs);

// Appends to the value and returns the new length in bytes.
base::Task<absl::StatusOr<int64_t>> Append(Store& store, std::string_view key,
                                           std::string_view value);
// Returns the length in bytes; 0 if the key does not exist.
base::Task<absl::StatusOr<int64_t>> StrLen(Store& store, std::string_view key);
// Returns the bytes from `first` to `last`, both included. Negative positions count from the end.
base::Task<absl::StatusOr<std::string>> GetRange(Store& store, std::string_view key, int64_t first,
                                                 int64_t last);
// Overwrites the value from `offset` on, filling a gap with zero bytes; returns the new length.
base::Task<absl::StatusOr<int64_t>> SetRange(Store& store, std::string_view key, int64_t offset,
                                             std::string_view value);

// Add to a decimal 64-bit integer and return the new value. A missing key counts as 0; the key's
// TTL stays. Errors: InvalidArgument if the value is not an integer or would overflow.
base::Task<absl::StatusOr<int64_t>> Incr(Store& store, std::string_view key);
base::Task<absl::StatusOr<int64_t>> IncrBy(Store& store, std::string_view key, int64_t increment);
base::Task<absl::StatusOr<int64_t>> Decr(Store& store, std::string_view key);
base::Task<absl::StatusOr<int64_t>> DecrBy(Store& store, std::string_view key, int64_t decrement);
// Adds a number and returns the new value. Both are texts, so that the digits are the caller's and
// Redis's own. Errors: InvalidArgument if either is not a number or the sum is NaN or infinite.
base::Task<absl::StatusOr<std::string>> IncrByFloat(Store& store, std::string_view key,
                                                    std::string_view increment);

}  // namespace redouble::inline v0_1::store

#endif  // REDOUBLE_CORE_STORE_TYPED_STRINGS_H_
