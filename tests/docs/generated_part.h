// The generated part of a page that is otherwise written by hand. It is between two marker lines:
//
//   <!-- generated: keys gateway -->
//   <!-- end -->
//
// Thread-safety: free functions on values.
#ifndef REDOUBLE_TESTS_DOCS_GENERATED_PART_H_
#define REDOUBLE_TESTS_DOCS_GENERATED_PART_H_

#include <string>
#include <string_view>

namespace redouble::inline v0_1::tests {

// Returns the page with `part` between the markers of `name`; the page unchanged if it has no
// markers of that name.
std::string WithGeneratedPart(std::string_view page, std::string_view name, std::string_view part);

// Returns the text of a table's cell.
std::string Cell(std::string_view text);

}  // namespace redouble::inline v0_1::tests

#endif  // REDOUBLE_TESTS_DOCS_GENERATED_PART_H_
