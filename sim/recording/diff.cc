#include "redouble/sim/recording/diff.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/sim/json/json_diff.h"
#include "redouble/sim/operations/operation.h"

namespace redouble::inline v0_1::sim {
namespace {

constexpr size_t kLinesBefore = 3;

std::optional<std::string> LineAt(const std::vector<std::string>& lines, size_t index) {
  if (index >= lines.size()) return std::nullopt;
  return lines[index];
}

}  // namespace

absl::StatusOr<std::vector<std::string>> SplitTrace(std::string_view text, std::string_view file) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    const Json event = Json::parse(line, nullptr, /*allow_exceptions=*/false);
    if (!event.is_object()) {
      return absl::InvalidArgumentError(absl::StrCat(
          base::ToAbsl(file), ": line ", lines.size() + 1, ": expected an event, as JSON"));
    }
    lines.emplace_back(line);
  }
  return lines;
}

std::optional<TraceDivergence> FindDivergence(const std::vector<std::string>& first,
                                              const std::vector<std::string>& second) {
  const auto [a, b] = std::mismatch(first.begin(), first.end(), second.begin(), second.end());
  if (a == first.end() && b == second.end()) return std::nullopt;
  const size_t index = static_cast<size_t>(a - first.begin());
  TraceDivergence divergence{index, {}, LineAt(first, index), LineAt(second, index)};
  divergence.before.assign(a - static_cast<std::ptrdiff_t>(std::min(index, kLinesBefore)), a);
  return divergence;
}

std::string TraceDivergence::ToString() const {
  std::string text = absl::StrCat("event ", index);
  if (first && second) {
    // Lines may differ although their JSON is equal: 1.0 and 1.
    const auto difference = FindDifference(Json::parse(*first), Json::parse(*second), "");
    if (difference) {
      absl::StrAppend(&text, ": ", difference->path, ": ", difference->expected, " / ",
                      difference->got);
    }
  }
  text += '\n';
  for (const std::string& line : before) absl::StrAppend(&text, "  ", line, "\n");
  absl::StrAppend(&text, "- ", first.value_or("(the end)"), "\n");
  absl::StrAppend(&text, "+ ", second.value_or("(the end)"), "\n");
  return text;
}

}  // namespace redouble::inline v0_1::sim
