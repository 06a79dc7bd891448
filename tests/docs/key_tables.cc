#include "redouble/tests/docs/key_tables.h"

#include <map>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/keyspace/key_family.h"
#include "redouble/core/store/keyspace/key_layout.h"
#include "redouble/core/store/table/key_type.h"
#include "redouble/sim/cli/support/systems.h"
#include "redouble/tests/docs/generated_part.h"

namespace redouble::inline v0_1::tests {
namespace {

std::string TypeCell(const store::KeyFamily& family) {
  if (family.type == store::KeyType::kNone) return "channel";
  return std::string(store::KeyTypeName(family.type));
}

std::string TtlCell(const store::KeyFamily& family) {
  if (!family.ttl) return Cell(family.ttl_rule);
  return absl::StrCat(absl::ToInt64Seconds(*family.ttl), " s; ", Cell(family.ttl_rule));
}

std::string KeyTable(std::string_view system) {
  std::string table =
      "\n| pattern | type | value | TTL | lifecycle |\n"
      "| --- | --- | --- | --- | --- |\n";
  for (const store::KeyFamily& family : sim::AllKeyFamilies()) {
    if (family.system != system) continue;
    absl::StrAppend(&table, "| `", Cell(family.pattern), "` | ", TypeCell(family), " | ",
                    Cell(family.purpose), " | ");
    absl::StrAppend(&table, TtlCell(family), " | ", Cell(family.lifecycle), " |\n");
  }
  return table + "\n";
}

// The patterns of both layouts side by side. A family may exist in the cluster layout only.
std::string LayoutTableOf(std::string_view system) {
  std::map<std::string_view, std::string_view> documented;
  for (const store::KeyFamily& family : sim::AllKeyFamilies()) {
    documented[family.id] = family.pattern;
  }
  std::string table =
      "\n| family | documented | cluster |\n"
      "| --- | --- | --- |\n";
  for (const store::KeyFamily& family : sim::AllKeyFamilies(store::KeyLayout::kCluster)) {
    if (family.system != system) continue;
    const std::string spelled = absl::StrCat("`", Cell(family.pattern), "`");
    const auto found = documented.find(family.id);
    const bool is_same = found != documented.end() && found->second == family.pattern;
    absl::StrAppend(&table, "| ", base::ToAbsl(family.id), " | ",
                    found == documented.end() ? "-" : absl::StrCat("`", Cell(found->second), "`"),
                    " | ", is_same ? "the same" : spelled, " |\n");
  }
  return table + "\n";
}

}  // namespace

std::string WithKeyTable(std::string_view page, std::string_view system) {
  const std::string name(system);
  const std::string written = WithGeneratedPart(page, "keys " + name, KeyTable(system));
  return WithGeneratedPart(written, "layouts " + name, LayoutTableOf(system));
}

}  // namespace redouble::inline v0_1::tests
