// KeyValue: the decoded value and deadline of a key, to compare, translate and write it.
//
// Its parts have one order for each type, whatever order the server uses, so that values of two
// servers can be compared:
//
//   | type   | parts                                                                  |
//   | ------ | ---------------------------------------------------------------------- |
//   | string | the value                                                              |
//   | list   | the elements                                                           |
//   | set    | the members, in byte order                                             |
//   | hash   | field, value, ..., by field in byte order                              |
//   | zset   | member, score, ..., by score, then member                              |
//   | stream | all that a client can see, in the order of XINFO STREAM FULL: the last |
//   |        | and the greatest deleted id, the number of entries ever added, entries, |
//   |        | and for each group its position, pending entries and consumers         |
//
// A stream can be compared but not written: no commands create a group again whose pending entries
// were deleted, or a consumer with its time. Use RestoreKeys (key_dump.h).
//
//   REDOUBLE_CO_ASSIGN_OR_RETURN(const auto values, co_await ReadKeys(from, keys));
//   const MovedKey moved = {"{k}", values[0]};
//   REDOUBLE_CO_RETURN_IF_ERROR(co_await WriteKeys(to, {&moved, 1}));
//
// Thread-safety: values; the functions as Store.
#ifndef REDOUBLE_SIM_MIGRATE_KEY_VALUE_H_
#define REDOUBLE_SIM_MIGRATE_KEY_VALUE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/store/store.h"
#include "redouble/core/store/table/key_type.h"

namespace redouble::inline v0_1::sim {

struct KeyValue {
  store::KeyType type = store::KeyType::kNone;
  std::vector<std::string> parts;      // As in the table above; not empty.
  std::optional<int64_t> deadline_ms;  // The reply of PEXPIRETIME; nullopt: does not expire.

  friend bool operator==(const KeyValue& a, const KeyValue& b) = default;
};

// Reads keys, in their order; nullopt for one that does not exist. Two round trips: the types, then
// deadlines and values. Between the commands other clients may change a key. Memory: the values.
// Errors: Unimplemented for the type of a module; those of Store; the server's error if another
// client changes a type in between.
base::Task<absl::StatusOr<std::vector<std::optional<KeyValue>>>> ReadKeys(
    store::Store& store, std::span<const std::string> keys);

// A key and the value that it shall have.
struct MovedKey {
  std::string key;
  std::optional<KeyValue> value;  // Nullopt: the key shall not exist.
};

// Replaces keys by values that ReadKeys returned, each key at once. A value whose deadline has
// passed deletes its key. Repeating it changes nothing. One round trip for all strings and
// deletions, and one for each other key. The arguments must outlive the task. Errors:
// FailedPrecondition for a stream; those of Store, or the first error reply.
base::Task<absl::Status> WriteKeys(store::Store& store, std::span<const MovedKey> keys);

// Returns a number that differs for keys of different names, types, values or deadlines, but for
// collisions of CRC-64. Sums of it do not depend on the order of keys.
uint64_t DigestOf(std::string_view key, const KeyValue& value);

// As std::sort, for the parts of a hash.
void SortFields(std::vector<std::string>& parts);

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_MIGRATE_KEY_VALUE_H_
