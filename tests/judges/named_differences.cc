#include "redouble/tests/judges/named_differences.h"

#include "absl/strings/str_split.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::tests {
namespace {

using store::Since;
using store::Until;
using store::Version;

constexpr NamedDifference kRows[] = {
#define REDOUBLE_NAMED_DIFFERENCE(versions, facts, why) {versions, facts, why},
#include "redouble/tests/judges/named_differences.inc"
#undef REDOUBLE_NAMED_DIFFERENCE
};

}  // namespace

std::span<const NamedDifference> NamedDifferences() { return kRows; }

std::vector<std::string> FactsOf(const NamedDifference& row) {
  return absl::StrSplit(base::ToAbsl(row.facts), ", ");
}

}  // namespace redouble::inline v0_1::tests
