#include "redouble/tests/docs/generated_part.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::tests {

std::string WithGeneratedPart(std::string_view page, std::string_view name, std::string_view part) {
  constexpr std::string_view kEnd = "<!-- end -->";
  const std::string begin = absl::StrCat("<!-- generated: ", base::ToAbsl(name), " -->\n");
  const size_t marker = page.find(begin);
  if (marker == std::string_view::npos) return std::string(page);
  const size_t first = marker + begin.size();
  const size_t end = page.find(kEnd, first);
  if (end == std::string_view::npos) return std::string(page);
  std::string result(page.substr(0, first));
  result += part;
  result += page.substr(end);
  return result;
}

std::string Cell(std::string_view text) {
  return absl::StrReplaceAll(base::ToAbsl(text), {{"|", "\\|"}});
}

}  // namespace redouble::inline v0_1::tests
