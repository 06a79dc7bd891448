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

std::set<std::string> NamedFacts(store::Version version, FactKind kind) {
  std::set<std::string> facts;
  for (const NamedDifference& row : NamedDifferences()) {
    if (!row.versions.Has(version)) continue;
    for (const std::string& fact : FactsOf(row)) {
      if (fact.starts_with("case ") == (kind == FactKind::kCase)) facts.insert(fact);
    }
  }
  return facts;
}

}  // namespace redouble::inline v0_1::tests
