// KeyValue: a key's decoded value and deadline, read from one server and written to another.
//
// DUMP and RESTORE depend on the servers' versions and encodings; a decoded value does not. Its
// parts have one order for each type, whatever order the server uses, so that values of two servers
// can be compared:
//
//   | type   | parts                                            |
//   | ------ | ------------------------------------------------ |
//   | string | the value                                        |
//   | list   | the elements                                     |
//   | set    | the members, in byte order                       |
//   | hash   | field, value, ..., by field in byte order        |
//   | zset   | member, score, ..., by score, then member        |
//
// Streams are not supported yet.
//
//   REDOUBLE_CO_ASSIGN_OR_RETURN(const std::optional<KeyValue> value, co_await ReadKey(from, "k"));
//   if (value) REDOUBLE_CO_RETURN_IF_ERROR(co_await WriteKey(to, "{k}", *value));
//
// Thread-safety: values; the functions as Store.
#ifndef REDOUBLE_SIM_MIGRATE_KEY_VALUE_H_
#define REDOUBLE_SIM_MIGRATE_KEY_VALUE_H_

#include <cstdint>
#include <optional>
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

// Reads a key; nullopt if it does not exist. Two round trips: TYPE, then value and deadline in one
// transaction. Memory: the value. Errors: Unimplemented for a stream; those of Store; the server's
// error if another client changes the type in between.
base::Task<absl::StatusOr<std::optional<KeyValue>>> ReadKey(store::Store& store,
                                                            std::string_view key);

// Replaces a key by a value that ReadKey returned, in one transaction. A value whose deadline has
// passed deletes the key. Repeating it changes nothing. The arguments must outlive the task.
// Errors: those of Store, or the first error reply.
base::Task<absl::Status> WriteKey(store::Store& store, std::string_view key, const KeyValue& value);

// Returns a number that differs for keys of different names, types, values or deadlines, but for
// collisions of CRC-64. Sums of it do not depend on the order of keys.
uint64_t DigestOf(std::string_view key, const KeyValue& value);

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_MIGRATE_KEY_VALUE_H_
