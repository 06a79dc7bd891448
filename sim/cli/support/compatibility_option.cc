#include "redouble/sim/cli/support/compatibility_option.h"

#include <vector>

#include "CLI/CLI.hpp"

namespace redouble::inline v0_1::sim {

void CompatibilityOption::AddTo(CLI::App& app, const std::string& description) {
  std::vector<std::string> names;
  for (const store::VersionSpec& version : store::AllVersions()) names.emplace_back(version.name);
  app.add_option("--compatibility", name_, description)->check(CLI::IsMember(names));
}

std::optional<store::Version> CompatibilityOption::version() const {
  return name_ ? store::VersionNamed(*name_) : std::nullopt;
}

}  // namespace redouble::inline v0_1::sim
