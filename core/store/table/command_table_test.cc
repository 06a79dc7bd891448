#include "redouble/core/store/table/command_table.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"

namespace redouble::inline v0_1::store {
namespace {

using Indexes = std::optional<std::vector<size_t>>;
using Words = std::vector<std::string_view>;

std::string Upper(std::string_view text) {
  std::string upper(text);
  for (char& c : upper) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return upper;
}

Indexes KeysOf(CommandId id, const Words& arguments) { return KeyIndexes(SpecOf(id), arguments); }

Indexes At(std::vector<size_t> indexes) { return indexes; }

TEST(CommandTable, HasOneRowPerIdInItsPlace) {
  ASSERT_EQ(AllCommands().size(), kCommandCount);
  std::set<std::string_view> names;
  for (size_t i = 0; i < kCommandCount; ++i) {
    const CommandSpec& spec = AllCommands()[i];
    EXPECT_EQ(static_cast<size_t>(spec.id), i);
    EXPECT_EQ(&SpecOf(spec.id), &spec);
    EXPECT_TRUE(names.insert(spec.name).second) << spec.name << " has two rows";
  }
}

TEST(CommandTable, HasOnlyLowerCaseNamesAndPlausibleRows) {
  for (const CommandSpec& spec : AllCommands()) {
    for (const char c : spec.name) EXPECT_FALSE(c >= 'A' && c <= 'Z') << spec.name;
    EXPECT_NE(spec.arity, 0) << spec.name;
    EXPECT_FALSE(spec.Has(command_flag::kWrite) && spec.Has(command_flag::kReadOnly)) << spec.name;
    EXPECT_EQ(std::count(spec.since.begin(), spec.since.end(), '.'), 2) << spec.name;
    EXPECT_FALSE(GroupName(spec.group).empty());
  }
}

TEST(CommandTable, HasARowForTheContainerOfEverySubcommand) {
  for (const CommandSpec& spec : AllCommands()) {
    if (!spec.is_subcommand()) {
      EXPECT_EQ(spec.container(), "");
      EXPECT_EQ(spec.subcommand(), spec.name);
      continue;
    }
    const CommandId container = FindCommand(spec.container());
    ASSERT_NE(container, CommandId::kUnknown) << spec.name;
    EXPECT_TRUE(IsContainer(container));
    EXPECT_FALSE(IsContainer(spec.id));
    EXPECT_EQ(std::string(spec.container()) + "|" + std::string(spec.subcommand()), spec.name);
    EXPECT_EQ(FindSubcommand(container, spec.subcommand()), spec.id);
    EXPECT_EQ(FindSubcommand(container, Upper(spec.subcommand())), spec.id);
  }
}

TEST(CommandTable, FindsEveryNameInAnyCase) {
  for (const CommandSpec& spec : AllCommands()) {
    EXPECT_EQ(FindCommand(spec.name), spec.id);
    EXPECT_EQ(FindCommand(Upper(spec.name)), spec.id);
  }
}

TEST(CommandTable, FindsNothingUnderOtherNames) {
  for (const std::string_view name :
       {std::string_view(""), std::string_view("ge"), std::string_view("gett"),
        std::string_view(" get"), std::string_view("get|"), std::string_view("|"),
        std::string_view("get\0", 4), std::string_view("xgroup\\create"),
        std::string_view("client|no\revict")}) {
    EXPECT_EQ(FindCommand(name), CommandId::kUnknown) << name;
  }
}

TEST(CommandTable, FindsNoSubcommandThatIsNotThere) {
  EXPECT_EQ(FindSubcommand(CommandId::kGet, "set"), CommandId::kUnknown);
  EXPECT_EQ(FindSubcommand(CommandId::kGet, ""), CommandId::kUnknown);
  EXPECT_FALSE(IsContainer(CommandId::kGet));
  EXPECT_FALSE(IsContainer(CommandId::kUnknown));
}

TEST(CommandTable, NamesTheGroupsAsCommandDocsDoes) {
  EXPECT_EQ(GroupName(CommandGroup::kString), "string");
  EXPECT_EQ(GroupName(CommandGroup::kSortedSet), "sorted-set");
  EXPECT_EQ(GroupName(CommandGroup::kHyperLogLog), "hyperloglog");
  EXPECT_EQ(GroupName(CommandGroup::kTransactions), "transactions");
  EXPECT_EQ(GroupName(CommandGroup::kCluster), "cluster");
}

TEST(KeyIndexes, FindsOneKey) {
  EXPECT_EQ(KeysOf(CommandId::kSet, {"k", "v"}), At({0}));
  EXPECT_EQ(KeysOf(CommandId::kSet, {"k", "v", "PX", "5"}), At({0}));
}

TEST(KeyIndexes, FindsTwoSpecsWithAKeyEach) {
  EXPECT_EQ(KeysOf(CommandId::kRename, {"from", "to"}), At({0, 1}));
}

TEST(KeyIndexes, FindsKeysUpToTheEnd) {
  EXPECT_EQ(KeysOf(CommandId::kMGet, {"a"}), At({0}));
  EXPECT_EQ(KeysOf(CommandId::kMGet, {"a", "b", "c"}), At({0, 1, 2}));
}

TEST(KeyIndexes, FindsKeysAPairApart) {
  EXPECT_EQ(KeysOf(CommandId::kMSet, {"a", "1", "b", "2"}), At({0, 2}));
}

TEST(KeyIndexes, FindsNoneWhereThereAreNone) {
  EXPECT_EQ(KeysOf(CommandId::kPing, {}), At({}));
  EXPECT_EQ(KeysOf(CommandId::kEcho, {"key"}), At({}));
}

TEST(KeyIndexes, HasNoValueForTooFewArguments) {
  EXPECT_EQ(KeysOf(CommandId::kGet, {}), std::nullopt);
  EXPECT_EQ(KeysOf(CommandId::kMGet, {}), std::nullopt);
  EXPECT_EQ(KeysOf(CommandId::kRename, {"from"}), std::nullopt);
}

// Returns a row with a key spec that no row of the table may have.
CommandSpec Made(KeySpec key) {
  CommandSpec spec = SpecOf(CommandId::kPing);
  spec.flags = command_flag::kNoMandatoryKeys;
  spec.key_spec_count = 1;
  spec.key_specs[0] = key;
  return spec;
}
Indexes KeysBy(const KeySpec& key, const Words& arguments) {
  return KeyIndexes(Made(key), arguments);
}

TEST(KeyIndexes, StopsBeforeTheEndWhenTheLastIsNoKey) {
  const KeySpec pop = {
      .begin = KeySpec::Begin::kIndex, .find = KeySpec::Find::kRange, .position = 1, .last = -2};
  EXPECT_EQ(KeysBy(pop, {"a", "b", "0"}), At({0, 1}));
  EXPECT_EQ(KeysBy(pop, {"a", "0"}), At({0}));
  EXPECT_EQ(KeysBy(pop, {"0"}), std::nullopt);
}

TEST(KeyIndexes, CountsKeys) {
  const KeySpec counted = {
      .begin = KeySpec::Begin::kIndex, .find = KeySpec::Find::kKeyNum, .position = 2};
  EXPECT_EQ(KeysBy(counted, {"script", "2", "a", "b", "x"}), At({2, 3}));
  EXPECT_EQ(KeysBy(counted, {"script", "0", "x"}), At({}));
  EXPECT_EQ(KeysBy(counted, {"script", "0"}), At({}));
  EXPECT_EQ(KeysBy(counted, {"script", "2", "a"}), std::nullopt);
  EXPECT_EQ(KeysBy(counted, {"script", "-1", "a"}), std::nullopt);
  EXPECT_EQ(KeysBy(counted, {"script", "two", "a"}), std::nullopt);
  EXPECT_EQ(KeysBy(counted, {"script", "9223372036854775807", "a"}), std::nullopt);
  EXPECT_EQ(KeysBy(counted, {"script"}), std::nullopt);
}

TEST(KeyIndexes, HasNoValueForNoKeysWhereOneIsNeeded) {
  EXPECT_EQ(KeysOf(CommandId::kZUnionStore, {"to", "0", "a"}), std::nullopt);
  EXPECT_EQ(KeysOf(CommandId::kEval, {"script", "0", "a"}), At({}));
}

TEST(KeyIndexes, FindsWhatSortStoresInto) {
  EXPECT_EQ(KeysOf(CommandId::kSort, {"a"}), At({0}));
  EXPECT_EQ(KeysOf(CommandId::kSort, {"a", "BY", "store", "GET", "x", "Store", "to"}), At({0, 6}));
  EXPECT_EQ(KeysOf(CommandId::kSort, {"a", "STORE", "b", "STORE", "c"}), At({0, 4}));
  EXPECT_EQ(KeysOf(CommandId::kSort, {"a", "LIMIT", "store", "b", "store"}), At({0}));
  EXPECT_EQ(KeysOf(CommandId::kSortRo, {"a", "STORE", "b"}), At({0}));
}

TEST(KeyIndexes, FindsWhatGeoRadiusStoresInto) {
  EXPECT_EQ(KeysOf(CommandId::kGeoRadius, {"a", "1", "1", "1", "m", "store", "b"}), At({0, 6}));
  EXPECT_EQ(KeysOf(CommandId::kGeoRadius, {"a", "1", "1", "1", "m", "store"}), At({0}));
}

TEST(KeyIndexes, LooksForAKeywordInAnyCase) {
  const KeySpec streams = {.begin = KeySpec::Begin::kKeyword,
                           .find = KeySpec::Find::kRange,
                           .position = 1,
                           .keyword = "STREAMS",
                           .last = -1,
                           .limit = 2};
  EXPECT_EQ(KeysBy(streams, {"COUNT", "5", "streams", "a", "b", "0", "0"}), At({3, 4}));
  EXPECT_EQ(KeysBy(streams, {"STREAMS", "a", "0"}), At({1}));
  EXPECT_EQ(KeysBy(streams, {"COUNT", "5"}), At({}));
  // Redis does not search the last word.
  EXPECT_EQ(KeysBy(streams, {"STREAMS"}), At({}));
}

TEST(KeyIndexes, LooksForAKeywordFromTheEnd) {
  const KeySpec keys = {.begin = KeySpec::Begin::kKeyword,
                        .find = KeySpec::Find::kRange,
                        .position = -2,
                        .keyword = "KEYS",
                        .last = -1};
  EXPECT_EQ(KeysBy(keys, {"host", "KEYS", "a", "b"}), At({2, 3}));
  EXPECT_EQ(KeysBy(keys, {"host", "a"}), At({}));
  EXPECT_EQ(KeysBy(keys, {}), At({}));
}

TEST(KeyIndexes, PassesOverWhatNoRuleFindsAndWhatIsNoKey) {
  const KeySpec unknown_begin = {};
  EXPECT_EQ(KeysBy(unknown_begin, {"a"}), At({}));
  const KeySpec unknown_find = {.begin = KeySpec::Begin::kIndex, .position = 1};
  EXPECT_EQ(KeysBy(unknown_find, {"a"}), At({}));
  const KeySpec not_key = {.begin = KeySpec::Begin::kIndex,
                           .find = KeySpec::Find::kRange,
                           .flags = KeySpec::kNotKey,
                           .position = 1};
  EXPECT_EQ(KeysBy(not_key, {"a"}), At({}));
}

TEST(KeyIndexes, StaysInsideTheArgumentsOfEveryRow) {
  const Words words = {"1", "2", "STREAMS", "a", "0", "GET", "x", "3", "b"};
  for (const CommandSpec& spec : AllCommands()) {
    for (size_t count = 0; count <= words.size(); ++count) {
      const Indexes indexes = KeyIndexes(spec, std::span(words).first(count));
      if (!indexes) continue;
      for (const size_t index : *indexes) EXPECT_LT(index, count) << spec.name;
    }
  }
}

}  // namespace
}  // namespace redouble::inline v0_1::store
