// The key tables of docs/systems/*.md, generated from the KeyFamily rows of the systems.
//
// The table of a page is its generated part "keys SYSTEM" (generated_part.h). The patterns in both
// layouts are its part "layouts SYSTEM", if the system has a cluster layout.
//
// Thread-safety: free functions on values.
#ifndef REDOUBLE_TESTS_DOCS_KEY_TABLES_H_
#define REDOUBLE_TESTS_DOCS_KEY_TABLES_H_

#include <string>
#include <string_view>

namespace redouble::inline v0_1::tests {

// Returns the page with newly generated tables of `system` between their markers; the page
// unchanged if it has no markers of that system.
std::string WithKeyTable(std::string_view page, std::string_view system);

}  // namespace redouble::inline v0_1::tests

#endif  // REDOUBLE_TESTS_DOCS_KEY_TABLES_H_
