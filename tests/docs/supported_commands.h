// The page docs/commands.md: the commands that the engine supports.
//
// tests/docs/write_pages.cc writes the page; a test fails if it is out of date.
//
// Thread-safety: a pure function.
#ifndef REDOUBLE_TESTS_DOCS_SUPPORTED_COMMANDS_H_
#define REDOUBLE_TESTS_DOCS_SUPPORTED_COMMANDS_H_

#include <string>

namespace redouble::inline v0_1::tests {

// The page, generated from the command table: a section for each group, a row for each command.
std::string SupportedCommandsPage();

}  // namespace redouble::inline v0_1::tests

#endif  // REDOUBLE_TESTS_DOCS_SUPPORTED_COMMANDS_H_
