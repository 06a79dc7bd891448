#include "redouble/tests/differential/program.h"

#include <cassert>

#include "absl/strings/str_cat.h"

namespace redouble::inline v0_1::tests {

std::string ProgramText(const Program& program, const std::string& title) {
  std::string text = absl::StrCat("@case ", title, "\n");
  if (!program.active_expiry) absl::StrAppend(&text, "> DEBUG SET-ACTIVE-EXPIRE 0\n");
  int connection = 0;
  for (const ProgramStep& step : program.steps) {
    if (step.kind != ProgramStep::Kind::kCommand) {
      assert(step.kind == ProgramStep::Kind::kAdvance);
      absl::StrAppend(&text, "@advance ", step.amount_us, "us\n");
      continue;
    }
    if (step.connection != connection) {
      connection = step.connection;
      absl::StrAppend(&text, "@client ", std::string(1, static_cast<char>('a' + connection)), "\n");
    }
    absl::StrAppend(&text, "> ", JoinWords(step.words), "\n");
  }
  return text;
}

}  // namespace redouble::inline v0_1::tests
