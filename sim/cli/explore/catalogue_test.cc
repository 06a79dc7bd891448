#include "redouble/sim/cli/explore/catalogue.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

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
    catalogue_.Add({.name = "A race",
                    .file = "h/shop/race.world.json",
                    .source = "shop.md 1",
                    .survey = {.random_schedules = 300,
                               .random_failing = 40,
                               .serial_orders = 2,
                               .fewest = 1,
                               .complete = true,
                               .schedules = 14,
                               .failing = 5},
                    .hardened = "no option"});
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
    "| [A race](shop/race.world.json) | shop.md 1 | 40 of 300 | 0 of 2 | 1 | all 14, 5 fail | no "
    "option |\n";

TEST_F(CatalogueTest, PutsTheTableBetweenTheMarks) {
  ASSERT_TRUE(catalogue_.Write().ok());
  EXPECT_THAT(Table(), StartsWith("before\n<!-- catalogue -->\n\n| race | source |"));
  EXPECT_THAT(Table(), HasSubstr(std::string(kRow) + "\n<!-- end of catalogue -->\nafter\n"));
}

TEST_F(CatalogueTest, SaysHowFarALargeSpaceWasSearched) {
  WorldSurvey survey{.random_schedules = 300, .serial_orders = 2, .complete_bound = 2};
  catalogue_.Add({"Large", "h/large.world.json", "shop.md 1", survey, "none in 7"});
  survey.complete_bound = -1;
  catalogue_.Add({"Vast", "h/vast.world.json", "shop.md 1", survey, "none in 7"});
  ASSERT_TRUE(catalogue_.Write().ok());
  EXPECT_THAT(Table(), HasSubstr("| 0 of 2 | not found | complete up to 2 | none in 7 |"));
  EXPECT_THAT(Table(), HasSubstr("| 0 of 2 | not found |  | none in 7 |"));
}

TEST_F(CatalogueTest, ListsDocumentedHazardsAndKeepsThemWhenRewritten) {
  Write("documented.jsonl",
        "{\"source\": \"shop.md 1\", \"option\": \"`one_script`\"}\n"
        "{\"source\": \"shop.md 2\", \"hazard\": \"It is slow\", \"reason\": \"no clock\", "
        "\"scenarios\": [\"../shop/slow.json\"], \"no_option\": \"wait\"}\n");
  ASSERT_TRUE(catalogue_.Write().ok());
  const std::string once = Table();
  EXPECT_THAT(once, HasSubstr("Of 2 documented hazards, 1 have an option that removes them, and 1 "
                              "have none:\n\n| hazard | shown by | option |\n"
                              "| --- | --- | --- |\n"
                              "| shop.md 1 | [race](shop/race.world.json) | `one_script` |\n"
                              "| shop.md 2 | [slow](../shop/slow.json) | none: wait |\n"));
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
      R"({"source": "a 1", "option": "o", "scenarios": ["x.json", "y.json"]}

         {"source": "a 2", "hazard": "h", "reason": "r", "no_option": "n"})");
  ASSERT_TRUE(rows.ok()) << rows.status();
  ASSERT_EQ(rows->size(), 2u);
  EXPECT_EQ((*rows)[0].reason, "");
  EXPECT_EQ((*rows)[0].option, "o");
  EXPECT_EQ((*rows)[0].scenarios, (std::vector<std::string>{"x.json", "y.json"}));
  EXPECT_EQ((*rows)[1].source, "a 2");
  EXPECT_EQ((*rows)[1].hazard, "h");
  EXPECT_EQ((*rows)[1].no_option, "n");
}

TEST(ParseDocumentedHazards, RefusesLinesOfAnotherForm) {
  for (const char* line : {R"([])", R"({)", R"({"source": 1, "option": "o"})", R"({"source": "a"})",
                           R"({"source": "a", "option": "o", "more": 1})",
                           R"({"source": "a", "option": "o", "no_option": "n"})",
                           R"({"source": "a", "option": "o", "scenarios": "x.json"})",
                           R"({"source": "a", "option": "o", "reason": "r"})",
                           R"({"source": "a", "option": "o", "hazard": "h"})",
                           R"({"source": "first", "option": "o"})"}) {
    const auto rows =
        ParseDocumentedHazards(std::string(R"({"source": "first", "option": "o"})") + "\n" + line);
    EXPECT_THAT(std::string(rows.status().message()), StartsWith("line 2: ")) << line;
  }
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
