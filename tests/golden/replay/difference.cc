#include "redouble/tests/golden/replay/difference.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "redouble/sim/json/json_diff.h"

namespace redouble::inline v0_1::golden {

std::string Difference::ToString() const {
  std::string text = absl::StrCat(path, ": ", message);
  if (!expected.empty() || !got.empty()) {
    absl::StrAppend(&text, ": expected ", expected, ", got ", got);
  }
  return text;
}

std::optional<Difference> CompareJson(const sim::Json& expected, const sim::Json& got,
                                      std::string_view path) {
  std::optional<sim::JsonDifference> difference = sim::FindDifference(expected, got, path);
  if (!difference) return std::nullopt;
  return Difference{std::move(difference->path), "not as recorded", std::move(difference->expected),
                    std::move(difference->got)};
}

Difference DifferenceOf(std::string_view path, const absl::Status& status) {
  return Difference{std::string(path), std::string(status.message())};
}

}  // namespace redouble::inline v0_1::golden
