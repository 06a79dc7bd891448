#include "redouble/backends/memory/values/encodings/dense_table.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "rapidcheck/gtest.h"

namespace redouble::inline v0_1::memory {
namespace {

class Entry {
 public:
  Entry(std::string key, int value) : value(value), key_(std::move(key)) {}
  std::string_view key() const { return key_; }
  int value;

 private:
  std::string key_;
};
using Table = DenseTable<Entry>;

std::vector<std::string> KeysInOrder(const Table& table) {
  std::vector<std::string> keys;
  for (size_t i = 0; i < table.size(); ++i) keys.emplace_back(table.at(i).key());
  return keys;
}

TEST(DenseTable, FindsEntriesByKeyAndByPosition) {
  Table table;
  EXPECT_TRUE(table.empty());
  table.Append(Entry("a", 1));
  table.Append(Entry("", 2));
  EXPECT_EQ(table.Find("a")->value, 1);
  EXPECT_EQ(table.Find("")->value, 2);
  EXPECT_EQ(table.Find("b"), nullptr);
  EXPECT_EQ(table.PositionOf(""), 1u);
  EXPECT_EQ(table.PositionOf("b"), Table::kNotFound);
  EXPECT_EQ(table.at(1).value, 2);
}

TEST(DenseTable, FillsAHoleWithTheLastEntry) {
  Table table;
  for (const char* key : {"a", "b", "c", "d"}) table.Append(Entry(key, 0));
  table.RemoveAt(table.PositionOf("b"));
  EXPECT_EQ(KeysInOrder(table), (std::vector<std::string>{"a", "d", "c"}));
  table.RemoveAt(2);
  EXPECT_EQ(KeysInOrder(table), (std::vector<std::string>{"a", "d"}));
}

TEST(DenseTable, MovesNoEntryWhenItGrowsFromAWholeBlock) {
  DenseTable<Entry, Table::kBlockEntries> table;
  const Entry* first = &table.Append(Entry("first", 1));
  for (int i = 0; i < 1000; ++i) table.Append(Entry(std::to_string(i), i));
  EXPECT_EQ(&table.at(0), first);
}

TEST(DenseTable, FindsEveryEntryWhileItsFirstBlockGrows) {
  Table table;
  for (int size = 1; size <= 300; ++size) {
    table.Append(Entry(std::to_string(size), size));
    for (int i = 1; i <= size; ++i) ASSERT_EQ(table.Find(std::to_string(i))->value, i);
  }
  while (table.size() > 1) table.RemoveAt(0);
  table.RemoveAt(0);
  table.Append(Entry("again", 1));
  EXPECT_EQ(table.Find("again")->value, 1);
  EXPECT_EQ(table.Find("1"), nullptr);
}

TEST(DenseTable, IndexesAppendedEntriesLater) {
  for (const uint64_t expected : {uint64_t{0}, uint64_t{1000}, ~uint64_t{0}}) {
    Table table;
    Table::Appender appender(table);
    appender.Expect(expected);
    for (int i = 0; i < 1000; ++i) {
      if (appender.full()) {
        ASSERT_EQ(appender.Index(), std::nullopt);
      }
      EXPECT_EQ(appender.Append(std::to_string(i), i).value, i);
    }
    ASSERT_EQ(appender.Index(), std::nullopt);
    EXPECT_EQ(appender.Index(), std::nullopt) << "no entry waits";
    ASSERT_EQ(table.size(), 1000u);
    for (int i = 0; i < 1000; ++i) ASSERT_EQ(table.PositionOf(std::to_string(i)), size_t(i));
    table.Append(Entry("more", 0));
    table.RemoveAt(5);
    EXPECT_EQ(table.PositionOf("more"), 5u);
  }
}

// The repeated key may be among those that wait, among those that are indexed, or in a table
// without an index.
TEST(DenseTable, NamesTheFirstAppendedEntryThatExists) {
  for (const int entries : {2, 7, 9, 20, 1000}) {
    for (const int original : {0, entries / 2, entries - 1}) {
      Table table;
      Table::Appender appender(table);
      for (int i = 0; i < entries; ++i) {
        if (appender.full()) {
          ASSERT_EQ(appender.Index(), std::nullopt);
        }
        appender.Append(std::to_string(i), i);
      }
      if (appender.full()) {
        ASSERT_EQ(appender.Index(), std::nullopt);
      }
      appender.Append(std::to_string(original), 0);
      EXPECT_EQ(appender.Index(), size_t(entries)) << entries << " " << original;
      table.Clear();
    }
  }
}

TEST(DenseTable, MakesRoomBeforeItIsFilled) {
  for (const size_t entries : {size_t{0}, size_t{8}, size_t{9}, size_t{1000}}) {
    Table table;
    table.Reserve(entries);
    table.Append(Entry("a", 1));
    table.Reserve(entries + 1);
    table.Append(Entry("b", 2));
    EXPECT_EQ(table.Find("a")->value, 1) << entries;
    EXPECT_EQ(table.Find("b")->value, 2) << entries;
  }
}

TEST(DenseTable, MovesNoEntryWithinTheRoomThatWasMade) {
  Table table;
  table.Reserve(100);
  const Entry* first = &table.Append(Entry("first", 1));
  for (int i = 1; i < 100; ++i) table.Append(Entry(std::to_string(i), i));
  EXPECT_EQ(&table.at(0), first);
  table.Append(Entry("one more", 2));
  EXPECT_EQ(table.Find("first")->value, 1);
  EXPECT_EQ(table.Find("one more")->value, 2);
}

TEST(DenseTable, FindsEveryEntryThroughManyComingsAndGoings) {
  Table table;
  for (int i = 0; i < 20'000; ++i) {
    table.Append(Entry(std::to_string(i), i));
    if (i >= 100) table.RemoveAt(table.PositionOf(std::to_string(i - 100)));
    table.PrefetchEntry(0);
    table.PrefetchIndex(0);
    table.PrefetchAtPlace(table.PrefetchPlace(std::to_string(i + 1)));
    table.PrefetchAtPlace(table.PrefetchPlace(std::to_string(i)));
  }
  ASSERT_EQ(table.size(), 100u);
  for (int i = 19'900; i < 20'000; ++i) ASSERT_EQ(table.Find(std::to_string(i))->value, i);
}

TEST(DenseTable, ClearsAndFillsAgain) {
  Table table;
  for (int i = 0; i < 300; ++i) table.Append(Entry(std::to_string(i), i));
  table.Clear();
  EXPECT_EQ(table.size(), 0u);
  EXPECT_EQ(table.Find("1"), nullptr);
  table.Append(Entry("1", 5));
  EXPECT_EQ(table.Find("1")->value, 5);
}

// Few keys, so that removals and additions of the same key occur.
RC_GTEST_PROP(DenseTable, AgreesWithAMap,
              (const std::vector<std::tuple<bool, uint8_t, int>>& steps)) {
  Table table;
  std::map<std::string, int> model;
  for (const auto& [adds, number, value] : steps) {
    const std::string key = std::to_string(number % 50);
    if (const size_t position = table.PositionOf(key); position != Table::kNotFound) {
      if (adds) {
        table.at(position).value = value;
        model[key] = value;
      } else {
        table.RemoveAt(position);
        model.erase(key);
      }
    } else {
      table.Append(Entry(key, value));
      model[key] = value;
    }
    RC_ASSERT(table.size() == model.size());
  }
  for (size_t i = 0; i < table.size(); ++i) {
    RC_ASSERT(model.at(std::string(table.at(i).key())) == table.at(i).value);
    RC_ASSERT(table.PositionOf(table.at(i).key()) == i);
  }
}

// SCAN's guarantee: an entry that exists during the whole scan is reported.
RC_GTEST_PROP(DenseTable, ScansWhatStaysThroughoutWhateverElseChanges,
              (const std::vector<std::tuple<bool, uint8_t>>& changes, uint8_t size)) {
  Table table;
  std::set<std::string> stays;
  for (int i = 0; i < size; ++i) {
    table.Append(Entry("first:" + std::to_string(i), i));
    stays.insert("first:" + std::to_string(i));
  }
  std::set<std::string> seen;
  const auto visit = [&](const Entry& entry) { seen.emplace(entry.key()); };
  uint64_t cursor = table.Scan(0, 3, visit);
  int added = 0;
  for (const auto& [adds, number] : changes) {
    if (cursor == 0) break;
    if (adds || table.empty()) {
      table.Append(Entry("late:" + std::to_string(added++), 0));
    } else {
      const size_t position = number % table.size();
      stays.erase(std::string(table.at(position).key()));
      table.RemoveAt(position);
    }
    cursor = table.Scan(cursor, 1 + number % 4, visit);
  }
  while (cursor != 0) cursor = table.Scan(cursor, 3, visit);
  RC_ASSERT(std::includes(seen.begin(), seen.end(), stays.begin(), stays.end()));
}

}  // namespace
}  // namespace redouble::inline v0_1::memory
