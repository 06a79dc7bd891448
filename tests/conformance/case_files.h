// The conformance files that a test finds in its runfiles.
//
//   for (const std::string& path : CaseFiles()) ParseScript(ReadFile(path).value());
//
// Thread-safety: free functions.
#ifndef REDOUBLE_TESTS_CONFORMANCE_CASE_FILES_H_
#define REDOUBLE_TESTS_CONFORMANCE_CASE_FILES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace redouble::inline v0_1::tests {

// The paths of all tests/conformance/FOLDER/*.txt, sorted.
std::vector<std::string> CaseFiles(const std::string& folder = "cases");

// The file's name without folder and extension: "strings" for ".../cases/strings.txt".
std::string GroupOf(const std::string& path);

// Returns NotFound if the file cannot be read.
absl::StatusOr<std::string> ReadFile(const std::string& path);

}  // namespace redouble::inline v0_1::tests

#endif  // REDOUBLE_TESTS_CONFORMANCE_CASE_FILES_H_
