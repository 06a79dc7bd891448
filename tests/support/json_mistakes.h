// ForEachMistake: variants of a JSON document with one wrong value each.
//
// Use it to test that the reader of a file format either reports a wrong value or ignores it, and
// never crashes:
//
//   ForEachMistake(good, [&](const sim::Json& bad) { Parse(bad.dump()); });
//
// Thread-safety: a pure function.
#ifndef REDOUBLE_TESTS_SUPPORT_JSON_MISTAKES_H_
#define REDOUBLE_TESTS_SUPPORT_JSON_MISTAKES_H_

#include <functional>

#include "redouble/sim/operations/operation.h"

namespace redouble::inline v0_1::tests {

// Calls `visit` with copies of `good` in which one value is replaced. Replaces each value in turn
// by null, true, a negative number, a number above all integers, a fraction, an empty text, a text
// that is not an encoding of bytes (sim/json/bytes.h), a meaningless text, an empty array and
// an empty object: about 10 calls for each value of `good`.
void ForEachMistake(const sim::Json& good, const std::function<void(const sim::Json&)>& visit);

}  // namespace redouble::inline v0_1::tests

#endif  // REDOUBLE_TESTS_SUPPORT_JSON_MISTAKES_H_
