// DeleteUnusedKeys: deletes keys that no command has used for a long time.
//
// Use it for families whose keys a deployment writes without a TTL, and which would stay forever.
//
//   store::UnusedKeys unused;
//   unused.unused_for = absl::Hours(24 * 30);
//   unused.selects = [&](std::string_view key) { return IsMine(key); };
//   absl::StatusOr<store::UnusedKeysReport> report =
//       co_await store::DeleteUnusedKeys(store, unused);
//
// A key is used by every command that reads or writes it, also by a failed SET NX; SCAN, EXISTS,
// TTL, TYPE and OBJECT do not use it. Redis counts the time in seconds, from the start of the
// server for keys that it has loaded from a file without idle times. It does not know the time of a
// small integer, because all keys with this value share one object: a selected string that is
// stored as an integer gets a TTL instead, which begins with the first call that sees it.
//
// Thread-safety: as Store.
// Source: Redis 7.0 OBJECT IDLETIME, OBJECT ENCODING, EXPIRE.
#ifndef REDOUBLE_CORE_STORE_KEYSPACE_UNUSED_KEYS_H_
#define REDOUBLE_CORE_STORE_KEYSPACE_UNUSED_KEYS_H_

#include <cstdint>
#include <functional>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::store {

struct UnusedKeys {
  absl::Duration unused_for;  // At least one second.
  // Whether a key may be deleted.
  std::function<bool(std::string_view key)> selects;
  int64_t page_size = 500;  // The COUNT of SCAN.
};

struct UnusedKeysReport {
  int64_t selected = 0;  // A key that SCAN returns twice counts twice.
  int64_t deleted = 0;
  int64_t expiring = 0;  // Integers that got a TTL of `unused_for`.
};

// Scans the database and deletes the selected keys that have not been used. A script looks at the
// key again and deletes it, so a key that is used in between stays. Can be repeated after an error.
//
// Round trips for each page of the scan: 1, 2 with selected keys, 3 with unused keys or integers.
// Errors: InvalidArgument, before a command is sent, for a time below one second; those of Redis,
// which tells no idle time while maxmemory-policy is an LFU policy.
base::Task<absl::StatusOr<UnusedKeysReport>> DeleteUnusedKeys(Store& store, UnusedKeys unused);

}  // namespace redouble::inline v0_1::store

#endif  // REDOUBLE_CORE_STORE_KEYSPACE_UNUSED_KEYS_H_
