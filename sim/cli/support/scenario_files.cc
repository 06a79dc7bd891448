#include "redouble/sim/cli/support/scenario_files.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <set>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::sim {
namespace {

namespace fs = std::filesystem;

constexpr char kFolder[] = "scenarios";

constexpr std::string_view kWorldEnding = ".world.json";

bool IsOfKind(const fs::path& path, ScenarioFileKind kind) {
  if (path.extension() != ".json") return false;
  const bool is_world = path.filename().string().ends_with(kWorldEnding);
  return is_world == (kind == ScenarioFileKind::kWorld);
}

std::string_view Ending(ScenarioFileKind kind) {
  return kind == ScenarioFileKind::kWorld ? kWorldEnding : ".json";
}

// Returns all files of that kind below `folder`; `name` is the name that the user gave.
absl::StatusOr<std::vector<ScenarioFile>> ListFolder(const fs::path& folder, const fs::path& name,
                                                     ScenarioFileKind kind) {
  std::vector<ScenarioFile> files;
  std::error_code error;
  // Runfiles are symbolic links, in some configurations also to folders.
  const auto options = fs::directory_options::follow_directory_symlink;
  for (fs::recursive_directory_iterator entry(folder, options, error), end; !error && entry != end;
       entry.increment(error)) {
    if (!IsOfKind(entry->path(), kind) || !entry->is_regular_file(error)) continue;
    const fs::path below = entry->path().lexically_relative(folder);
    files.push_back(ScenarioFile{(name / below).lexically_normal().string(), entry->path()});
  }
  if (error) return absl::UnavailableError(absl::StrCat(name.string(), ": ", error.message()));
  if (files.empty()) {
    return absl::NotFoundError(
        absl::StrCat(name.string(), ": no *", base::ToAbsl(Ending(kind)), " file in this folder"));
  }
  // The file system lists a folder in any order.
  std::sort(files.begin(), files.end(),
            [](const ScenarioFile& a, const ScenarioFile& b) { return a.name < b.name; });
  return files;
}

absl::StatusOr<std::vector<ScenarioFile>> FindAll(const ProgramContext& context,
                                                  ScenarioFileKind kind) {
  std::error_code error;
  for (const fs::path& root : context.roots) {
    if (fs::is_directory(root / kFolder, error)) return ListFolder(root / kFolder, kFolder, kind);
  }
  return absl::NotFoundError(
      "no folder \"scenarios\" beside the program or in this folder; name files or folders");
}

absl::StatusOr<std::vector<ScenarioFile>> FindOne(const std::string& argument,
                                                  const ProgramContext& context,
                                                  ScenarioFileKind kind) {
  const fs::path path = context.folder / argument;
  std::error_code error;
  if (fs::is_directory(path, error)) return ListFolder(path, argument, kind);
  if (fs::exists(path, error)) return std::vector<ScenarioFile>{{argument, path}};
  return absl::NotFoundError(absl::StrCat(argument, ": no such file or folder"));
}

}  // namespace

absl::StatusOr<std::vector<ScenarioFile>> FindScenarioFiles(
    const std::vector<std::string>& arguments, const ProgramContext& context,
    ScenarioFileKind kind) {
  if (arguments.empty()) return FindAll(context, kind);
  std::vector<ScenarioFile> files;
  std::set<fs::path> known;
  for (const std::string& argument : arguments) {
    REDOUBLE_ASSIGN_OR_RETURN(std::vector<ScenarioFile> found, FindOne(argument, context, kind));
    for (ScenarioFile& file : found) {
      std::error_code error;
      const fs::path canonical = fs::weakly_canonical(file.path, error);
      if (known.insert(canonical).second) files.push_back(std::move(file));
    }
  }
  return files;
}

absl::StatusOr<std::string> ReadFile(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text;
  std::array<char, 64 * 1024> chunk;
  do {
    file.read(chunk.data(), chunk.size());
    text.append(chunk.data(), static_cast<size_t>(file.gcount()));
  } while (file);
  // A read that stops before the end of the file is an error.
  if (!file.is_open() || file.bad()) return absl::UnavailableError("cannot be read");
  return text;
}

}  // namespace redouble::inline v0_1::sim
