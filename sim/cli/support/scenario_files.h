// Finds and reads the scenario files that a command line names.
//
//   REDOUBLE_ASSIGN_OR_RETURN(const auto files, FindScenarioFiles({"scenarios/gateway"}, context));
//   for (const ScenarioFile& file : files) Replay(ReadFile(file.path));
//
// Thread-safety: free functions.
#ifndef REDOUBLE_SIM_CLI_SUPPORT_SCENARIO_FILES_H_
#define REDOUBLE_SIM_CLI_SUPPORT_SCENARIO_FILES_H_

#include <filesystem>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "redouble/sim/cli/support/subcommand.h"

namespace redouble::inline v0_1::sim {

struct ScenarioFile {
  std::string name;  // The name for the user: as given, or below the given folder.
  std::filesystem::path path;
};

// The two kinds of file. A world has no schedule until `redouble explore` has found one.
enum class ScenarioFileKind {
  kScenario,  // *.json, but not *.world.json.
  kWorld,     // *.world.json
};

// Returns the files that `arguments` name, relative to the folder of the context. A file is taken
// whatever its ending; of a folder, all files of that kind below it, sorted by name. Without
// arguments: the folder "scenarios" of the first root that has one. A file that is named twice is
// returned once. Errors: NotFound, with the name of a missing path or of a folder without
// scenarios.
absl::StatusOr<std::vector<ScenarioFile>> FindScenarioFiles(
    const std::vector<std::string>& arguments, const ProgramContext& context,
    ScenarioFileKind kind = ScenarioFileKind::kScenario);

// Returns the bytes of a file. Errors: Unavailable, with its name, if it cannot be read.
absl::StatusOr<std::string> ReadFile(const std::filesystem::path& path);

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_CLI_SUPPORT_SCENARIO_FILES_H_
