#include "redouble/core/store/keyspace/key_layout.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::store {

std::string_view KeyLayoutName(KeyLayout layout) {
  return kKeyLayoutNames[static_cast<size_t>(layout)];
}

absl::StatusOr<KeyLayout> ParseKeyLayout(std::string_view name) {
  const auto found = std::find(kKeyLayoutNames.begin(), kKeyLayoutNames.end(), name);
  if (found != kKeyLayoutNames.end()) {
    return static_cast<KeyLayout>(found - kKeyLayoutNames.begin());
  }
  return absl::InvalidArgumentError(
      absl::StrCat("expected documented or cluster, got '", base::ToAbsl(name), "'"));
}

LayoutTable::LayoutTable(std::span<const LayoutRow> rows) {
  for (const KeyLayout layout : {KeyLayout::kDocumented, KeyLayout::kCluster}) {
    Inventory& inventory = inventories_[static_cast<size_t>(layout)];
    for (const LayoutRow& row : rows) {
      KeyFamily family = row.family;
      if (layout == KeyLayout::kCluster && !row.cluster_pattern.empty()) {
        family.pattern = row.cluster_pattern;
      }
      inventory.families.push_back(family);
    }
    const absl::Status added = inventory.table.Add(inventory.families);
    if (!added.ok()) {
      std::fprintf(stderr, "%s\n", added.ToString().c_str());
      std::abort();
    }
    for (const KeyFamily& family : inventory.families) {
      inventory.patterns.push_back(inventory.table.PatternOf(family.id));
    }
  }
}

std::optional<KeyMatch> LayoutTable::Parse(KeyLayout layout, std::string_view key) const {
  Recognition recognition = In(layout).table.Recognise(key);
  if (recognition.matches.empty()) return std::nullopt;
  return std::move(recognition.matches.front());
}

}  // namespace redouble::inline v0_1::store
