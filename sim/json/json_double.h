// JsonDouble: doubles in JSON, with those that JSON numbers cannot express.
//
// Replies of operations, scores and times of reports are doubles, and a score may be infinite:
//
//   json["score"] = sim::JsonDouble(score);  // 0.5, "NaN", "inf" or "-inf"
//
// ArgumentReader::Double reads both forms.
//
// Thread-safety: pure functions.
#ifndef REDOUBLE_SIM_JSON_JSON_DOUBLE_H_
#define REDOUBLE_SIM_JSON_JSON_DOUBLE_H_

#include "redouble/sim/json/json.h"

namespace redouble::inline v0_1::sim {

// Returns a double as JSON: a number, or "NaN", "inf" or "-inf".
Json JsonDouble(double value);

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_JSON_JSON_DOUBLE_H_
