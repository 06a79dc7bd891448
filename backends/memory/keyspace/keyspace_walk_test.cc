// Goal: a walk visits the keys as they were when it began, whatever happens to them meanwhile, and
// keeps no more than what has changed.
#include "redouble/backends/memory/keyspace/keyspace_walk.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "redouble/core/base/random/rng.h"

namespace redouble::inline v0_1::memory {
namespace {

// "key=value used@deadline " of an entry.
void Describe(const Database& db, const Database::Entry& entry, EvictionRecord use,
              std::string& out) {
  absl::StrAppend(&out, std::string(entry.key()), "=", entry.value.integer(), " ", use.used_s, "@",
                  db.DeadlineOf(entry).value_or(-1), " ");
}

const EncodeKey kDescribe = Describe;

void Fill(Database& db, int keys) {
  for (int i = 0; i < keys; ++i) db.Add(absl::StrCat("k", i), Value::Integer(i));
}

std::string Rest(DatabaseWalk& walk) {
  std::string text;
  while (walk.Next(text)) {
  }
  return text;
}

std::string Now(Database& db) {
  DatabaseWalk walk(db, kDescribe, /*keeps_use=*/true);
  return Rest(walk);
}

TEST(KeyspaceWalk, VisitsKeysInTheirOrder) {
  Database db;
  Fill(db, 2);
  db.SetExpiry(*db.Find("k1"), 50);
  DatabaseWalk walk(db, kDescribe, false);
  EXPECT_EQ(walk.keys(), 2u);
  EXPECT_EQ(walk.expiring(), 1u);
  EXPECT_EQ(Rest(walk), "k0=0 0@-1 k1=1 0@50 ");
  std::string none;
  EXPECT_FALSE(walk.Next(none));
  EXPECT_EQ(none, "");
}

TEST(KeyspaceWalk, OfAnEmptyDatabaseVisitsNothing) {
  Database db;
  DatabaseWalk walk(db, kDescribe, false);
  Fill(db, 1);
  EXPECT_EQ(Rest(walk), "");
}

TEST(KeyspaceWalk, ShowsChangedKeysAsTheyWere) {
  Database db;
  Fill(db, 4);
  DatabaseWalk walk(db, kDescribe, false);
  std::string text;
  ASSERT_TRUE(walk.Next(text));
  db.Find("k0")->value = Value::Integer(10);
  db.Find("k1")->value = Value::Integer(11);
  db.SetExpiry(*db.Find("k2"), 50);
  db.Find("k1")->value = Value::Integer(12);
  db.Add("k4", Value::Integer(4));
  EXPECT_EQ(text + Rest(walk), "k0=0 0@-1 k1=1 0@-1 k2=2 0@-1 k3=3 0@-1 ");
}

TEST(KeyspaceWalk, ShowsRemovedKeysAndThoseThatTheyMoved) {
  Database db;
  Fill(db, 4);
  const std::string before = Now(db);
  DatabaseWalk walk(db, kDescribe, false);
  std::string text;
  ASSERT_TRUE(walk.Next(text));
  db.Remove("k0");  // k3 moves to a place that the walk has left.
  db.Remove("k1");
  db.Add("k0", Value::Integer(20));
  db.Add("new", Value::Integer(21));
  EXPECT_EQ(text + Rest(walk), before);
}

// What the encoder of a file with idle times reads changes with each lookup.
TEST(KeyspaceWalk, ShowsWhenKeysWereUsed) {
  Database db;
  Fill(db, 2);
  DatabaseWalk walk(db, kDescribe, /*keeps_use=*/true);
  walk.set_only_reads(true);
  db.Find("k0")->eviction.used_s = 7;
  db.Find("k1")->eviction.used_s = 7;
  walk.set_only_reads(false);
  db.Find("k1")->value = Value::Integer(11);
  EXPECT_EQ(Rest(walk), "k0=0 0@-1 k1=1 0@-1 ");
}

TEST(KeyspaceWalk, KeepsNothingOfWhatIsOnlyRead) {
  int encoded = 0;
  const EncodeKey count = [&](const Database&, const Database::Entry&, EvictionRecord,
                              std::string&) { ++encoded; };
  Database db;
  Fill(db, 2);
  DatabaseWalk walk(db, count, false);
  walk.set_only_reads(true);
  db.Find("k0");
  EXPECT_EQ(encoded, 0);
  walk.set_only_reads(false);
  db.Find("k0");
  db.Find("k0");
  EXPECT_EQ(encoded, 1);
  Rest(walk);
  EXPECT_EQ(encoded, 2);
  db.Find("k0");
  EXPECT_EQ(encoded, 2);
}

TEST(KeyspaceWalk, SeveralEndInAnyOrder) {
  Database db;
  Fill(db, 3);
  const std::string before = Now(db);
  auto first = std::make_unique<DatabaseWalk>(db, kDescribe, false);
  auto second = std::make_unique<DatabaseWalk>(db, kDescribe, false);
  auto third = std::make_unique<DatabaseWalk>(db, kDescribe, false);
  db.Remove("k1");
  second.reset();
  db.Remove("k2");
  EXPECT_EQ(Rest(*third), before);
  db.Remove("k0");
  EXPECT_EQ(Rest(*first), before);
}

TEST(KeyspaceWalk, KeepsADatabaseThatIsNotUsedAnyMore) {
  auto db = std::make_unique<Database>();
  Fill(*db, 3);
  const std::string before = Now(*db);
  KeyspaceWalk walk({db.get()}, kDescribe);
  db->Remove("k1");
  walk.Keep(std::move(db));
  std::string text;
  while (walk.Next(0, text)) {
  }
  EXPECT_EQ(text, before);
}

TEST(KeyspaceWalk, ShowsTheBeginningAfterRandomChanges) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    base::Rng rng(seed);
    Database db;
    Fill(db, static_cast<int>(rng.Below(40)));
    const std::string before = Now(db);
    DatabaseWalk walk(db, kDescribe, /*keeps_use=*/true);
    std::string text;
    int next = 1000;
    for (bool continues = true; continues;) {
      const std::string key = absl::StrCat("k", rng.Below(40));
      Database::Entry* entry = db.Find(key);
      switch (rng.Below(5)) {
        case 0:
          db.Remove(key);
          break;
        case 1:
          if (entry == nullptr) db.Add(key, Value::Integer(next++));
          break;
        case 2:
          if (entry != nullptr) entry->value = Value::Integer(next++);
          break;
        case 3:
          if (entry != nullptr) db.SetExpiry(*entry, next++);
          break;
        default:
          continues = walk.Next(text);
      }
    }
    EXPECT_EQ(text, before) << "seed " << seed;
  }
}

}  // namespace
}  // namespace redouble::inline v0_1::memory
