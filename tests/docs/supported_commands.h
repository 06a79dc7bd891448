// The list of the commands that the engine has, for people: docs/commands.md.
#ifndef REDOUBLE_TESTS_DOCS_SUPPORTED_COMMANDS_H_
#define REDOUBLE_TESTS_DOCS_SUPPORTED_COMMANDS_H_

#include <string>

namespace redouble::tests {

// The page, from the command table: a section for each group, a row for each command.
std::string SupportedCommandsPage();

}  // namespace redouble::tests

#endif  // REDOUBLE_TESTS_DOCS_SUPPORTED_COMMANDS_H_
