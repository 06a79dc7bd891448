// Writes the generated pages of docs/, and the generated tables of docs/compatibility.md and
// docs/systems/:
//
//   bazel run //tests/docs:write_pages
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>

#include "redouble/sim/cli/storm/storm_systems.h"
#include "redouble/sim/cli/support/systems.h"
#include "redouble/sim/fault/fault_page.h"
#include "redouble/tests/docs/compatibility.h"
#include "redouble/tests/docs/file_faults.h"
#include "redouble/tests/docs/key_tables.h"
#include "redouble/tests/docs/live_options.h"
#include "redouble/tests/docs/promise_tables.h"
#include "redouble/tests/docs/supported_commands.h"
#include "redouble/tests/docs/version_tables.h"

namespace {

bool Write(const std::string& path, const std::string& page) {
  std::ofstream file(path, std::ios::binary);
  if (file << page) return true;
  std::cerr << "cannot write " << path << "\n";
  return false;
}

std::string Read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream page;
  page << file.rdbuf();
  return page.str();
}

}  // namespace

int main() {
  const char* workspace = std::getenv("BUILD_WORKSPACE_DIRECTORY");
  if (workspace == nullptr) {
    std::cerr << "to be run by bazel run\n";
    return 2;
  }
  const std::string docs = std::string(workspace) + "/docs/";
  const std::string compatibility = docs + "compatibility.md";
  bool written =
      Write(docs + "commands.md", redouble::tests::SupportedCommandsPage()) &&
      Write(docs + "live_options.md", redouble::tests::LiveOptionsPage()) &&
      Write(docs + "version_tables.md", redouble::tests::VersionTablesPage()) &&
      Write(docs + "file_faults.md", redouble::tests::FileFaultsPage()) &&
      Write(docs + "faults.md", redouble::sim::FaultsPage()) &&
      Write(compatibility, redouble::tests::WithCompatibilityTables(Read(compatibility)));
  for (const auto& [system, operations] : redouble::sim::AllSystems()) {
    const std::string name(system);
    const std::string path = docs + "systems/" + name + ".md";
    written = Write(path, redouble::tests::WithKeyTable(Read(path), name)) && written;
  }
  for (const redouble::sim::StormSystem& storm : redouble::sim::AllStorms()) {
    const std::string path = std::string(workspace) + "/" + storm.Page();
    written = Write(path, redouble::tests::WithPromiseTable(Read(path), storm)) && written;
  }
  return written ? 0 : 1;
}
