// docs/version_tables.md: for each version that an engine can answer as, what it has in addition to
// Redis 7.0, and where its tables differ from those of a server of that version.
//
// It is made of the command table, of the engine's features and of the named differences
// (tests/judges/named_differences.inc).
//
// Thread-safety: a pure function.
#ifndef REDOUBLE_TESTS_DOCS_VERSION_TABLES_H_
#define REDOUBLE_TESTS_DOCS_VERSION_TABLES_H_

#include <string>

namespace redouble::inline v0_1::tests {

std::string VersionTablesPage();

}  // namespace redouble::inline v0_1::tests

#endif  // REDOUBLE_TESTS_DOCS_VERSION_TABLES_H_
