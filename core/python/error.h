// Errors as values that remember which Python exception the original system raises.
//
// Why it exists: callers of the documented systems, and what was recorded of them, tell errors
// apart by the exception's class; a Status code is coarser. The class travels as a payload, the
// message is the exception's own.
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

namespace redouble::python {

// A status of `code`, which must not be OK, that remembers `type`, the name of a class.
absl::Status Error(absl::StatusCode code, std::string_view type, std::string_view message);

// InvalidArgument: what the caller handed over has the wrong type, or the wrong value.
absl::Status TypeError(std::string_view message);
absl::Status ValueError(std::string_view message);
// InvalidArgument: what was read, or handed over, does not have the model's shape (pydantic). The
// class is authoritative, the message is ours.
absl::Status ValidationError(std::string_view message);

// The class that `status` remembers; none for a status that was not made here, as Redis's own.
std::optional<std::string> ErrorType(const absl::Status& status);

}  // namespace redouble::python

#endif  // REDOUBLE_CORE_PYTHON_ERROR_H_
