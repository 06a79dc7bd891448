// The JSON type of the simulator: an object keeps its members in the order of insertion.
//
// Scenarios, worlds, traces and reports are written and compared as text, so the order of members
// must not depend on a hash or on the alphabet:
//
//   sim::Json row;
//   row["key"] = "user:1";
//   row["ttl_ms"] = 1500;
//   row.dump();  // {"key":"user:1","ttl_ms":1500}
//
// Thread-safety: a value; const use from several threads is safe.
#ifndef REDOUBLE_SIM_JSON_JSON_H_
#define REDOUBLE_SIM_JSON_JSON_H_

#include "nlohmann/json.hpp"
#include "redouble/core/base/json/json_reading.h"

namespace redouble::inline v0_1::sim {

using base::Json;

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_JSON_JSON_H_
