// Words: a command as a person types it into redis-cli, and back.
//
// Conformance cases and the reports of the differential tests write commands as one line. Words are
// separated by blanks; "double quotes" keep blanks and know \n \r \t \b \a \\ \" and \xhh, so that
// any byte can be written; 'single quotes' keep everything but \'.
//
//   SplitWords(R"(SET key "a\x00b")").value()   // {"SET", "key", std::string("a\0b", 3)}
//   JoinWords({"SET", "key", "a b"})            // SET key "a b"
//
// Source: redis-cli 7.0, sdssplitargs.
#ifndef REDOUBLE_TESTS_SUPPORT_WORDS_H_
#define REDOUBLE_TESTS_SUPPORT_WORDS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace redouble::tests {

// A command: its name and its arguments.
using Words = std::vector<std::string>;

// Errors: InvalidArgument for a quote that is not closed, or that more than a blank follows.
absl::StatusOr<Words> SplitWords(std::string_view line);

// The shortest line that SplitWords takes apart into `words` again: a word is quoted only where it
// has to be.
std::string JoinWords(const Words& words);

}  // namespace redouble::tests

#endif  // REDOUBLE_TESTS_SUPPORT_WORDS_H_
