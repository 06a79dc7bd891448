#include "redouble/tests/differential/campaign.h"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <utility>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/random/rng.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/tests/conformance/script.h"
#include "redouble/tests/differential/make_program.h"
#include "redouble/tests/differential/run_program.h"
#include "redouble/tests/differential/shrink.h"

namespace redouble::inline v0_1::tests {
namespace {

// Conformance cases begin at kStart. A program that fails at that time too can be used as a case
// unchanged.
bool FailsAtCaseStart(Program& program, bool resp3, Target& expected, Target& actual) {
  Program moved = program;
  moved.start = kStart;
  if (!Compare(expected, actual, moved, resp3)) return false;
  program.start = kStart;
  return true;
}

// Reports the program if a target throws.
bool Differs(Program program, const CampaignOptions& options, int64_t number, Target& expected,
             Target& actual) {
  try {
    return Compare(expected, actual, program, options.resp3).has_value();
  } catch (const std::exception& error) {
    throw std::runtime_error(absl::StrCat(options.group, " program ", number, " of seed ",
                                          options.seed, ": ", error.what(), "\n",
                                          ProgramText(program, "cannot be run")));
  }
}

std::string Report(const CampaignOptions& options, int64_t number, Program program,
                   Target& expected, Target& actual) {
  const auto fails = [&](const Program& candidate) {
    return Differs(candidate, options, number, expected, actual);
  };
  program = Shrink(std::move(program), fails);
  const bool is_case = FailsAtCaseStart(program, options.resp3, expected, actual);
  const std::optional<Difference> difference = Compare(expected, actual, program, options.resp3);
  std::string text = absl::StrCat(
      "\n", options.group, " program ", number, " of seed ", options.seed, " differs",
      is_case ? "" : absl::StrCat(" (from ", absl::FormatTime(program.start), " on)"), "\n");
  if (difference) {
    absl::StrAppend(&text, difference->where, "\n", expected.name(), ":\n", difference->expected,
                    "\n", actual.name(), ":\n", difference->actual, "\n\n");
  }
  std::string how;
  const absl::StatusOr<Script> script =
      ParseScript(ProgramText(program, "A difference found by chance"));
  if (script.ok()) absl::StrAppend(&text, ScriptText(RunScript(*script, expected)));
  if (options.version != store::Version::kRedis70) {
    absl::StrAppend(&how, " --judge ", base::ToAbsl(store::SpecOf(options.version).name));
  }
  if (options.resp3) absl::StrAppend(&how, " --resp3");
  absl::StrAppend(&text, "\nto repeat: bazel run //tests/differential --", how, " --group ",
                  options.group, " --seed ", options.seed, " --first ", number,
                  " --programs 1 --max-commands ", options.max_commands, "\n");
  return text;
}

uint64_t SeedOf(const CampaignOptions& options, int64_t number) {
  return base::Rng(options.seed).Next() + static_cast<uint64_t>(number);
}

int64_t CommandsOf(const Program& program) {
  return std::count_if(program.steps.begin(), program.steps.end(), [](const ProgramStep& step) {
    return step.kind == ProgramStep::Kind::kCommand;
  });
}

}  // namespace

CampaignResult RunCampaign(const CampaignOptions& options, Target& expected, Target& actual,
                           const std::function<void(const CampaignResult&)>& progress) {
  CampaignResult result;
  const int64_t end = options.first + options.programs;
  for (int64_t number = options.first; number < end; ++number) {
    const Program program = MakeProgram({.group = options.group,
                                         .seed = SeedOf(options, number),
                                         .max_commands = options.max_commands,
                                         .version = options.version});
    const bool differs = Differs(program, options, number, expected, actual);
    ++result.programs;
    result.commands += CommandsOf(program);
    if (differs) {
      ++result.differences;
      result.report += Report(options, number, program, expected, actual);
    }
    if (progress) progress(result);
    if (result.differences >= options.max_differences) break;
    if (options.max_total_commands > 0 && result.commands >= options.max_total_commands) break;
  }
  return result;
}

}  // namespace redouble::inline v0_1::tests
