#include "redouble/core/store/keyspace/key_family.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "redouble/core/store/keyspace/key_family_testing.h"

namespace redouble::inline v0_1::store {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr KeyFamily Row(std::string_view id, std::string_view system, std::string_view pattern,
                        std::string_view overlaps = "") {
  KeyFamily family = {};
  family.id = id;
  family.system = system;
  family.pattern = pattern;
  family.overlaps = overlaps;
  return family;
}

// Patterns from the key tables of the systems.
constexpr KeyFamily kFamilies[] = {
    Row("relayna.history", "relayna", "{prefix}:history:{task_id:any}"),
    Row("relayna.event", "relayna", "{prefix}:event:{task_id:any}:{token:any}",
        "relayna.feed_event relayna.other"),
    Row("relayna.feed_event", "relayna", "{prefix}:event:{cursor:any}"),
    Row("orchestrator.ir", "orchestrator", "ir:{run_id}"),
    Row("orchestrator.tagged_counter", "orchestrator", "counter:{{{run_id}}}"),
    Row("korvet.stream", "korvet", "{keyspace}:stream:{topic}:{partition:int}"),
    Row("threescale.service_counter", "threescale",
        "stats/{{service:{service}}}/metric:{metric}/{granularity:month|week|day}:{start:d8}"),
    Row("threescale.service_total", "threescale",
        "stats/{{service:{service}}}/metric:{metric}/eternity"),
};
constexpr KeyBinding kBindings[] = {{"prefix", "relayna"}, {"keyspace", "korvet"}};

std::vector<std::string> Ids(const Recognition& recognition) {
  std::vector<std::string> ids;
  for (const KeyMatch& match : recognition.matches) ids.emplace_back(match.family->id);
  return ids;
}

FamilyTable Table() {
  FamilyTable table;
  EXPECT_TRUE(table.Add(kFamilies, kBindings).ok());
  return table;
}

TEST(FamilyTable, RecognisesAKeyAndTakesItApart) {
  const FamilyTable table = Table();
  const std::string key = "stats/{service:1}/metric:hits/day:20250423";
  const Recognition recognition = table.Recognise(key);
  ASSERT_THAT(Ids(recognition), ElementsAre("threescale.service_counter"));
  EXPECT_THAT(recognition.matches[0].values, ElementsAre("1", "hits", "day", "20250423"));
  EXPECT_EQ(recognition.matches[0].pattern, table.PatternOf("threescale.service_counter"));
  EXPECT_FALSE(recognition.undeclared_overlap);
}

TEST(FamilyTable, RecognisesNothingInAForeignKey) {
  EXPECT_TRUE(Table().Recognise("session:7").matches.empty());
  EXPECT_TRUE(Table().Recognise("").matches.empty());
}

TEST(FamilyTable, AllowsOverlapsThatTheInventoryDeclares) {
  const FamilyTable table = Table();
  const Recognition recognition = table.Recognise("relayna:event:task:token");
  EXPECT_THAT(Ids(recognition), ElementsAre("relayna.event", "relayna.feed_event"));
  EXPECT_FALSE(recognition.undeclared_overlap);
}

TEST(FamilyTable, ReportsOverlapsThatItDoesNot) {
  static constexpr KeyFamily kAmbiguous[] = {
      Row("x.one", "x", "{a}:{b}"),
      Row("x.two", "x", "k:{b}"),
      Row("y.one", "y", "m:{b}"),
  };
  FamilyTable table;
  ASSERT_TRUE(table.Add(kAmbiguous).ok());
  EXPECT_TRUE(table.Recognise("k:1").undeclared_overlap);
  EXPECT_FALSE(table.Recognise("m:1").undeclared_overlap) << "two systems share a key space";
}

TEST(FamilyTable, ListsAndFindsItsFamilies) {
  const FamilyTable table = Table();
  EXPECT_EQ(table.families().size(), std::size(kFamilies));
  EXPECT_EQ(table.families()[0], &kFamilies[0]);
  EXPECT_EQ(table.Find("korvet.stream"), &kFamilies[5]);
  EXPECT_EQ(table.PatternOf("korvet.stream")->text(), "korvet:stream:{topic}:{partition:int}");
  EXPECT_EQ(table.Find("korvet.streams"), nullptr);
  EXPECT_EQ(table.PatternOf("korvet.streams"), nullptr);
}

TEST(FamilyTable, RefusesAnIdTwice) {
  FamilyTable table = Table();
  const absl::Status again = table.Add(std::span(kFamilies).subspan(3, 1));
  EXPECT_EQ(again, absl::InvalidArgumentError("there are two key families orchestrator.ir"));
  static constexpr KeyFamily kTwice[] = {Row("a", "x", "a"), Row("a", "x", "b")};
  EXPECT_FALSE(table.Add(kTwice).ok());
  EXPECT_EQ(table.families().size(), std::size(kFamilies)) << "nothing was added";
}

TEST(FamilyTable, RefusesMalformedPatternsAndBindings) {
  static constexpr KeyFamily kMalformed[] = {Row("a", "x", "a:{")};
  FamilyTable table;
  EXPECT_THAT(std::string(table.Add(kMalformed).message()), HasSubstr("is malformed"));
  const KeyBinding unknown[] = {{"nothing", "x"}};
  EXPECT_EQ(table.Add(kFamilies, unknown),
            absl::InvalidArgumentError("no key family has a placeholder nothing"));
  const KeyBinding empty[] = {{"prefix", ""}};
  EXPECT_THAT(std::string(table.Add(kFamilies, empty).message()), HasSubstr("must not be empty"));
  EXPECT_TRUE(table.families().empty());
}

TEST(KeyFamily, RoundTripsForEverySystem) { ExpectKeyFamiliesRoundTrip(kFamilies, kBindings); }

TEST(KeyFamily, RoundTripsWithAFreePrefix) {
  ExpectKeyFamiliesRoundTrip(std::span(kFamilies).first(1));
}

}  // namespace
}  // namespace redouble::inline v0_1::store
