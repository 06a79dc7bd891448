// `redouble storm` as a program of its own. It links neither a server nor a live client, so that
// it is built again quickly after a change of one system.

#include <filesystem>
#include <functional>
#include <iostream>

#include "CLI/App.hpp"
#include "CLI/Config.hpp"
#include "CLI/Formatter.hpp"
#include "redouble/sim/cli/storm/storm.h"

int main(int argc, char** argv) {
  const redouble::sim::ProgramContext context{
      std::cout, std::cerr, std::filesystem::current_path(), {}};
  CLI::App app("Run a system under random faults and check what it promises", "storm");
  const std::function<int()> run = redouble::sim::AddStorm(app, context);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? redouble::sim::kExitPassed : redouble::sim::kExitBadUsage;
  }
  return run();
}
