// Records how the judges answer the conformance files where they differ from redis-server 7.0.15:
//
//   tools/judges
//   REDOUBLE_JUDGES=~/.cache/redouble/judges bazel run //tests/judges:record
//
// Writes tests/judges/differences/JUDGE/GROUP.txt, and inventory.txt of commands and parameters.
// Then writes tests/judges/remaining/JUDGE/GROUP.txt: where the engine, with the compatibility of
// that name, differs from the judge. A group without differences has no file. Read the difference
// before committing it.
//
// With --remaining, only the latter, from the recorded files; no judge is needed.
//
// The files of tests/conformance/versions/JUDGE get that judge's replies; with --versions only
// they.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

#include "redouble/core/store/table/version.h"
#include "redouble/tests/conformance/case_files.h"
#include "redouble/tests/conformance/script.h"
#include "redouble/tests/judges/judges.h"

namespace redouble::inline v0_1::tests {
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

std::string TextOf(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// What the engine does not do yet.
bool RecordRemaining(const std::string& name, const std::filesystem::path& judges) {
  const std::filesystem::path folder = judges / "remaining" / name;
  std::filesystem::create_directories(folder);
  bool written = true;
  for (const std::string& path : CaseFiles()) {
    const std::string file = GroupOf(path) + ".txt";
    if (!IsJudged(GroupOf(path))) continue;
    const Script script = ParseScript(ReadFile(path).value()).value();
    const std::string differences = TextOf(judges / "differences" / name / file);
    written =
        Write(folder / file, RemainingOf(script, differences, store::VersionNamed(name).value())) &&
        written;
  }
  return written;
}

// The cases of later versions, in the file itself.
bool RecordVersionCases(const std::string& name, const std::string& program,
                        const std::filesystem::path& workspace) {
  bool written = true;
  for (const std::string& path : CaseFiles("versions/" + name)) {
    const Script script = ParseScript(ReadFile(path).value()).value();
    written =
        Write(workspace / path, AnswerOfJudge(script, program, IsForCluster(GroupOf(path)))) &&
        written;
    std::cout << name << " " << path << "\n";
  }
  return written;
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

int Main(bool only_remaining, bool only_versions) {
  const char* workspace = std::getenv("BUILD_WORKSPACE_DIRECTORY");
  if (workspace == nullptr) {
    std::cerr << "to be run by bazel run\n";
    return 2;
  }
  const std::filesystem::path root = std::filesystem::path(workspace) / "tests/judges";
  bool recorded = true;
  for (const std::string& name : JudgeNames()) {
    if (only_remaining) {
      recorded = RecordRemaining(name, root) && recorded;
      continue;
    }
    const std::optional<std::string> program = JudgeProgram(name);
    if (!program.has_value()) {
      std::cerr << name << " is not there: run tools/judges and set REDOUBLE_JUDGES\n";
      recorded = false;
      continue;
    }
    recorded = RecordVersionCases(name, *program, workspace) && recorded;
    if (only_versions) continue;
    recorded = Record(name, *program, root / "differences" / name) && recorded;
    recorded = RecordRemaining(name, root) && recorded;
  }
  return recorded ? 0 : 1;
}

}  // namespace
}  // namespace redouble::inline v0_1::tests

int main(int argc, char** argv) {
  const bool only_remaining = argc == 2 && std::string_view(argv[1]) == "--remaining";
  const bool only_versions = argc == 2 && std::string_view(argv[1]) == "--versions";
  return redouble::tests::Main(only_remaining, only_versions);
}
