// The conformance files, where they are found at run time.
#ifndef REDOUBLE_TESTS_CONFORMANCE_CASE_FILES_H_
#define REDOUBLE_TESTS_CONFORMANCE_CASE_FILES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace redouble::tests {

// Paths of all tests/conformance/FOLDER/*.txt, sorted.
std::vector<std::string> CaseFiles(const std::string& folder = "cases");

// "strings" of ".../cases/strings.txt".
std::string GroupOf(const std::string& path);

// Errors: NotFound when the file cannot be read.
absl::StatusOr<std::string> ReadFile(const std::string& path);

}  // namespace redouble::tests

#endif  // REDOUBLE_TESTS_CONFORMANCE_CASE_FILES_H_
