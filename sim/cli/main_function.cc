#include "redouble/sim/cli/main_function.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "redouble/sim/cli/program.h"
#include "redouble/sim/cli/serve/redis_server.h"

namespace redouble::inline v0_1::sim {
namespace {

// `bazel run` starts the program in its runfiles and names the user's folder and the workspace in
// the environment. Otherwise the runfiles are beside the program, or it is installed as
// bin/redouble and the scenarios are in share/redouble of the same prefix.
ProgramContext MakeContext(const char* program, const Systems& systems) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  ProgramContext context{std::cout, std::cerr, fs::current_path(ignored),
                         {},        systems,   isatty(STDERR_FILENO) == 1};
  if (const char* folder = std::getenv("BUILD_WORKING_DIRECTORY")) context.folder = folder;
  if (const char* root = std::getenv("BUILD_WORKSPACE_DIRECTORY")) context.roots.emplace_back(root);
  if (const char* root = std::getenv("RUNFILES_DIR")) {
    context.roots.push_back(fs::path(root) / "redouble");
  }
  const fs::path executable = fs::read_symlink("/proc/self/exe", ignored);
  for (const fs::path& path : {fs::path(program), executable}) {
    context.roots.push_back(fs::path(path.string() + ".runfiles") / "redouble");
  }
  context.roots.push_back(executable.parent_path().parent_path() / "share" / "redouble");
  context.roots.push_back(context.folder);
  return context;
}

}  // namespace

int RunMain(int argc, char** argv, const Systems& systems) {
  const ProgramContext context = MakeContext(argv[0], systems);
  std::vector<std::string> arguments(argv + 1, argv + argc);
  // A test harness that starts a redis-server may be given a link to this program.
  const std::string name = std::filesystem::path(argv[0]).filename().string();
  if (name == kRedisServer) arguments.insert(arguments.begin(), name);
  return RunProgram(std::move(arguments), context);
}

}  // namespace redouble::inline v0_1::sim
