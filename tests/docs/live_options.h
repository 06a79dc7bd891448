// The page docs/live_options.md: the options of the live backend.
//
// tests/docs/write_pages.cc writes the page; a test fails if it is out of date.
//
// Thread-safety: a pure function.
#ifndef REDOUBLE_TESTS_DOCS_LIVE_OPTIONS_H_
#define REDOUBLE_TESTS_DOCS_LIVE_OPTIONS_H_

#include <string>

namespace redouble::inline v0_1::tests {

// The page, generated from the table of options.
std::string LiveOptionsPage();

}  // namespace redouble::inline v0_1::tests

#endif  // REDOUBLE_TESTS_DOCS_LIVE_OPTIONS_H_
