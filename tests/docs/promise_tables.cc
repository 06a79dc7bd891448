#include "redouble/tests/docs/promise_tables.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "redouble/tests/docs/generated_part.h"

namespace redouble::inline v0_1::tests {
namespace {

std::string PromiseTable(const sim::StormSystem& system) {
  std::string table =
      "\n| promise | what breaks it, and the option that prevents it |\n"
      "| --- | --- |\n";
  for (const sim::Promise& promise : system.promises) {
    const std::string hazards =
        absl::StrJoin(promise.hazards, "; ", [](std::string* text, const sim::StormHazard& hazard) {
          absl::StrAppend(text, hazard.section, ": ",
                          hazard.remedy.empty() ? "none" : absl::StrCat("`", hazard.remedy, "`"));
        });
    absl::StrAppend(&table, "| ", Cell(promise.text), " | ", hazards.empty() ? "nothing" : hazards,
                    " |\n");
  }
  return table + "\n";
}

}  // namespace

std::string WithPromiseTable(std::string_view page, const sim::StormSystem& system) {
  return WithGeneratedPart(page, absl::StrCat("promises ", system.name), PromiseTable(system));
}

}  // namespace redouble::inline v0_1::tests
