#include "redouble/sim/cli/support/rules_files.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/sim/cli/support/scenario_files.h"

namespace redouble::inline v0_1::sim {

absl::StatusOr<RulesFile> ReadRulesFile(const std::filesystem::path& path, std::string_view name) {
  const absl::StatusOr<std::string> text = ReadFile(path);
  absl::StatusOr<RulesFile> rules = text.ok() ? RulesFile::Parse(*text) : text.status();
  if (rules.ok()) return rules;
  return absl::Status(rules.status().code(),
                      absl::StrCat(base::ToAbsl(name), ": ", rules.status().message()));
}

}  // namespace redouble::inline v0_1::sim
