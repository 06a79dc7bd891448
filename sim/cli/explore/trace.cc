#include "redouble/sim/cli/explore/trace.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "redouble/sim/cli/support/scenario_files.h"
#include "redouble/sim/recording/diff.h"

namespace redouble::inline v0_1::sim {
namespace {

constexpr char kFooter[] =
    "Examples:\n"
    "  redouble trace diff a.jsonl b.jsonl    the first event in which two runs differ; the files\n"
    "                                         are those of redouble replay --trace\n"
    "\n"
    "Exit codes: 0 equal, 1 different, 2 bad usage or a file that is no trace.";

struct DiffOptions {
  std::string first;
  std::string second;
};

absl::StatusOr<std::vector<std::string>> ReadTrace(const std::string& name,
                                                   const ProgramContext& context) {
  const absl::StatusOr<std::string> text = ReadFile(context.folder / name);
  if (!text.ok()) {
    return absl::UnavailableError(absl::StrCat(name, ": ", text.status().message()));
  }
  return SplitTrace(*text, name);
}

int Diff(const DiffOptions& options, const ProgramContext& context) {
  std::vector<std::vector<std::string>> traces;
  for (const std::string& name : {options.first, options.second}) {
    absl::StatusOr<std::vector<std::string>> trace = ReadTrace(name, context);
    if (!trace.ok()) {
      context.err << "redouble trace diff: " << trace.status().message() << "\n";
      return kExitBadUsage;
    }
    traces.push_back(*std::move(trace));
  }
  const std::optional<TraceDivergence> divergence = FindDivergence(traces[0], traces[1]);
  if (!divergence) {
    context.out << "equal, " << traces[0].size() << " events\n";
    return kExitPassed;
  }
  context.out << divergence->ToString();
  return kExitFailed;
}

}  // namespace

std::function<int()> AddTrace(CLI::App& app, const ProgramContext& context) {
  const auto options = std::make_shared<DiffOptions>();
  app.footer(kFooter);
  app.require_subcommand(1);
  CLI::App* diff = app.add_subcommand("diff", "Show the first event in which two traces differ");
  diff->footer(kFooter);
  diff->add_option("A", options->first, "A trace")->required();
  diff->add_option("B", options->second, "Another")->required();
  return [options, &context] { return Diff(*options, context); };
}

}  // namespace redouble::inline v0_1::sim
