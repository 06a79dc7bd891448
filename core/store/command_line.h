// CommandLine: a command as a person would type it into redis-cli, for messages and logs of tests.
//
//   const std::string_view words[] = {"SET", "greeting", "hello world"};
//   CommandLine(words)   // SET greeting "hello world"
//
// Command::DebugString quotes every argument; this quotes only words that need it.
//
// Thread-safety: pure functions.
#ifndef REDOUBLE_CORE_STORE_COMMAND_LINE_H_
#define REDOUBLE_CORE_STORE_COMMAND_LINE_H_

#include <span>
#include <string>
#include <string_view>

namespace redouble::inline v0_1::store {

// Returns the words, separated by blanks. A word that is empty, or has a blank, a quotation mark or
// a byte outside printable ASCII, is quoted as QuoteBytes does.
std::string CommandLine(std::span<const std::string_view> words);
std::string CommandLine(std::span<const std::string> words);

}  // namespace redouble::inline v0_1::store

#endif  // REDOUBLE_CORE_STORE_COMMAND_LINE_H_
