// CompatibilityOption: the option --compatibility of the subcommands that make an engine: the
// version of Redis or Valkey that it answers as.
//
//   CompatibilityOption compatibility;
//   compatibility.AddTo(app);
//   ...
//   options.compatibility = compatibility.version().value_or(options.compatibility);
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_CLI_SUPPORT_COMPATIBILITY_OPTION_H_
#define REDOUBLE_SIM_CLI_SUPPORT_COMPATIBILITY_OPTION_H_

#include <optional>
#include <string>

#include "redouble/core/store/table/version.h"
#include "redouble/sim/cli/support/subcommand.h"

namespace redouble::inline v0_1::sim {

class CompatibilityOption {
 public:
  // Must outlive the parsing of `app`. `description` is the option's help.
  void AddTo(CLI::App& app, const std::string& description);

  // Nullopt if the option was not given.
  std::optional<store::Version> version() const;

 private:
  std::optional<std::string> name_;
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_CLI_SUPPORT_COMPATIBILITY_OPTION_H_
