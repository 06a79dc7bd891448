#include "redouble/sim/cli/support/key_selection.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/store/keyspace/key_layout.h"
#include "redouble/sim/cli/support/rules_files.h"
#include "redouble/sim/cli/support/systems.h"

namespace redouble::inline v0_1::sim {
namespace {

// A table with what it refers to.
struct OwnedTable {
  std::deque<RulesFile> files;
  std::vector<store::KeyRules> rules;
  std::optional<RuleTable> table;
};

absl::StatusOr<std::shared_ptr<OwnedTable>> TableOf(const std::vector<std::string>& names,
                                                    const ProgramContext& context) {
  auto owned = std::make_shared<OwnedTable>();
  for (const std::string& name : names) {
    REDOUBLE_ASSIGN_OR_RETURN(RulesFile file, ReadRulesFile(context.folder / name, name));
    owned->files.push_back(std::move(file));
    owned->rules.push_back(owned->files.back().rules());
  }
  for (const store::KeyRules& rules : context.systems.KeyRules(store::KeyLayout::kDocumented)) {
    owned->rules.push_back(rules);
  }
  REDOUBLE_ASSIGN_OR_RETURN(RuleTable table, RuleTable::Create(owned->rules));
  owned->table.emplace(std::move(table));
  return owned;
}

}  // namespace

void KeySelection::AddOptions(CLI::App& app) {
  app.add_option("--pattern", patterns_,
                 "Only the keys that match this glob, as of KEYS; may be given several times");
  app.add_option("--family", families_,
                 "Only the keys of this family or system, as redouble keys names it; may be given "
                 "several times");
}

void KeySelection::AddRulesOption(CLI::App& app) {
  app.add_option("--rules", rules_, "A file with key families of your own, for --family");
}

absl::StatusOr<memory::KeyFilter> KeySelection::Filter(const RuleTable& table) const {
  const std::vector<const store::KeyFamily*> known = table.families();
  for (const std::string& name : families_) {
    const bool is_known = std::any_of(known.begin(), known.end(), [&](const auto* family) {
      return memory::IsOfFamily(*family, name);
    });
    if (!is_known) {
      return absl::InvalidArgumentError(
          absl::StrCat("--family ", name, ": no such family or system; redouble keys lists them"));
    }
  }
  if (empty()) return memory::KeyFilter();
  return memory::KeyFilter([like = memory::KeysLike(patterns_),
                            belongs = memory::KeysOfFamilies(table.family_table(), families_)](
                               std::string_view key) { return like(key) || belongs(key); });
}

absl::StatusOr<memory::KeyFilter> KeySelection::Filter(const ProgramContext& context) const {
  REDOUBLE_ASSIGN_OR_RETURN(const std::shared_ptr<OwnedTable> owned, TableOf(rules_, context));
  REDOUBLE_ASSIGN_OR_RETURN(memory::KeyFilter filter, Filter(*owned->table));
  if (!filter) return filter;
  return memory::KeyFilter(
      [owned, filter = std::move(filter)](std::string_view key) { return filter(key); });
}

}  // namespace redouble::inline v0_1::sim
