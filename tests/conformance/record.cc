// Replaces the expected replies in conformance files by those of a real server:
//
//   bazel run //tests/conformance:record -- tests/conformance/cases/strings.txt
//
// Files in a folder "cluster_cases" are run on the only node of a cluster. Recorded replies are
// Redis's and are never typed by hand; read the difference before committing it.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>

#include "redouble/tests/conformance/case_files.h"
#include "redouble/tests/conformance/cluster_server.h"
#include "redouble/tests/conformance/script.h"
#include "redouble/tests/support/target/server_target.h"

namespace {

using redouble::tests::Script;

// Paths are relative to the caller's folder, not to the one in which Bazel runs the program.
std::filesystem::path PathFromCaller(const std::string& path) {
  const char* folder = std::getenv("BUILD_WORKING_DIRECTORY");
  return folder == nullptr ? std::filesystem::path(path) : std::filesystem::path(folder) / path;
}

bool Record(const std::string& path, redouble::tests::Target& server) {
  const absl::StatusOr<std::string> text = redouble::tests::ReadFile(path);
  if (!text.ok()) {
    std::cerr << text.status().message() << "\n";
    return false;
  }
  const absl::StatusOr<Script> script = redouble::tests::ParseScript(*text);
  if (!script.ok()) {
    std::cerr << path << ": " << script.status().message() << "\n";
    return false;
  }
  // The file stays as it is if the server fails.
  const std::string recorded = ScriptText(RunScript(*script, server));
  std::ofstream(path, std::ios::binary) << recorded;
  std::cout << "recorded " << path << "\n";
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::cerr << "usage: record FILE...\n";
    return 2;
  }
  redouble::tests::ServerTarget server({"enable-debug-command yes"});
  redouble::tests::ClusterServer cluster;
  bool all_recorded = true;
  for (int i = 1; i < argc; ++i) {
    const std::filesystem::path path = PathFromCaller(argv[i]);
    const bool of_cluster = path.parent_path().filename() == "cluster_cases";
    all_recorded = Record(path.string(), of_cluster ? cluster.target() : server) && all_recorded;
  }
  return all_recorded ? 0 : 1;
}
