// Statuses that carry the class of the Python exception that the original system raises.
//
// Callers of the documented systems, and the recorded goldens, distinguish errors by the class of
// the exception, which is finer than a status code. The class is a payload of the status; the
// message is the exception's.
//
//   absl::Status status = python::TypeError("Object of type set is not JSON serializable");
//   python::ErrorType(status)   // "TypeError"
//
// Thread-safety: free functions on values.
#ifndef REDOUBLE_CORE_PYTHON_ERROR_H_
#define REDOUBLE_CORE_PYTHON_ERROR_H_

#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace redouble::inline v0_1::python {

// Returns a status with `code`, which must not be OK, and the exception class `type`.
absl::Status Error(absl::StatusCode code, std::string_view type, std::string_view message);

// Return InvalidArgument for an argument with the wrong type, or with the wrong value.
absl::Status TypeError(std::string_view message);
absl::Status ValueError(std::string_view message);
// Returns InvalidArgument for data that does not match its pydantic model. The message is not
// pydantic's.
absl::Status ValidationError(std::string_view message);

// Returns the exception class of `status`, or nullopt if it has none, as the errors of Redis.
std::optional<std::string> ErrorType(const absl::Status& status);

}  // namespace redouble::inline v0_1::python

#endif  // REDOUBLE_CORE_PYTHON_ERROR_H_
