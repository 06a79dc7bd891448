// Typed commands of Redis hashes.
//
// Each function sends one command: one round trip. Arguments are views that must live until the
// task has finished. Errors common to all: WRONGTYPE (FailedPrecondition) when the key holds
// another type, and those of the store itself (errors.h). A key that does not exist is an empty
// hash; a hash that loses its last field is gone. Source: Redis 7.0, the command of the same name.
//
//   absl::StatusOr<std::optional<std::string>> name = co_await store::HGet(store, "user:1",
//   "name");
//
// Thread-safety: as Store.
#ifndef REDOUBLE_CORE_STORE_HASHES_H_
#define REDOUBLE_CORE_STORE_HASHES_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "core/base/task.h"
#include "core/store/store.h"

namespace redouble::store {

// A field and its value.
using FieldView = std::pair<std::string_view, std::string_view>;

// Sets the fields; gives how many of them are new. `fields` must not be empty.
base::Task<absl::StatusOr<int64_t>> HSet(Store& store, std::string_view key,
                                         std::span<const FieldView> fields);
// Sets one field; true when it is new.
base::Task<absl::StatusOr<bool>> HSet(Store& store, std::string_view key, std::string_view field,
                                      std::string_view value);
// Sets the field unless it exists; true when set.
base::Task<absl::StatusOr<bool>> HSetNx(Store& store, std::string_view key, std::string_view field,
                                        std::string_view value);

// The field's value; none when the key or the field does not exist.
base::Task<absl::StatusOr<std::optional<std::string>>> HGet(Store& store, std::string_view key,
                                                            std::string_view field);
// The values in the order of the fields, which must not be empty.
base::Task<absl::StatusOr<std::vector<std::optional<std::string>>>> HMGet(
    Store& store, std::string_view key, std::span<const std::string_view> fields);
// All fields and values, in no order. O(size).
base::Task<absl::StatusOr<std::vector<std::pair<std::string, std::string>>>> HGetAll(
    Store& store, std::string_view key);
// All fields, or all values, in no order. O(size).
base::Task<absl::StatusOr<std::vector<std::string>>> HKeys(Store& store, std::string_view key);
base::Task<absl::StatusOr<std::vector<std::string>>> HVals(Store& store, std::string_view key);

// Removes fields; gives how many existed.
base::Task<absl::StatusOr<int64_t>> HDel(Store& store, std::string_view key,
                                         std::span<const std::string_view> fields);
base::Task<absl::StatusOr<bool>> HExists(Store& store, std::string_view key,
                                         std::string_view field);
// How many fields there are.
base::Task<absl::StatusOr<int64_t>> HLen(Store& store, std::string_view key);

// Adds to a field's decimal 64-bit integer; a missing one counts as 0. The new value. Errors:
// InvalidArgument when the value is no integer or would overflow.
base::Task<absl::StatusOr<int64_t>> HIncrBy(Store& store, std::string_view key,
                                            std::string_view field, int64_t increment);
// Adds a number given as text, which decides the digits that Redis sees; the new value as Redis
// wrote it. Errors: InvalidArgument when either is no number or the sum is NaN or infinite.
base::Task<absl::StatusOr<std::string>> HIncrByFloat(Store& store, std::string_view key,
                                                     std::string_view field,
                                                     std::string_view increment);

}  // namespace redouble::store

#endif  // REDOUBLE_CORE_STORE_HASHES_H_
