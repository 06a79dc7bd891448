// Converts between the JSON of scenarios and the values of core/python, for the operations of
// relayna and studio.
//
//   const python::Value event = ToValue(reader.Any("event"));
//
// A scenario's JSON lacks datetimes, so that a value that is written and read again has text
// instead.
//
// Thread-safety: free functions.
#ifndef REDOUBLE_SIM_OPERATIONS_PYTHON_JSON_H_
#define REDOUBLE_SIM_OPERATIONS_PYTHON_JSON_H_

#include <optional>

#include "redouble/core/python/value.h"
#include "redouble/sim/operations/operation.h"

namespace redouble::inline v0_1::scenarios {

// Returns `json` as a Python value. Integers beyond 64 bits are floats in a scenario.
python::Value ToValue(const sim::Json& json);
// Returns `value` as JSON: a datetime in pydantic's format; null for NaN and for values that JSON
// does not have.
sim::Json ToJson(const python::Value& value);
sim::Json ToJson(const std::optional<std::string>& text);

}  // namespace redouble::inline v0_1::scenarios

#endif  // REDOUBLE_SIM_OPERATIONS_PYTHON_JSON_H_
