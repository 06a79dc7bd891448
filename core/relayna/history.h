// Reads a list of JSON texts: the histories of tasks.
//
// For the stores of this folder. Thread-safety: free functions.
#ifndef REDOUBLE_CORE_RELAYNA_HISTORY_H_
#define REDOUBLE_CORE_RELAYNA_HISTORY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "core/base/task.h"
#include "core/python/value.h"
#include "core/store/store.h"

namespace redouble::relayna {

// The values of the first `limit` elements of a list, of one element when it is 0 or less. One
// round trip. Errors: those of python::ParseJson for any of the elements; those of the store.
base::Task<absl::StatusOr<std::vector<python::Value>>> ReadHistory(store::Store& store,
                                                                   std::string list, int64_t limit);

}  // namespace redouble::relayna

#endif  // REDOUBLE_CORE_RELAYNA_HISTORY_H_
