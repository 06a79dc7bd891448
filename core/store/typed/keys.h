// Typed commands of keys (existence, expiry, names, scanning), of the server and the connection.
//
//   absl::StatusOr<Ttl> left = co_await store::TimeToLive(store, "session:7");
//   if (left.ok() && left->expires()) Log(left->remaining());
//
// Each function sends one command: one round trip, except ScanAll. Arguments are views that must
// outlive the task. Errors are those of the store (errors.h) and those that a function names.
// Source: Redis 7.0, the command of the same name, unless a function says otherwise.
//
// Thread-safety: as Store.
#ifndef REDOUBLE_CORE_STORE_TYPED_KEYS_H_
#define REDOUBLE_CORE_STORE_TYPED_KEYS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/store/store.h"
#include "redouble/core/store/table/key_type.h"
#include "redouble/core/store/typed/expiry.h"

namespace redouble::inline v0_1::store {

// Deletes the keys and returns how many of them existed.
base::Task<absl::StatusOr<int64_t>> Del(Store& store, std::span<const std::string_view> keys);
// Deletes the key and returns whether it existed.
base::Task<absl::StatusOr<bool>> Del(Store& store, std::string_view key);
// As Del; a live server frees the memory in the background.
base::Task<absl::StatusOr<int64_t>> Unlink(Store& store, std::span<const std::string_view> keys);

// Returns whether the key exists.
base::Task<absl::StatusOr<bool>> Exists(Store& store, std::string_view key);
// Returns how many of the keys exist; a key that is named twice counts twice.
base::Task<absl::StatusOr<int64_t>> Exists(Store& store, std::span<const std::string_view> keys);
// Returns the indices of the keys that do not exist, in ascending order. Sends EXISTS for each key
// in one pipeline, and nothing without keys; the keys may be in different slots.
base::Task<absl::StatusOr<std::vector<size_t>>> FindMissing(Store& store,
                                                            std::span<const std::string> keys);

// Returns the type of the key; kNone if it does not exist. Source: Redis 7.0 TYPE.
base::Task<absl::StatusOr<KeyType>> TypeOf(Store& store, std::string_view key);

// Sets the key's expiry: EXPIRE for whole seconds, otherwise PEXPIRE with milliseconds, rounded
// down. A `ttl` that is not positive deletes the key. Returns whether the expiry was set or the key
// deleted; false if the key does not exist or the condition does not hold.
// Source: Redis 7.0 EXPIRE, PEXPIRE.
base::Task<absl::StatusOr<bool>> ExpireIn(Store& store, std::string_view key, absl::Duration ttl,
                                          ExpireCondition condition = ExpireCondition::kAlways);
// As ExpireIn, for a moment. Source: Redis 7.0 EXPIREAT, PEXPIREAT.
base::Task<absl::StatusOr<bool>> ExpireAt(Store& store, std::string_view key, absl::Time deadline,
                                          ExpireCondition condition = ExpireCondition::kAlways);
// Removes the key's expiry; returns whether it had one.
base::Task<absl::StatusOr<bool>> Persist(Store& store, std::string_view key);

// The reply of PTTL.
class Ttl {
 public:
  explicit Ttl(int64_t reply_ms) : reply_ms_(reply_ms) {}
  bool exists() const { return reply_ms_ != -2; }
  bool expires() const { return reply_ms_ >= 0; }
  // The time left. Requires expires().
  absl::Duration remaining() const { return absl::Milliseconds(reply_ms_); }

 private:
  int64_t reply_ms_;
};
// Returns the time to live, in milliseconds. Source: Redis 7.0 PTTL.
base::Task<absl::StatusOr<Ttl>> TimeToLive(Store& store, std::string_view key);

// The reply of PEXPIRETIME.
class ExpiryTime {
 public:
  explicit ExpiryTime(int64_t reply_ms) : reply_ms_(reply_ms) {}
  bool exists() const { return reply_ms_ != -2; }
  bool expires() const { return reply_ms_ >= 0; }
  // The last moment at which the key still exists, in milliseconds. Requires expires().
  absl::Time deadline() const { return absl::FromUnixMillis(reply_ms_); }

 private:
  int64_t reply_ms_;
};
// Returns the moment at which the key expires. Source: Redis 7.0 PEXPIRETIME.
base::Task<absl::StatusOr<ExpiryTime>> ExpiryTimeOf(Store& store, std::string_view key);
// Returns the integer of TTL: seconds rounded to the nearest, -1 if the key has no expiry, -2 if it
// does not exist. For code that reproduces a system that uses TTL. Source: Redis 7.0 TTL.
base::Task<absl::StatusOr<int64_t>> TtlSeconds(Store& store, std::string_view key);

// Renames `from`, replacing `to`. Errors: InvalidArgument ("ERR no such key").
base::Task<absl::Status> Rename(Store& store, std::string_view from, std::string_view to);
// Renames `from` unless `to` exists; returns whether it did. Errors as Rename.
base::Task<absl::StatusOr<bool>> RenameNx(Store& store, std::string_view from, std::string_view to);
struct CopyOptions {
  bool replace = false;  // Overwrites `to` if it exists.
};
// Copies a value with its expiry; returns whether it was copied.
base::Task<absl::StatusOr<bool>> Copy(Store& store, std::string_view from, std::string_view to,
                                      CopyOptions options = {});

struct ScanOptions {
  std::string_view match = {};  // A glob pattern; empty: all keys.
  int64_t count = 0;            // How many keys a call looks at; 0: the server's default.
  std::string_view type = {};   // "string", "hash", ...; empty: all types.
};
// A page of the keys, as SCAN returns it.
struct ScanPage {
  std::string cursor;  // "0" when the scan is complete.
  std::vector<std::string> keys;
};
// Returns one page of a scan. Start with the cursor "0" and continue with the cursor of the page.
base::Task<absl::StatusOr<ScanPage>> Scan(Store& store, std::string_view cursor,
                                          ScanOptions options = {});
// Scans the whole database and returns the keys without duplicates, in the order first seen. One
// round trip per page. Includes every key that exists during the whole scan.
// Source: Redis 7.0 SCAN.
base::Task<absl::StatusOr<std::vector<std::string>>> ScanAll(Store& store,
                                                             ScanOptions options = {});

// Returns all keys that match a glob pattern. Walks the whole database in one command: use it for
// tests and small keyspaces, and ScanAll otherwise. O(keys of the database).
base::Task<absl::StatusOr<std::vector<std::string>>> Keys(Store& store, std::string_view pattern);
// Returns a random key, or nullopt if the database is empty.
base::Task<absl::StatusOr<std::optional<std::string>>> RandomKey(Store& store);
// Updates the last access time of the keys and returns how many of them exist.
base::Task<absl::StatusOr<int64_t>> Touch(Store& store, std::span<const std::string_view> keys);

// Returns the number of keys in the selected database.
base::Task<absl::StatusOr<int64_t>> DbSize(Store& store);
// Deletes all keys of the selected database, or of all databases.
base::Task<absl::Status> FlushDb(Store& store);
base::Task<absl::Status> FlushAll(Store& store);
// Returns OK if the server replies.
base::Task<absl::Status> Ping(Store& store);
// Returns the server's time, in microseconds.
base::Task<absl::StatusOr<absl::Time>> Time(Store& store);

}  // namespace redouble::inline v0_1::store

#endif  // REDOUBLE_CORE_STORE_TYPED_KEYS_H_
