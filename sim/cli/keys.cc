#include "redouble/sim/cli/keys.h"

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_join.h"
#include "redouble/core/store/keyspace/key_layout.h"
#include "redouble/sim/inspect/key_inventory.h"

namespace redouble::inline v0_1::sim {
namespace {

constexpr char kFooter[] =
    "Examples:\n"
    "  redouble keys                              every family, a line each\n"
    "  redouble keys --system gateway             those of one system\n"
    "  redouble keys --layout cluster             as a Redis Cluster needs them, with hash tags\n"
    "  redouble keys --format markdown > KEYS.md  with TTL rules, lifecycle, purpose and source\n"
    "  redouble keys --format json | jq '.[].pattern'";

struct KeysOptions {
  std::string system;
  std::string format = "table";
  std::string layout = "documented";
};

int PrintKeys(const KeysOptions& options, const ProgramContext& context) {
  const auto format = store::ParseInventoryFormat(options.format);
  if (!format) {
    context.err << "redouble keys: --format: unknown format \"" << options.format
                << "\"; known: table, json, markdown\n";
    return kExitBadUsage;
  }
  const absl::StatusOr<store::KeyLayout> layout = store::ParseKeyLayout(options.layout);
  if (!layout.ok()) {
    context.err << "redouble keys: --layout: " << layout.status().message() << "\n";
    return kExitBadUsage;
  }
  std::vector<store::KeyFamily> families;
  std::set<std::string> systems;
  for (const store::KeyFamily& family : context.systems.KeyFamilies(*layout)) {
    systems.emplace(family.system);
    if (options.system.empty() || family.system == options.system) families.push_back(family);
  }
  if (families.empty()) {
    context.err << "redouble keys: --system: unknown system \"" << options.system
                << "\"; known: " << absl::StrJoin(systems, ", ") << "\n";
    return kExitBadUsage;
  }
  context.out << store::FormatInventory(families, *format);
  return kExitPassed;
}

}  // namespace

std::function<int()> AddKeys(CLI::App& app, const ProgramContext& context) {
  const auto options = std::make_shared<KeysOptions>();
  app.footer(kFooter);
  app.add_option("--system", options->system, "Only the families of this system");
  app.add_option("--format", options->format, "table (default), json or markdown");
  app.add_option("--layout", options->layout, "documented (default) or cluster");
  return [options, &context] { return PrintKeys(*options, context); };
}

}  // namespace redouble::inline v0_1::sim
