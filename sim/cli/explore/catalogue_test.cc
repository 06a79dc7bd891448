#include "redouble/sim/cli/explore/catalogue.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "redouble/sim/cli/support/scenario_files.h"

namespace redouble::inline v0_1::sim {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class CatalogueTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::path(std::getenv("TEST_TMPDIR")) /
              testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::create_directories(folder_ / "h" / "shop");
    Write("README.md", "before\n<!-- catalogue -->\nold\n<!-- end of catalogue -->\nafter\n");
    catalogue_.Add({"A race", "h/shop/race.world.json", "shop.md 1", "3", "4 steps", "no option"});
  }

  void Write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / "h" / name) << text;
  }

  std::string Table() { return *ReadFile(folder_ / "h" / "README.md"); }

  std::filesystem::path folder_ = std::filesystem::path(std::getenv("TEST_TMPDIR")) /
                                  testing::UnitTest::GetInstance()->current_test_info()->name();
  Catalogue catalogue_{folder_, "h/README.md"};
};

constexpr char kRow[] =
    "| [A race](shop/race.world.json) | shop.md 1 | 3 | 4 steps | no option |\n";

TEST_F(CatalogueTest, PutsTheTableBetweenTheMarks) {
  ASSERT_TRUE(catalogue_.Write().ok());
  EXPECT_THAT(Table(), StartsWith("before\n<!-- catalogue -->\n\n| hazard | source |"));
  EXPECT_THAT(Table(), HasSubstr(std::string(kRow) + "\n<!-- end of catalogue -->\nafter\n"));
}

TEST_F(CatalogueTest, ListsHazardsWithoutAWorldAndKeepsThemWhenRewritten) {
  Write("documented.jsonl",
        "{\"source\": \"shop.md 1\"}\n"
        "{\"source\": \"shop.md 2\", \"hazard\": \"It is slow\", \"reason\": \"no clock\"}\n");
  ASSERT_TRUE(catalogue_.Write().ok());
  const std::string once = Table();
  EXPECT_THAT(once, HasSubstr("| hazard | source | why |\n| --- | --- | --- |\n"
                              "| It is slow | shop.md 2 | no clock |\n\n<!-- end"));
  ASSERT_TRUE(catalogue_.Write().ok());
  EXPECT_EQ(Table(), once);
}

TEST_F(CatalogueTest, RefusesAFileWithoutMarks) {
  Write("README.md", "no marks\n");
  EXPECT_EQ(catalogue_.Write(),
            absl::InvalidArgumentError("h/README.md: expected the lines <!-- catalogue --> and "
                                       "<!-- end of catalogue -->"));
}

TEST_F(CatalogueTest, RefusesAMissingFile) {
  EXPECT_THAT(std::string(Catalogue(folder_, "h/none.md").Write().message()),
              StartsWith("h/none.md: "));
}

TEST_F(CatalogueTest, RefusesAMalformedListAndLeavesTheTable) {
  Write("documented.jsonl", "{}\n");
  EXPECT_THAT(std::string(catalogue_.Write().message()), StartsWith("documented.jsonl: line 1: "));
  EXPECT_THAT(Table(), HasSubstr("old"));
}

TEST(ParseDocumentedHazards, ReadsOneHazardPerLine) {
  const auto rows = ParseDocumentedHazards(
      "{\"source\": \"a 1\"}\n\n{\"source\": \"a 2\", \"hazard\": \"h\", \"reason\": \"r\"}");
  ASSERT_TRUE(rows.ok()) << rows.status();
  ASSERT_EQ(rows->size(), 2u);
  EXPECT_EQ((*rows)[0].reason, "");
  EXPECT_EQ((*rows)[1].source, "a 2");
  EXPECT_EQ((*rows)[1].hazard, "h");
}

TEST(ParseDocumentedHazards, RefusesLinesOfAnotherForm) {
  for (const char* line : {"[]", "{", "{\"source\": 1}", "{\"source\": \"a\", \"more\": 1}",
                           "{\"source\": \"a\", \"reason\": \"r\"}",
                           "{\"source\": \"a\", \"hazard\": \"h\"}", "{\"source\": \"first\"}"}) {
    const auto rows = ParseDocumentedHazards(std::string("{\"source\": \"first\"}\n") + line);
    EXPECT_THAT(std::string(rows.status().message()), StartsWith("line 2: ")) << line;
  }
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
