// ReadHistory: reads a Redis list whose elements are JSON texts.
//
// The status store and the observation store keep their histories in such lists. For the stores of
// this folder only.
//
// Thread-safety: a free function without state.
// Source: docs/systems/relayna.md 4.2.
#ifndef REDOUBLE_CORE_RELAYNA_HISTORY_H_
#define REDOUBLE_CORE_RELAYNA_HISTORY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/python/value.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::relayna {

// Returns the values of the first `limit` elements; a limit of 0 or less returns one element. One
// round trip (LRANGE). Errors: those of python::ParseJson for any element, and those of the store.
base::Task<absl::StatusOr<std::vector<python::Value>>> ReadHistory(store::Store& store,
                                                                   std::string list, int64_t limit);

}  // namespace redouble::inline v0_1::relayna

#endif  // REDOUBLE_CORE_RELAYNA_HISTORY_H_
