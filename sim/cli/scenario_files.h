// Finds the scenario files that a command line names.
//
// Thread-safety: free functions.
#ifndef REDOUBLE_SIM_CLI_SCENARIO_FILES_H_
#define REDOUBLE_SIM_CLI_SCENARIO_FILES_H_

#include <filesystem>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "sim/cli/subcommand.h"

namespace redouble::sim {

struct ScenarioFile {
  std::string name;  // What the user knows it by: as given, or as found below what was given.
  std::filesystem::path path;
};

// The two kinds of file. Worlds have no schedule: redouble explore finds one.
enum class ScenarioFileKind {
  kScenario,  // *.json, but not *.world.json.
  kWorld,     // *.world.json
};

// The files that `arguments` name, relative to the context's folder, whatever their ending; of a
// folder all files of that kind below it, sorted by name. Without arguments: the folder "scenarios"
// of the first root that has one. A file that is named twice is found once. Errors: NotFound,
// naming what is not there or the folder that holds no scenario.
absl::StatusOr<std::vector<ScenarioFile>> FindScenarioFiles(
    const std::vector<std::string>& arguments, const ProgramContext& context,
    ScenarioFileKind kind = ScenarioFileKind::kScenario);

// The bytes of a file. Errors: Unavailable, naming it, when it cannot be read.
absl::StatusOr<std::string> ReadFile(const std::filesystem::path& path);

}  // namespace redouble::sim

#endif  // REDOUBLE_SIM_CLI_SCENARIO_FILES_H_
