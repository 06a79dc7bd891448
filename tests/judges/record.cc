// Records how the judges answer the conformance files where they differ from redis-server 7.0.15:
//
//   tools/judges
//   REDOUBLE_JUDGES=~/.cache/redouble/judges bazel run //tests/judges:record
//
// Writes tests/judges/differences/JUDGE/GROUP.txt, and inventory.txt of commands and parameters. A
// group without differences has no file. Read the difference before committing it.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <optional>
#include <string>

#include "redouble/tests/conformance/case_files.h"
#include "redouble/tests/conformance/script.h"
#include "redouble/tests/judges/judges.h"

namespace redouble::tests {
namespace {

// Writes the file, or removes it if the text is empty.
bool Write(const std::filesystem::path& file, const std::string& text) {
  if (text.empty()) {
    std::filesystem::remove(file);
    return true;
  }
  if (std::ofstream(file, std::ios::binary) << text) return true;
  std::cerr << "cannot write " << file << "\n";
  return false;
}

bool Record(const std::string& name, const std::string& program,
            const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  bool written = Write(folder / "inventory.txt", InventoryOf(program));
  for (const std::string& path : CaseFiles()) {
    const std::string group = GroupOf(path);
    if (!IsJudged(group)) continue;
    const Script script = ParseScript(ReadFile(path).value()).value();
    written = Write(folder / (group + ".txt"), DifferencesOf(script, program)) && written;
    std::cout << name << " " << group << "\n";
  }
  return written;
}

int Main() {
  const char* workspace = std::getenv("BUILD_WORKSPACE_DIRECTORY");
  if (workspace == nullptr) {
    std::cerr << "to be run by bazel run\n";
    return 2;
  }
  const std::filesystem::path root = std::filesystem::path(workspace) / "tests/judges/differences";
  bool recorded = true;
  for (const std::string& name : JudgeNames()) {
    const std::optional<std::string> program = JudgeProgram(name);
    if (!program.has_value()) {
      std::cerr << name << " is not there: run tools/judges and set REDOUBLE_JUDGES\n";
      recorded = false;
      continue;
    }
    recorded = Record(name, *program, root / name) && recorded;
  }
  return recorded ? 0 : 1;
}

}  // namespace
}  // namespace redouble::tests

int main() { return redouble::tests::Main(); }
