// Writes docs/commands.md anew:
//
//   bazel run //tests/docs:write_supported_commands
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

#include "tests/docs/supported_commands.h"

int main() {
  const char* workspace = std::getenv("BUILD_WORKSPACE_DIRECTORY");
  if (workspace == nullptr) {
    std::cerr << "to be run by bazel run\n";
    return 2;
  }
  const std::string path = std::string(workspace) + "/docs/commands.md";
  std::ofstream file(path, std::ios::binary);
  if (!(file << redouble::tests::SupportedCommandsPage())) {
    std::cerr << "cannot write " << path << "\n";
    return 1;
  }
  return 0;
}
