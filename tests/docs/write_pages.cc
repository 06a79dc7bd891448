// Writes the generated pages of docs/ anew:
//
//   bazel run //tests/docs:write_pages
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

#include "tests/docs/live_options.h"
#include "tests/docs/supported_commands.h"

namespace {

bool Write(const std::string& path, const std::string& page) {
  std::ofstream file(path, std::ios::binary);
  if (file << page) return true;
  std::cerr << "cannot write " << path << "\n";
  return false;
}

}  // namespace

int main() {
  const char* workspace = std::getenv("BUILD_WORKSPACE_DIRECTORY");
  if (workspace == nullptr) {
    std::cerr << "to be run by bazel run\n";
    return 2;
  }
  const std::string docs = std::string(workspace) + "/docs/";
  const bool written = Write(docs + "commands.md", redouble::tests::SupportedCommandsPage()) &&
                       Write(docs + "live_options.md", redouble::tests::LiveOptionsPage());
  return written ? 0 : 1;
}
