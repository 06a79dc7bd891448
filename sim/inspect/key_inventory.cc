#include "redouble/sim/inspect/key_inventory.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::store {
namespace {

constexpr std::array<std::pair<std::string_view, InventoryFormat>, 3> kFormats = {{
    {"table", InventoryFormat::kTable},
    {"json", InventoryFormat::kJson},
    {"markdown", InventoryFormat::kMarkdown},
}};

std::string TypeText(const KeyFamily& family) {
  return std::string(family.type == KeyType::kNone ? "channel" : KeyTypeName(family.type));
}

std::string TtlText(const KeyFamily& family) {
  return family.ttl ? absl::StrCat(absl::ToInt64Seconds(*family.ttl), " s") : "-";
}

using Row = std::array<std::string, 5>;

std::string FormatTable(std::span<const KeyFamily> families) {
  std::vector<Row> rows = {{"SYSTEM", "FAMILY", "PATTERN", "TYPE", "TTL"}};
  for (const KeyFamily& family : families) {
    rows.push_back({std::string(family.system), std::string(family.id), std::string(family.pattern),
                    TypeText(family), TtlText(family)});
  }
  std::array<size_t, std::tuple_size_v<Row>> widths = {};
  for (const Row& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string text;
  for (const Row& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      const bool last = i + 1 == row.size();
      absl::StrAppend(&text, row[i], last ? "\n" : std::string(widths[i] - row[i].size() + 2, ' '));
    }
  }
  return text;
}

std::string FormatJson(std::span<const KeyFamily> families) {
  nlohmann::ordered_json inventory = nlohmann::ordered_json::array();
  for (const KeyFamily& family : families) {
    nlohmann::ordered_json row;
    row["id"] = family.id;
    row["system"] = family.system;
    row["pattern"] = family.pattern;
    row["type"] = TypeText(family);
    row["ttl_rule"] = family.ttl_rule;
    row["ttl_seconds"] = nullptr;
    if (family.ttl) row["ttl_seconds"] = absl::ToInt64Seconds(*family.ttl);
    row["lifecycle"] = family.lifecycle;
    row["purpose"] = family.purpose;
    row["source"] = family.source;
    row["overlaps"] = family.overlaps;
    inventory.push_back(std::move(row));
  }
  return inventory.dump(2) + "\n";
}

std::string Cell(std::string_view text) {
  return absl::StrReplaceAll(base::ToAbsl(text), {{"|", "\\|"}});
}

std::string TtlCell(const KeyFamily& family) {
  if (!family.ttl) return Cell(family.ttl_rule);
  return absl::StrCat(TtlText(family), "; ", Cell(family.ttl_rule));
}

std::string FormatMarkdown(std::span<const KeyFamily> families) {
  std::string text;
  std::string_view system;
  for (const KeyFamily& family : families) {
    if (family.system != system) {
      absl::StrAppend(&text, text.empty() ? "" : "\n", "## ", base::ToAbsl(family.system),
                      "\n\n| family | pattern | type | TTL | lifecycle | purpose | source |\n"
                      "| --- | --- | --- | --- | --- | --- | --- |\n");
      system = family.system;
    }
    absl::StrAppend(&text, "| ", Cell(family.id), " | `", Cell(family.pattern), "` | ",
                    TypeText(family), " | ", TtlCell(family), " | ", Cell(family.lifecycle));
    absl::StrAppend(&text, " | ", Cell(family.purpose), " | ", Cell(family.source), " |\n");
  }
  return text;
}

}  // namespace

std::optional<InventoryFormat> ParseInventoryFormat(std::string_view name) {
  for (const auto& [format_name, format] : kFormats) {
    if (format_name == name) return format;
  }
  return std::nullopt;
}

std::string FormatInventory(std::span<const KeyFamily> families, InventoryFormat format) {
  switch (format) {
    case InventoryFormat::kTable:
      return FormatTable(families);
    case InventoryFormat::kJson:
      return FormatJson(families);
    case InventoryFormat::kMarkdown:
      return FormatMarkdown(families);
  }
  return {};
}

}  // namespace redouble::inline v0_1::store
