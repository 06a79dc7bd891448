// The options of the live backend, for people: docs/live_options.md.
#ifndef REDOUBLE_TESTS_DOCS_LIVE_OPTIONS_H_
#define REDOUBLE_TESTS_DOCS_LIVE_OPTIONS_H_

#include <string>

namespace redouble::tests {

// The page, from the table of options.
std::string LiveOptionsPage();

}  // namespace redouble::tests

#endif  // REDOUBLE_TESTS_DOCS_LIVE_OPTIONS_H_
