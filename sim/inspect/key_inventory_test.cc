#include "redouble/sim/inspect/key_inventory.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace redouble::inline v0_1::store {
namespace {

constexpr KeyFamily kFamilies[] = {
    {.id = "a.one",
     .system = "a",
     .pattern = "one:{period:day|week}",
     .type = KeyType::kHash,
     .ttl_rule = "each write",
     .ttl = absl::Seconds(70),
     .lifecycle = "made by a write",
     .purpose = "counts",
     .source = "the first page"},
    {.id = "b.channel",
     .system = "b",
     .pattern = "news",
     .type = KeyType::kNone,
     .ttl_rule = "none",
     .lifecycle = "never stored",
     .purpose = "tells",
     .source = "the second page"},
};

TEST(KeyInventory, PrintsATableInColumns) {
  EXPECT_EQ(FormatInventory(kFamilies, InventoryFormat::kTable),
            "SYSTEM  FAMILY     PATTERN                TYPE     TTL\n"
            "a       a.one      one:{period:day|week}  hash     70 s\n"
            "b       b.channel  news                   channel  -\n");
}

TEST(KeyInventory, PrintsJsonWithEveryField) {
  const auto inventory = nlohmann::json::parse(FormatInventory(kFamilies, InventoryFormat::kJson));
  const auto expected = nlohmann::json::parse(R"([
      {"id": "a.one", "system": "a", "pattern": "one:{period:day|week}", "type": "hash",
       "ttl_rule": "each write", "ttl_seconds": 70, "lifecycle": "made by a write",
       "purpose": "counts", "source": "the first page", "overlaps": ""},
      {"id": "b.channel", "system": "b", "pattern": "news", "type": "channel",
       "ttl_rule": "none", "ttl_seconds": null, "lifecycle": "never stored",
       "purpose": "tells", "source": "the second page", "overlaps": ""}])");
  EXPECT_EQ(inventory, expected);
}

TEST(KeyInventory, PrintsMarkdownWithATablePerSystem) {
  const std::string head =
      "| family | pattern | type | TTL | lifecycle | purpose | source |\n"
      "| --- | --- | --- | --- | --- | --- | --- |\n";
  EXPECT_EQ(FormatInventory(kFamilies, InventoryFormat::kMarkdown),
            "## a\n\n" + head +
                "| a.one | `one:{period:day\\|week}` | hash | 70 s; each write | made by a write |"
                " counts | the first page |\n"
                "\n## b\n\n" +
                head +
                "| b.channel | `news` | channel | none | never stored | tells |"
                " the second page |\n");
}

TEST(KeyInventory, PrintsAnEmptyInventory) {
  EXPECT_EQ(FormatInventory({}, InventoryFormat::kTable), "SYSTEM  FAMILY  PATTERN  TYPE  TTL\n");
  EXPECT_EQ(FormatInventory({}, InventoryFormat::kJson), "[]\n");
  EXPECT_EQ(FormatInventory({}, InventoryFormat::kMarkdown), "");
}

TEST(KeyInventory, ReadsTheNamesOfItsFormats) {
  EXPECT_EQ(ParseInventoryFormat("table"), InventoryFormat::kTable);
  EXPECT_EQ(ParseInventoryFormat("json"), InventoryFormat::kJson);
  EXPECT_EQ(ParseInventoryFormat("markdown"), InventoryFormat::kMarkdown);
  EXPECT_EQ(ParseInventoryFormat("yaml"), std::nullopt);
}

}  // namespace
}  // namespace redouble::inline v0_1::store
