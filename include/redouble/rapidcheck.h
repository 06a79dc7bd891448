// RapidCheck generators for keys, values and commands.
//
//   RC_GTEST_PROP(Cart, AgreesWithAMap, ()) {
//     redouble::testing::Redis redis;
//     const auto commands = *rc::gen::container<std::vector<Words>>(Commands({"hash"}));
//     ...
//   }
//
// It is separate from redouble/testing.h because it requires RapidCheck.
//
// Thread-safety: pure functions.
#ifndef REDOUBLE_RAPIDCHECK_H_
#define REDOUBLE_RAPIDCHECK_H_

#include "redouble/version.h"

#if REDOUBLE_HAS_CPP20

#include "redouble/sim/testing/generators.h"

#endif  // REDOUBLE_HAS_CPP20

#endif  // REDOUBLE_RAPIDCHECK_H_
