#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include "redouble/tests/golden/program.h"

int main(int argc, char** argv) {
  std::error_code ignored;
  redouble::sim::ProgramContext context{
      std::cout, std::cerr, std::filesystem::current_path(ignored), {}};
  // `bazel run` starts the program in its runfiles and passes the user's folder in the environment.
  if (const char* folder = std::getenv("BUILD_WORKING_DIRECTORY")) context.folder = folder;
  return redouble::golden::RunGoldens(std::vector<std::string>(argv + 1, argv + argc), context);
}
