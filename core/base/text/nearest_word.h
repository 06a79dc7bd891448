// Suggestions for misspelt names: options, subcommands, fields of files.
//
//   DidYouMean("exprie", {"expire", "persist"})   // "; did you mean \"expire\"?"
//   DidYouMean("zebra", {"expire", "persist"})    // ""
//
// Thread-safety: pure functions.
#ifndef REDOUBLE_CORE_BASE_TEXT_NEAREST_WORD_H_
#define REDOUBLE_CORE_BASE_TEXT_NEAREST_WORD_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redouble::inline v0_1::base {

// Returns the candidate with the fewest edits from `word`: an insertion, a removal, a replacement,
// or an exchange of two neighbors. Case is ignored. The first of several equally near candidates
// wins. Nullopt if every candidate is more than a third of the word's length, and more than one
// edit, away, or shares no letter with the word.
std::optional<std::string> NearestWord(std::string_view word,
                                       const std::vector<std::string>& candidates);

// Returns the nearest word as a suggestion to append to an error message, as in the example; empty
// if no candidate is near.
std::string DidYouMean(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace redouble::inline v0_1::base

#endif  // REDOUBLE_CORE_BASE_TEXT_NEAREST_WORD_H_
