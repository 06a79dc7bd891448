// Typed commands of hash fields that expire.
//
//   const std::string_view fields[] = {"token"};
//   auto results = co_await store::HExpireIn(store, "user:1", fields, absl::Minutes(15));
//
// HExpireIn, HExpireAt, HPersist, HTimeToLive and HExpiryTimesOf need Redis 7.4 or later; HGetEx,
// HSetEx and HGetDel need Redis 8.0 or later. An engine answers as such a server with
// EngineOptions::compatibility.
//
// Each function sends one command: one round trip. Arguments are views that must outlive the task,
// and `fields` must not be empty; results are in the order of `fields`. Errors of all functions:
// Unimplemented if the server is older, with the version that the command needs; WRONGTYPE
// (FailedPrecondition) if the key holds another type; and those of the store (errors.h). A missing
// key is a hash without fields.
// Source: Redis 8.0, the command that the function names.
//
// Thread-safety: as Store.
#ifndef REDOUBLE_CORE_STORE_TYPED_HASH_FIELDS_H_
#define REDOUBLE_CORE_STORE_TYPED_HASH_FIELDS_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/store/store.h"
#include "redouble/core/store/typed/expiry.h"
#include "redouble/core/store/typed/hashes.h"
#include "redouble/core/store/typed/keys.h"

namespace redouble::store {

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

enum class HSetCondition {
  kAlways,
  kIfNoneExists,  // FNX: none of the fields exists.
  kIfAllExist,    // FXX: all fields exist.
};
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

}  // namespace redouble::store

#endif  // REDOUBLE_CORE_STORE_TYPED_HASH_FIELDS_H_
