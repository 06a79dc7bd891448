// ScoreOf: the score that an element of a listpack holds.
//
// A sorted set in a listpack has each member followed by its score, as an integer or as the text of
// a double. Sorted sets and the reader of RDB files use this.
//
//   const std::optional<double> score = ScoreOf(listpack.Get(at));
//
// Thread-safety: a pure function.
#ifndef REDOUBLE_BACKENDS_MEMORY_VALUES_ENCODINGS_LISTPACK_SCORE_H_
#define REDOUBLE_BACKENDS_MEMORY_VALUES_ENCODINGS_LISTPACK_SCORE_H_

#include <optional>

#include "redouble/backends/memory/values/encodings/listpack.h"
#include "redouble/core/base/text/redis_number.h"

namespace redouble::inline v0_1::memory {

// Returns nullopt if the element is not a number that ZADD accepts.
inline std::optional<double> ScoreOf(const ListpackValue& value) {
  if (value.is_integer()) return static_cast<double>(value.integer());
  return base::ParseDouble(value.text());
}

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_VALUES_ENCODINGS_LISTPACK_SCORE_H_
