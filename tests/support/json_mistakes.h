// JSON files with one mistake each: whatever stands at the wrong place of a file, its reader must
// say so or carry on, and never break.
//
//   ForEachMistake(good, [&](const sim::Json& bad) { Parse(bad.dump()); });
//
// Thread-safety: a pure function.
#ifndef REDOUBLE_TESTS_SUPPORT_JSON_MISTAKES_H_
#define REDOUBLE_TESTS_SUPPORT_JSON_MISTAKES_H_

#include <functional>

#include "sim/scenario/operation.h"

namespace redouble::tests {

// Calls `visit` with `good` in which one value, at each place in turn, is each of: null, true,
// numbers below 0, beyond every integer and with a fraction, texts that are empty, that are no
// encoded bytes (sim/scenario/bytes.h) or mean nothing, an empty array and an empty object. Some
// 10 times as many calls as `good` has values.
void ForEachMistake(const sim::Json& good, const std::function<void(const sim::Json&)>& visit);

}  // namespace redouble::tests

#endif  // REDOUBLE_TESTS_SUPPORT_JSON_MISTAKES_H_
