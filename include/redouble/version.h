// The version of Redouble, and the check that the language is C++20.
//
// Versions follow Semantic Versioning: before 1.0.0, a new minor version may change the interface;
// CHANGELOG.md says how.
//
//   static_assert(REDOUBLE_VERSION_NUMBER >= 100, "needs Redouble 0.1.0");
//
// Thread-safety: constants.
#ifndef REDOUBLE_VERSION_H_
#define REDOUBLE_VERSION_H_

#define REDOUBLE_VERSION_MAJOR 0
#define REDOUBLE_VERSION_MINOR 1
#define REDOUBLE_VERSION_PATCH 0
#define REDOUBLE_VERSION_STRING "0.1.0"
// 0.1.0 is 100, 2.3.4 is 20304.
#define REDOUBLE_VERSION_NUMBER \
  (REDOUBLE_VERSION_MAJOR * 10000 + REDOUBLE_VERSION_MINOR * 100 + REDOUBLE_VERSION_PATCH)

// The other public headers are empty without it, so that an older language gives one error.
#if __cplusplus >= 202002L
#define REDOUBLE_HAS_CPP20 1
#else
#define REDOUBLE_HAS_CPP20 0
#error "Redouble needs C++20: compile with -std=c++20"
#endif

#endif  // REDOUBLE_VERSION_H_
