// KeySelection: the options --pattern, --family and --rules of the subcommands that read data
// files.
//
//   KeySelection selection;
//   selection.AddOptions(app);
//   ...
//   REDOUBLE_ASSIGN_OR_RETURN(const memory::KeyFilter keeps, selection.Filter(context));
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_CLI_SUPPORT_KEY_SELECTION_H_
#define REDOUBLE_SIM_CLI_SUPPORT_KEY_SELECTION_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "redouble/backends/memory/snapshot/key_filter.h"
#include "redouble/sim/cli/support/subcommand.h"
#include "redouble/sim/inspect/rule_table.h"

namespace redouble::inline v0_1::sim {

class KeySelection {
 public:
  // --pattern and --family.
  void AddOptions(CLI::App& app);
  // --rules, for Filter(context).
  void AddRulesOption(CLI::App& app);

  // Whether neither a pattern nor a family was given.
  bool empty() const { return patterns_.empty() && families_.empty(); }

  // Keeps the keys that match one of the patterns or belong to one of the families; an empty
  // function without any. Errors: InvalidArgument for a family or a system that there is not.
  // `table` must outlive the filter.
  absl::StatusOr<memory::KeyFilter> Filter(const RuleTable& table) const;
  // The same with the families of the program's systems and of the files of --rules. Errors: those
  // of ReadRulesFile as well.
  absl::StatusOr<memory::KeyFilter> Filter(const ProgramContext& context) const;

 private:
  std::vector<std::string> patterns_;
  std::vector<std::string> families_;  // Or systems.
  std::vector<std::string> rules_;     // Files.
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_CLI_SUPPORT_KEY_SELECTION_H_
