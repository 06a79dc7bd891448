// Prints key families: a table for a terminal, JSON for programs, Markdown for documentation.
// `redouble keys` prints those of the systems, and programs that add families of their own print
// theirs with it.
//
//   std::cout << FormatInventory(gateway::KeyFamilies(), InventoryFormat::kTable);
//
// Thread-safety: free functions on values.
#ifndef REDOUBLE_SIM_INSPECT_KEY_INVENTORY_H_
#define REDOUBLE_SIM_INSPECT_KEY_INVENTORY_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "redouble/core/store/keyspace/key_family.h"

namespace redouble::inline v0_1::store {

enum class InventoryFormat { kTable, kJson, kMarkdown };

// Parses "table", "json" or "markdown"; nullopt for any other text.
std::optional<InventoryFormat> ParseInventoryFormat(std::string_view name);

// Returns the families in the given order; ends with a newline.
//   kTable     system, family, pattern, type and TTL, in columns, one line each.
//   kJson      an array with an object per family and every field; `ttl_seconds` is null if the TTL
//              is not a constant.
//   kMarkdown  a heading and a table per system, one row per family, with every field.
std::string FormatInventory(std::span<const KeyFamily> families, InventoryFormat format);

}  // namespace redouble::inline v0_1::store

#endif  // REDOUBLE_SIM_INSPECT_KEY_INVENTORY_H_
