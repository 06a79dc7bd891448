#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "sim/cli/program.h"

namespace redouble::sim {
namespace {

// `bazel run` starts the program in its runfiles and says where the user stands and which workspace
// it is; otherwise the program is found beside its runfiles, wherever it is started.
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
  return redouble::sim::RunProgram(std::vector<std::string>(argv + 1, argv + argc), context);
}
