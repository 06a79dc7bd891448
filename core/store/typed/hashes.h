// Typed commands of Redis hashes.
//
//   absl::StatusOr<std::optional<std::string>> name =
//       co_await store::HGet(store, "user:1", "name");
//
// Each function sends one command: one round trip. Arguments are views that must outlive the task.
// Errors of all functions: WRONGTYPE (FailedPrecondition) if the key holds another type, and those
// of the store (errors.h). A missing key is an empty hash; removing the last field deletes the key.
// Source: Redis 7.0, the command of the same name.
//
// Thread-safety: as Store.
#ifndef REDOUBLE_CORE_STORE_TYPED_HASHES_H_
#define REDOUBLE_CORE_STORE_TYPED_HASHES_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/store/store.h"

namespace redouble::store {

// A field and its value.
using FieldView = std::pair<std::string_view, std::string_view>;

// Sets the fields and returns how many of them are new. `fields` must not be empty.
base::Task<absl::StatusOr<int64_t>> HSet(Store& store, std::string_view key,
                                         std::span<const FieldView> fields);
// Sets one field and returns whether it is new.
base::Task<absl::StatusOr<bool>> HSet(Store& store, std::string_view key, std::string_view field,
                                      std::string_view value);
// Sets the field unless it exists; returns whether it was set.
base::Task<absl::StatusOr<bool>> HSetNx(Store& store, std::string_view key, std::string_view field,
                                        std::string_view value);

// Returns the field's value, or nullopt if the key or the field does not exist.
base::Task<absl::StatusOr<std::optional<std::string>>> HGet(Store& store, std::string_view key,
                                                            std::string_view field);
// Returns the values in the order of `fields`, which must not be empty; nullopt for a missing
// field.
base::Task<absl::StatusOr<std::vector<std::optional<std::string>>>> HMGet(
    Store& store, std::string_view key, std::span<const std::string_view> fields);
// Returns all fields with their values, in no particular order. O(size).
base::Task<absl::StatusOr<std::vector<std::pair<std::string, std::string>>>> HGetAll(
    Store& store, std::string_view key);
// Return all fields, or all values, in no particular order. O(size).
base::Task<absl::StatusOr<std::vector<std::string>>> HKeys(Store& store, std::string_view key);
base::Task<absl::StatusOr<std::vector<std::string>>> HVals(Store& store, std::string_view key);

// Removes fields and returns how many of them existed.
base::Task<absl::StatusOr<int64_t>> HDel(Store& store, std::string_view key,
                                         std::span<const std::string_view> fields);
// Returns whether the field exists.
base::Task<absl::StatusOr<bool>> HExists(Store& store, std::string_view key,
                                         std::string_view field);
// Returns the number of fields.
base::Task<absl::StatusOr<int64_t>> HLen(Store& store, std::string_view key);

// Adds to a field's decimal 64-bit integer and returns the new value; a missing field counts as 0.
// Errors: InvalidArgument if the value is not an integer or would overflow.
base::Task<absl::StatusOr<int64_t>> HIncrBy(Store& store, std::string_view key,
                                            std::string_view field, int64_t increment);
// Adds a number to a field and returns the new value. Both are texts, so that the digits are the
// caller's and Redis's own. Errors: InvalidArgument if either is not a number or the sum is NaN or
// infinite.
base::Task<absl::StatusOr<std::string>> HIncrByFloat(Store& store, std::string_view key,
                                                     std::string_view field,
                                                     std::string_view increment);

}  // namespace redouble::store

#endif  // REDOUBLE_CORE_STORE_TYPED_HASHES_H_
