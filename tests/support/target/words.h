// Words: converts between a command line of redis-cli and a list of words.
//
// Conformance cases and reports of the differential tests write a command as one line. Words are
// separated by spaces. "Double quotes" may contain spaces and the escapes \n \r \t \b \a \\ \" and
// \xhh, so that any byte can be written; in 'single quotes' the only escape is \'.
//
//   SplitWords(R"(SET key "a\x00b")").value()   // {"SET", "key", std::string("a\0b", 3)}
//   JoinWords({"SET", "key", "a b"})            // SET key "a b"
//
// Thread-safety: pure functions.
// Source: redis-cli 7.0, sdssplitargs.
#ifndef REDOUBLE_TESTS_SUPPORT_TARGET_WORDS_H_
#define REDOUBLE_TESTS_SUPPORT_TARGET_WORDS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace redouble::inline v0_1::tests {

// A command: its name and its arguments.
using Words = std::vector<std::string>;

// Splits a line into words. Errors: InvalidArgument for a quote that is not closed, or that is
// followed by anything but a space.
absl::StatusOr<Words> SplitWords(std::string_view line);

// Returns the shortest line that SplitWords splits into `words`; quotes a word only if necessary.
std::string JoinWords(const Words& words);

}  // namespace redouble::inline v0_1::tests

#endif  // REDOUBLE_TESTS_SUPPORT_TARGET_WORDS_H_
