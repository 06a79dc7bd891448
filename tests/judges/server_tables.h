// What a server reports of its own tables, COMMAND, COMMAND DOCS and CONFIG GET *, as facts that
// can be compared one by one.
//
//   const ServerTables theirs = TablesOf(judge);
//   const ServerTables ours = TablesOf(engine);
//   DifferencesBetween(theirs, ours);  // {"parameter hz": {"10", "20"}}
//
// A fact is named "command get", "command get flags", "docs get summary" or "parameter hz".
//
// Thread-safety: free functions; one thread for a target.
#ifndef REDOUBLE_TESTS_JUDGES_SERVER_TABLES_H_
#define REDOUBLE_TESTS_JUDGES_SERVER_TABLES_H_

#include <map>
#include <string>

#include "redouble/tests/support/target/target.h"

namespace redouble::inline v0_1::tests {

// The facts by their names.
using ServerTables = std::map<std::string, std::string>;

// Asks a target that speaks RESP3.
ServerTables TablesOf(Target& target);

struct FactDifference {
  std::string theirs;  // "(missing)" if there is no such fact.
  std::string ours;
};

// Returns the facts that differ, by their names. Of a command that one side lacks, only that it is
// missing.
std::map<std::string, FactDifference> DifferencesBetween(const ServerTables& theirs,
                                                         const ServerTables& ours);

}  // namespace redouble::inline v0_1::tests

#endif  // REDOUBLE_TESTS_JUDGES_SERVER_TABLES_H_
