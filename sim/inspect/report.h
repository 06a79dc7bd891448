// Formats an inspection: a table for a terminal, JSON for programs.
//
//   std::cout << InspectionTable(found);
//
//   FAMILY                TYPE    KEYS  SIZE  LARGEST  TTL               NO TTL
//   gateway.request_rate  string  2     2 B   1 B      10 s .. 1 min 10  0
//   ...
//   3 keys, 1 anomaly
//   missing_ttl (1)
//     "rl:req:..."  never expires; gateway.request_rate: set by every check
//
// Thread-safety: free functions.
#ifndef REDOUBLE_SIM_INSPECT_REPORT_H_
#define REDOUBLE_SIM_INSPECT_REPORT_H_

#include <string>

#include "redouble/sim/inspect/inspect.h"

namespace redouble::inline v0_1::sim {

// Returns the table. Keys are in the format of sim/json/bytes.h. Ends with a newline.
std::string InspectionTable(const Inspection& inspection);

// Returns an object: "keys"; "families", an array of objects with "family", "system", "type",
// "keys", "size", "unit" ("bytes" or "elements"), "largest", "largest_key", "without_ttl" and
// "ttl_ms" (null or {"shortest", "longest"}); "anomalies", for each kind an object with "count" and
// "listed", an array of objects with "key" and "message". Ends with a newline.
std::string InspectionJson(const Inspection& inspection);

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_INSPECT_REPORT_H_
