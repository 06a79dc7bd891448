// Keyspace: what a Redis holds, as a value that can be compared and written down.
//
// One place reads a whole database through plain commands, so that scenarios, goldens and
// differential tests see the memory engine and a live server with the same eyes. Values have one
// form per type, whatever order the server keeps:
//
//   | type   | value                                                       | read by           |
//   | ------ | ----------------------------------------------------------- | ----------------- |
//   | string | "text"                                                      | GET               |
//   | list   | ["first", "second"]                                         | LRANGE            |
//   | set    | ["a", "b"], sorted by bytes                                 | SMEMBERS          |
//   | hash   | {"field": "value"}, sorted by field                         | HGETALL           |
//   | zset   | [["member", "1.5"]], by score, then member                  | ZRANGE WITHSCORES |
//   | stream | {"entries": [{"id": "1-0", "fields": ["name", "value"]}]}   | XRANGE            |
//
// Byte strings are written as bytes.h says. Consumer groups of a stream are not part of it.
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
#include "core/base/task.h"
#include "core/store/store.h"
#include "sim/scenario/operation.h"

namespace redouble::sim {

struct KeyspaceEntry {
  std::string type;               // As TYPE says: "string", "zset", ...
  Json value;                     // As in the table above; null for a type that is not in it.
  std::optional<int64_t> ttl_ms;  // As PTTL says; none when the key does not expire.

  friend bool operator==(const KeyspaceEntry& a, const KeyspaceEntry& b) = default;
};

// By key, in the order of bytes.
using Keyspace = std::map<std::string, KeyspaceEntry>;

// Reads the database that the connection has selected: SCAN, then TYPE and PTTL of all keys in one
// pipeline, then their values in another. Keys that expire meanwhile are left out. It reads keys
// that it counts, so on a server in use it is no snapshot. Errors: those of the store, or the first
// error reply.
base::Task<absl::StatusOr<Keyspace>> DumpKeyspace(store::Store& store);

// An object by encoded key: {"k": {"type": "string", "value": "v", "ttl_ms": 70000}}; "ttl_ms" is
// left out when the key does not expire.
Json KeyspaceToJson(const Keyspace& keyspace);

// Returns a value of `type` in the one form of the table: byte strings normalized, sets and hashes
// sorted. InvalidArgument, with the path of what is wrong below `path`, when `value` is not of that
// form or the type is unknown.
absl::StatusOr<Json> NormalizeValue(std::string_view type, const Json& value,
                                    std::string_view path);

}  // namespace redouble::sim

#endif  // REDOUBLE_SIM_SCENARIO_KEYSPACE_H_
