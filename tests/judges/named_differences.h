// Where the engine tells other tables than a server of its version, and why: the rows of
// named_differences.inc, from which docs/version_tables.md is made.
//
// Thread-safety: constants and pure functions.
#ifndef REDOUBLE_TESTS_JUDGES_NAMED_DIFFERENCES_H_
#define REDOUBLE_TESTS_JUDGES_NAMED_DIFFERENCES_H_

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "redouble/core/store/table/version.h"

namespace redouble::inline v0_1::tests {

struct NamedDifference {
  store::VersionSet versions;
  // Names of facts (server_tables.h), or "case" and the title of a conformance case, separated by
  // ", ".
  std::string_view facts;
  std::string_view why;
};

// All rows, in the order of the table.
std::span<const NamedDifference> NamedDifferences();

// The names of the facts of a row.
std::vector<std::string> FactsOf(const NamedDifference& row);

// The facts of all rows for a version: those of conformance cases, or the others.
enum class FactKind : uint8_t { kTable, kCase };
std::set<std::string> NamedFacts(store::Version version, FactKind kind);

}  // namespace redouble::inline v0_1::tests

#endif  // REDOUBLE_TESTS_JUDGES_NAMED_DIFFERENCES_H_
