// The tables of promises in docs/systems/*.md, generated from the storms of the systems.
//
// The table of a page is its generated part "promises SYSTEM" (generated_part.h).
//
// Thread-safety: free functions on values.
#ifndef REDOUBLE_TESTS_DOCS_PROMISE_TABLES_H_
#define REDOUBLE_TESTS_DOCS_PROMISE_TABLES_H_

#include <string>
#include <string_view>

#include "redouble/sim/storm/storm.h"

namespace redouble::inline v0_1::tests {

// Returns the page with a newly generated table of the system between its markers; the page
// unchanged if it has no markers of that system.
std::string WithPromiseTable(std::string_view page, const sim::StormSystem& system);

}  // namespace redouble::inline v0_1::tests

#endif  // REDOUBLE_TESTS_DOCS_PROMISE_TABLES_H_
