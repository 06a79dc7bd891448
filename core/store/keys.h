// Typed commands of keys: existence, expiry, names, scanning; and of the server and connection.
//
// Each function sends one command: one round trip. Arguments are views that must live until the
// task has finished. Errors are those of the store (errors.h) and those named. Source: Redis 7.0,
// the command of the same name, unless a function says otherwise.
//
//   absl::StatusOr<Ttl> left = co_await store::TimeToLive(store, "session:7");
//   if (left.ok() && left->expires()) Log(left->remaining());
//
// Thread-safety: as Store.
#ifndef REDOUBLE_CORE_STORE_KEYS_H_
#define REDOUBLE_CORE_STORE_KEYS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/base/task.h"
#include "core/store/key_type.h"
#include "core/store/store.h"

namespace redouble::store {

// How many of the keys were deleted.
base::Task<absl::StatusOr<int64_t>> Del(Store& store, std::span<const std::string_view> keys);
// True when the key existed.
base::Task<absl::StatusOr<bool>> Del(Store& store, std::string_view key);
// As Del; a live server frees the memory in the background.
base::Task<absl::StatusOr<int64_t>> Unlink(Store& store, std::span<const std::string_view> keys);

base::Task<absl::StatusOr<bool>> Exists(Store& store, std::string_view key);
// How many of the keys exist; one named twice counts twice.
base::Task<absl::StatusOr<int64_t>> Exists(Store& store, std::span<const std::string_view> keys);

// TYPE. kNone when the key does not exist.
base::Task<absl::StatusOr<KeyType>> TypeOf(Store& store, std::string_view key);

// When EXPIRE and its like shall set the new expiry.
enum class ExpireCondition {
  kAlways,
  kIfNone,     // NX: the key has no expiry.
  kIfAny,      // XX: it has one.
  kIfLater,    // GT: the new one is later (a key without expiry counts as never expiring).
  kIfEarlier,  // LT: the new one is earlier.
};
// EXPIRE when `ttl` is whole seconds, else PEXPIRE (cut to milliseconds). A ttl that is not
// positive deletes the key. True when set or deleted; false when the key does not exist or the
// condition does not hold.
base::Task<absl::StatusOr<bool>> ExpireIn(Store& store, std::string_view key, absl::Duration ttl,
                                          ExpireCondition condition = ExpireCondition::kAlways);
// As ExpireIn with a moment: EXPIREAT or PEXPIREAT.
base::Task<absl::StatusOr<bool>> ExpireAt(Store& store, std::string_view key, absl::Time deadline,
                                          ExpireCondition condition = ExpireCondition::kAlways);
// True when the key had an expiry and lost it.
base::Task<absl::StatusOr<bool>> Persist(Store& store, std::string_view key);

// What PTTL says of a key.
class Ttl {
 public:
  explicit Ttl(int64_t reply_ms) : reply_ms_(reply_ms) {}
  bool exists() const { return reply_ms_ != -2; }
  bool expires() const { return reply_ms_ >= 0; }
  // The time left, of a key that expires.
  absl::Duration remaining() const { return absl::Milliseconds(reply_ms_); }

 private:
  int64_t reply_ms_;
};
// PTTL: exact to the millisecond.
base::Task<absl::StatusOr<Ttl>> TimeToLive(Store& store, std::string_view key);
// What PEXPIRETIME says of a key: the moment of its expiry rather than the time left.
class ExpiryTime {
 public:
  explicit ExpiryTime(int64_t reply_ms) : reply_ms_(reply_ms) {}
  bool exists() const { return reply_ms_ != -2; }
  bool expires() const { return reply_ms_ >= 0; }
  // The last moment at which a key that expires is still there, exact to the millisecond.
  absl::Time deadline() const { return absl::FromUnixMillis(reply_ms_); }

 private:
  int64_t reply_ms_;
};
base::Task<absl::StatusOr<ExpiryTime>> ExpiryTimeOf(Store& store, std::string_view key);
// TTL's own integer: seconds rounded to the nearest, -1 without expiry, -2 without key. For code
// that reproduces a system that uses TTL.
base::Task<absl::StatusOr<int64_t>> TtlSeconds(Store& store, std::string_view key);

// Renames, replacing `to`. Errors: InvalidArgument ("ERR no such key").
base::Task<absl::Status> Rename(Store& store, std::string_view from, std::string_view to);
// As Rename unless `to` exists; true when renamed.
base::Task<absl::StatusOr<bool>> RenameNx(Store& store, std::string_view from, std::string_view to);
// Copies a value with its expiry; `replace` overwrites `to`. True when copied.
struct CopyOptions {
  bool replace = false;
};
base::Task<absl::StatusOr<bool>> Copy(Store& store, std::string_view from, std::string_view to,
                                      CopyOptions options = {});

struct ScanOptions {
  std::string_view match = {};  // A glob pattern; empty: all.
  int64_t count = 0;            // How much work one call may do; 0: the server's default.
  std::string_view type = {};   // "string", "hash", ...; empty: all.
};
struct ScanPage {
  std::string cursor;  // "0" when the scan is complete.
  std::vector<std::string> keys;
};
// One step of a scan; begin with cursor "0".
base::Task<absl::StatusOr<ScanPage>> Scan(Store& store, std::string_view cursor,
                                          ScanOptions options = {});
// The whole scan, duplicates removed, in the order first seen. One round trip per page. Every key
// that exists from beginning to end is among them.
base::Task<absl::StatusOr<std::vector<std::string>>> ScanAll(Store& store,
                                                             ScanOptions options = {});

// All keys that match a glob pattern. Walks the whole database in one command: for tests and small
// keyspaces; ScanAll does it in steps.
base::Task<absl::StatusOr<std::vector<std::string>>> Keys(Store& store, std::string_view pattern);
// A key picked at random; none when the database is empty.
base::Task<absl::StatusOr<std::optional<std::string>>> RandomKey(Store& store);
// Marks keys as used; how many of them exist.
base::Task<absl::StatusOr<int64_t>> Touch(Store& store, std::span<const std::string_view> keys);

// The number of keys in the selected database.
base::Task<absl::StatusOr<int64_t>> DbSize(Store& store);
base::Task<absl::Status> FlushDb(Store& store);
base::Task<absl::Status> FlushAll(Store& store);
// OK when the server answers at all.
base::Task<absl::Status> Ping(Store& store);
// The server's clock, to the microsecond.
base::Task<absl::StatusOr<absl::Time>> Time(Store& store);

}  // namespace redouble::store

#endif  // REDOUBLE_CORE_STORE_KEYS_H_
