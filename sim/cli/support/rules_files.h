// ReadRulesFile: reads a file of key families and rules.
//
// For the option --rules of a subcommand. A message about the file names it as the user did.
//
//   REDOUBLE_ASSIGN_OR_RETURN(RulesFile shop, ReadRulesFile(folder / "shop.json", "shop.json"));
//
// Thread-safety: a free function.
#ifndef REDOUBLE_SIM_CLI_SUPPORT_RULES_FILES_H_
#define REDOUBLE_SIM_CLI_SUPPORT_RULES_FILES_H_

#include <filesystem>
#include <string_view>

#include "absl/status/statusor.h"
#include "redouble/sim/inspect/rules_file.h"

namespace redouble::inline v0_1::sim {

// Errors: those of ReadFile and RulesFile::Parse; each message begins with `name`.
absl::StatusOr<RulesFile> ReadRulesFile(const std::filesystem::path& path, std::string_view name);

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_CLI_SUPPORT_RULES_FILES_H_
