// Between a scenario's JSON and the values of core/python, for the operations of relayna and
// studio.
//
// Thread-safety: free functions.
#ifndef REDOUBLE_SCENARIOS_OPERATIONS_PYTHON_JSON_H_
#define REDOUBLE_SCENARIOS_OPERATIONS_PYTHON_JSON_H_

#include <optional>

#include "core/python/value.h"
#include "sim/scenario/operation.h"

namespace redouble::scenarios {

// Integers beyond 64 bits are floats in a scenario.
python::Value ToValue(const sim::Json& json);
// A date-time as pydantic writes it; NaN and what no JSON can hold as null.
sim::Json ToJson(const python::Value& value);
sim::Json ToJson(const std::optional<std::string>& text);

}  // namespace redouble::scenarios

#endif  // REDOUBLE_SCENARIOS_OPERATIONS_PYTHON_JSON_H_
