#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "redouble/sim/cli/program.h"
#include "redouble/sim/cli/serve/redis_server.h"

namespace redouble::sim {
namespace {

// `bazel run` starts the program in its runfiles and names the user's folder and the workspace in
// the environment. Otherwise the runfiles are beside the program.
ProgramContext MakeContext(const char* program) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  ProgramContext context{std::cout, std::cerr, fs::current_path(ignored), {}};
  if (const char* folder = std::getenv("BUILD_WORKING_DIRECTORY")) context.folder = folder;
  if (const char* root = std::getenv("BUILD_WORKSPACE_DIRECTORY")) context.roots.emplace_back(root);
  if (const char* root = std::getenv("RUNFILES_DIR")) {
    context.roots.push_back(fs::path(root) / "redouble");
  }
  const fs::path executable = fs::read_symlink("/proc/self/exe", ignored);
  for (const fs::path& path : {fs::path(program), executable}) {
    context.roots.push_back(fs::path(path.string() + ".runfiles") / "redouble");
  }
  context.roots.push_back(context.folder);
  return context;
}

}  // namespace
}  // namespace redouble::sim

int main(int argc, char** argv) {
  const redouble::sim::ProgramContext context = redouble::sim::MakeContext(argv[0]);
  std::vector<std::string> arguments(argv + 1, argv + argc);
  // A test harness that starts a redis-server may be given a link to this program.
  const std::string name = std::filesystem::path(argv[0]).filename().string();
  if (name == redouble::sim::kRedisServer) arguments.insert(arguments.begin(), name);
  return redouble::sim::RunProgram(std::move(arguments), context);
}
