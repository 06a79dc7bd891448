// The generated tables of docs/compatibility.md: commands with a limited effect, all parameters of
// Redis, and all subcommands of DEBUG.
//
// What the engine and `redouble serve` do is found by trying it. Only the reasons are written down.
//
// Thread-safety: free functions; one thread for a target.
#ifndef REDOUBLE_TESTS_DOCS_COMPATIBILITY_H_
#define REDOUBLE_TESTS_DOCS_COMPATIBILITY_H_

#include <string>
#include <string_view>
#include <vector>

#include "redouble/tests/support/target/target.h"

namespace redouble::inline v0_1::tests {

// Returns the page with newly generated parts "commands", "parameters" and "debug".
std::string WithCompatibilityTables(std::string_view page);

// Returns the parameters and subcommands that do not behave as in Redis and have no reason, and the
// reasons that belong to none. Empty if the tables are complete.
std::vector<std::string> IncompleteReasons();

// The names in the tables, sorted.
std::vector<std::string> ParametersOfRedis();
std::vector<std::string> DebugSubcommandsOfRedis();

// The subcommands that DEBUG HELP of `target` lists, sorted.
std::vector<std::string> DebugSubcommandsOf(Target& target);

}  // namespace redouble::inline v0_1::tests

#endif  // REDOUBLE_TESTS_DOCS_COMPATIBILITY_H_
