#include "redouble/tests/docs/supported_commands.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/table/command_details.h"
#include "redouble/core/store/table/command_table.h"

namespace redouble::inline v0_1::tests {
namespace {

using store::CommandGroup;
using store::CommandSpec;

constexpr std::string_view kHead =
    "# The commands of the memory engine\n"
    "\n"
    "Generated from the command table by `bazel run //tests/docs:write_pages`; a test compares it\n"
    "with the table. Each command behaves as in redis-server 7.0.15, except for those listed in\n"
    "[compatibility.md](compatibility.md). The version is the first one with the "
    "command;\n"
    "those after 7.0 need `--compatibility` ([versions.md](versions.md)).\n"
    "Other commands return Redis's unknown-command error.\n";

// The name in upper case, for example "XGROUP CREATE".
std::string NameForPeople(const CommandSpec& spec) {
  return absl::StrReplaceAll(absl::AsciiStrToUpper(base::ToAbsl(spec.name)), {{"|", " "}});
}

// "valkey 8.0.0" as people write it.
std::string SinceText(std::string_view since) {
  return absl::StrReplaceAll(base::ToAbsl(since), {{"valkey", "Valkey"}});
}

std::string Row(const CommandSpec& spec) {
  std::string summary(store::DetailsOf(spec.id).summary);
  if (summary.ends_with('.')) summary.pop_back();
  return absl::StrCat("| ", NameForPeople(spec), " | ", SinceText(spec.since), " | ", summary,
                      " |\n");
}

}  // namespace

std::string SupportedCommandsPage() {
  std::string page(kHead);
  for (int i = 0; i <= static_cast<int>(CommandGroup::kCluster); ++i) {
    const auto group = static_cast<CommandGroup>(i);
    std::vector<std::string> rows;
    for (const CommandSpec& spec : store::AllCommands()) {
      // A container is listed by its subcommands, unless it is a command as well.
      const bool is_command = !store::IsContainer(spec.id) || spec.arity == -1;
      if (spec.group == group && is_command) rows.push_back(Row(spec));
    }
    std::sort(rows.begin(), rows.end());
    if (rows.empty()) continue;
    absl::StrAppend(&page, "\n## ", base::ToAbsl(store::GroupName(group)),
                    "\n\n| command | since | what it does |\n| --- | --- | --- |\n");
    for (const std::string& row : rows) page += row;
  }
  return page;
}

}  // namespace redouble::inline v0_1::tests
