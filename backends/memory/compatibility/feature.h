// Feature: a behavior that depends on the version that an engine answers as.
//
// A row of features.inc has its name, the versions that have it, and what it does. Handlers ask for
// a feature, never for a version:
//
//   if (context.engine().Has(Feature::kClientLibrary)) absl::StrAppend(&line, " lib-name=");
//
// To add one: a row, the code that asks for it, and a conformance case that a judge answers
// (docs/versions.md).
//
// Thread-safety: constants.
#ifndef REDOUBLE_BACKENDS_MEMORY_COMPATIBILITY_FEATURE_H_
#define REDOUBLE_BACKENDS_MEMORY_COMPATIBILITY_FEATURE_H_

#include <cstddef>
#include <cstdint>

namespace redouble::inline v0_1::memory {

enum class Feature : uint8_t {
#define REDOUBLE_FEATURE(id, ...) k##id,
#include "redouble/backends/memory/compatibility/features.inc"
#undef REDOUBLE_FEATURE
};

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_COMPATIBILITY_FEATURE_H_
