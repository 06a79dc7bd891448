// Typed commands of Redis hashes.
//
//   absl::StatusOr<std::optional<std::string>> name =
//       co_await store::HGet(store, "user:1", "name");
//
// Each function sends one command: one round trip. Arguments are views that must outlive the task.
// Errors of all functions: WRONGTYPE (FailedPrecondition) if the key holds another type, and those
// of the store (errors.h). A missing key is an empty hash; removing the last field deletes the key.
// Source: Redis 7.0, the command of the same name, but for the fields that expire.
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
#include "absl/time/time.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/store/store.h"
#include "redouble/core/store/typed/expiry.h"
#include "redouble/core/store/typed/keys.h"

namespace redouble::inline v0_1::store {

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

// The functions of fields that expire, from HExpireIn to HGetDel.
//
// HExpireIn, HExpireAt, HPersist, HTimeToLive and HExpiryTimesOf need Redis 7.4 or later; HGetEx,
// HSetEx and HGetDel need Redis 8.0 or later. An engine answers as such a server with
// EngineOptions::compatibility. `fields` must not be empty; results are in the order of `fields`.
// Errors: also Unimplemented if the server is older, with the version that the command needs.
// Source: Redis 8.0, the command that the function names.

// The result of HExpireIn and HExpireAt for one field.
enum class FieldExpiryResult {
  kNoField,          // The field does not exist.
  kConditionNotMet,  // The condition does not hold.
  kSet,              // The field expires at the new time.
  kDeleted,          // The new time is not in the future: the field is deleted.
};

// Sets the expiry of fields: HEXPIRE for whole seconds, otherwise HPEXPIRE with milliseconds,
// rounded down. Errors: InvalidArgument if `ttl` is negative.
base::Task<absl::StatusOr<std::vector<FieldExpiryResult>>> HExpireIn(
    Store& store, std::string_view key, std::span<const std::string_view> fields,
    absl::Duration ttl, ExpireCondition condition = ExpireCondition::kAlways);
// As HExpireIn, for a time: HEXPIREAT or HPEXPIREAT.
base::Task<absl::StatusOr<std::vector<FieldExpiryResult>>> HExpireAt(
    Store& store, std::string_view key, std::span<const std::string_view> fields,
    absl::Time deadline, ExpireCondition condition = ExpireCondition::kAlways);

// Removes the expiry of fields (HPERSIST); returns for each field whether it had one.
base::Task<absl::StatusOr<std::vector<bool>>> HPersist(Store& store, std::string_view key,
                                                       std::span<const std::string_view> fields);
// Returns the times to live of fields, in milliseconds (HPTTL).
base::Task<absl::StatusOr<std::vector<Ttl>>> HTimeToLive(Store& store, std::string_view key,
                                                         std::span<const std::string_view> fields);
// Returns the times at which fields expire (HPEXPIRETIME).
base::Task<absl::StatusOr<std::vector<ExpiryTime>>> HExpiryTimesOf(
    Store& store, std::string_view key, std::span<const std::string_view> fields);

// Returns the values of fields, nullopt for a missing one, and gives the fields that exist a new
// expiry (HGETEX). `Expiry()` leaves the expiry, and `Expiry::Persist()` removes it.
base::Task<absl::StatusOr<std::vector<std::optional<std::string>>>> HGetEx(
    Store& store, std::string_view key, std::span<const std::string_view> fields, Expiry expiry);

// The condition under which HSetEx sets the fields.
enum class HSetCondition {
  kAlways,
  kIfNoneExists,  // FNX: none of the fields exists.
  kIfAllExist,    // FXX: all fields exist.
};
// The options of HSetEx.
struct HSetExOptions {
  Expiry expiry = {};     // Without one the fields do not expire. Not Expiry::Persist().
  bool keep_ttl = false;  // KEEPTTL: keeps the expiry that a field has. Not beside `expiry`.
  HSetCondition condition = HSetCondition::kAlways;
};
// Sets all fields with one expiry (HSETEX); returns false, with nothing set, if the condition does
// not hold.
base::Task<absl::StatusOr<bool>> HSetEx(Store& store, std::string_view key,
                                        std::span<const FieldView> fields,
                                        HSetExOptions options = {});

// Removes fields and returns the values that they had, nullopt for a missing one (HGETDEL).
base::Task<absl::StatusOr<std::vector<std::optional<std::string>>>> HGetDel(
    Store& store, std::string_view key, std::span<const std::string_view> fields);

}  // namespace redouble::inline v0_1::store

#endif  // REDOUBLE_CORE_STORE_TYPED_HASHES_H_
