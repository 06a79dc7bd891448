// The keys of an engine as JSON, and back.
//
//   {"functions": ["#!lua name=one\n..."],
//    "keys": [{"db": 0, "key": "a", "type": "string", "value": "1", "expires_at_ms":
//    1700000000000},
//             {"db": 0, "key": "s", "type": "set", "value": ["1", "2"]},
//             {"db": 0, "key": "z", "type": "zset", "value": [["member", "1.5"]]},
//             {"db": 0, "key": "h", "type": "hash", "value": [["field", "value"]],
//              "fields_expire_at_ms": [["field", 1700000000000]]},
//             {"db": 0, "key": "x", "type": "stream", "value": {"entries": [["1-1", "f", "v"]],
//              "last_id": "1-1", "entries_added": 1, "max_deleted_id": "0-0", "groups": [...]}}]}
//
// Strings are in the format of sim/json/bytes.h. Elements come in the engine's order.
//
// Thread-safety: the engine's.
#ifndef REDOUBLE_SIM_CLI_CONVERT_KEYS_JSON_H_
#define REDOUBLE_SIM_CLI_CONVERT_KEYS_JSON_H_

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "redouble/backends/memory/engine/engine.h"

namespace redouble::inline v0_1::sim {

// Ends with a newline. Linear in the size of the data, all of which is in memory as JSON meanwhile.
std::string KeysJson(memory::Engine& engine);

// Replaces the engine's keys and functions. Errors: InvalidArgument with the place in the text and
// what was expected there. After an error the engine has a part of the keys.
absl::Status LoadKeysJson(std::string_view text, memory::Engine& engine);

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_CLI_CONVERT_KEYS_JSON_H_
