// KeyDump: a key as DUMP returns it, to copy it without knowing what it holds.
//
// RESTORE ... REPLACE ABSTTL replaces type, value and deadline of a key in one command. So a copy
// is never half written, many keys need one round trip, and a stream keeps what no other command
// can set: pending entries that were deleted, the times of its consumers, and its counters. The
// price is that a server reads dumps of its own version and of older ones only; RestoreKeys returns
// the keys that it could not read, for which the caller may use the decoded value (key_value.h).
//
//   REDOUBLE_CO_ASSIGN_OR_RETURN(std::vector<std::optional<KeyDump>> dumps,
//                                co_await DumpKeys(from, keys));
//   const NamedDump named = {"{k}", &*dumps[0]};
//   REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<UnreadDump> unread,
//                                co_await RestoreKeys(to, {&named, 1}));
//
// Thread-safety: values; the functions as Store.
#ifndef REDOUBLE_SIM_MIGRATE_KEY_DUMP_H_
#define REDOUBLE_SIM_MIGRATE_KEY_DUMP_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::sim {

struct KeyDump {
  std::string payload;
  std::optional<int64_t> deadline_ms;  // The reply of PEXPIRETIME; nullopt: does not expire.
};

// Dumps keys, in their order; nullopt for one that does not exist. One round trip, in which other
// clients may change a key between its deadline and its dump. Memory: the values. Errors: those of
// Store and of the server.
base::Task<absl::StatusOr<std::vector<std::optional<KeyDump>>>> DumpKeys(
    store::Store& store, std::span<const std::string> keys);

// The members must outlive the task.
struct NamedDump {
  std::string_view key;
  const KeyDump* dump;
};
struct UnreadDump {
  size_t index;
  std::string error;  // Of the server.
};
// Replaces keys by dumps, each key at once; a dump whose deadline has passed deletes its key.
// Returns those whose format the server does not know, which it has not changed. One round trip.
// Errors: those of Store, and other errors of the server.
base::Task<absl::StatusOr<std::vector<UnreadDump>>> RestoreKeys(store::Store& store,
                                                                std::span<const NamedDump> dumps);

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_MIGRATE_KEY_DUMP_H_
