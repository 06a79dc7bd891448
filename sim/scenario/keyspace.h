// Keyspace: the contents of a Redis database as a value that can be compared and printed.
//
// DumpKeyspace reads a whole database with plain commands, so scenarios, golden tests and
// differential tests see the memory engine and a live server in the same way. A value has one
// canonical form per type, whatever order the server uses:
//
// | type   | value                                                       | read with         |
// | ------ | ----------------------------------------------------------- | ----------------- |
// | string | "text"                                                      | GET               |
// | list   | ["first", "second"]                                         | LRANGE            |
// | set    | ["a", "b"], sorted by bytes                                 | SMEMBERS          |
// | hash   | {"field": "value"}, sorted by field                         | HGETALL           |
// | zset   | [["member", "1.5"]], by score, then member                  | ZRANGE WITHSCORES |
// | stream | {"entries": [{"id": "1-0", "fields": ["name", "value"]}]}   | XRANGE            |
//
// Byte strings are encoded as in sim/json/bytes.h. Consumer groups of a stream are not
// included.
//
//   absl::StatusOr<Keyspace> keyspace = co_await DumpKeyspace(store);
//   KeyspaceToJson(*keyspace);
//   // {"visits": {"type": "string", "value": "3", "ttl_ms": 70000}}
//
// Thread-safety: values; DumpKeyspace as Store.
#ifndef REDOUBLE_SIM_SCENARIO_KEYSPACE_H_
#define REDOUBLE_SIM_SCENARIO_KEYSPACE_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/store/store.h"
#include "redouble/sim/operations/operation.h"

namespace redouble::inline v0_1::sim {

struct KeyspaceEntry {
  std::string type;               // The reply of TYPE: "string", "zset", ...
  Json value;                     // As in the table above; null for other types.
  std::optional<int64_t> ttl_ms;  // The reply of PTTL; nullopt if the key does not expire.

  friend bool operator==(const KeyspaceEntry& a, const KeyspaceEntry& b) = default;
};

// By key, in byte order.
using Keyspace = std::map<std::string, KeyspaceEntry>;

// Reads the selected database: SCAN, then TYPE and PTTL of all keys in one pipeline, then all
// values in another. Keys that expire meanwhile are left out. On a server that other clients write
// to, the result is not a consistent snapshot. Errors: those of the store, or the first error
// reply.
base::Task<absl::StatusOr<Keyspace>> DumpKeyspace(store::Store& store);

// Returns an object by encoded key: {"k": {"type": "string", "value": "v", "ttl_ms": 70000}}.
// "ttl_ms" is missing if the key does not expire.
Json KeyspaceToJson(const Keyspace& keyspace);

// Returns a value of `type` in its canonical form: byte strings normalized, sets and hashes sorted.
// Errors: InvalidArgument, with the path of the mistake below `path`, if `value` does not have that
// form or the type is unknown.
absl::StatusOr<Json> NormalizeValue(std::string_view type, const Json& value,
                                    std::string_view path);

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_SCENARIO_KEYSPACE_H_
