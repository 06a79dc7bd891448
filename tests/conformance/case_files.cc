#include "redouble/tests/conformance/case_files.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"

namespace redouble::inline v0_1::tests {

std::vector<std::string> CaseFiles(const std::string& folder) {
  std::vector<std::string> paths;
  // Bazel runs a test in its runfiles, at the root of the workspace.
  for (const auto& entry : std::filesystem::directory_iterator("tests/conformance/" + folder)) {
    if (entry.path().extension() == ".txt") paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::string GroupOf(const std::string& path) { return std::filesystem::path(path).stem().string(); }

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (!(text << file.rdbuf())) return absl::NotFoundError(absl::StrCat("cannot read ", path));
  return text.str();
}

}  // namespace redouble::inline v0_1::tests
