#include "redouble/backends/memory/keyspace/database.h"

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "gtest/gtest.h"

namespace redouble::inline v0_1::memory {
namespace {

constexpr int64_t kNow = 1'778'335'382'000;

std::vector<std::string> ExpireAt(Database& db, int64_t now_ms) {
  std::vector<std::string> expired;
  while (Database::Entry* entry = db.FirstExpired(now_ms)) {
    expired.emplace_back(entry->key());
    db.Remove(expired.back());
  }
  return expired;
}

TEST(Database, FindsWhatWasAddedUntilItIsRemoved) {
  Database db;
  db.Add("a", Value::Integer(1));
  ASSERT_NE(db.Find("a"), nullptr);
  EXPECT_EQ(db.Find("a")->value.integer(), 1);
  EXPECT_EQ(db.Find("b"), nullptr);
  EXPECT_TRUE(db.Remove("a"));
  EXPECT_FALSE(db.Remove("a"));
  EXPECT_EQ(db.size(), 0u);
}

TEST(Database, AppendsKeysWithAndWithoutAnExpiry) {
  Database db;
  Database::Appender appender(db);
  appender.Expect(1000);
  for (int i = 0; i < 100; ++i) {
    if (appender.full()) {
      ASSERT_EQ(appender.Index(), std::nullopt);
    }
    appender.Add(std::to_string(i), Value::Integer(i));
    if (i % 2 == 1) appender.SetExpiry(kNow - i);
  }
  ASSERT_EQ(appender.Index(), std::nullopt);
  EXPECT_EQ(db.size(), 100u);
  EXPECT_EQ(db.expiring(), 50u);
  EXPECT_FALSE(db.Find("6")->expires());
  EXPECT_EQ(db.DeadlineOf(*db.Find("7")), kNow - 7);
  EXPECT_EQ(ExpireAt(db, kNow - 96), std::vector<std::string>({"99", "97"}));
  EXPECT_EQ(db.Find("98")->value.integer(), 98);
}

TEST(Database, NamesAnAppendedKeyThatExists) {
  Database db;
  Database::Appender appender(db);
  for (const char* key : {"a", "b", "a", "b"}) appender.Add(key, Value());
  EXPECT_EQ(appender.Index(), 2u);
}

TEST(Database, KeepsAKeyAtItsDeadlineAndGivesItUpAMillisecondLater) {
  Database db;
  Database::Entry& entry = db.Add("a", Value());
  db.SetExpiry(entry, kNow);
  EXPECT_EQ(db.DeadlineOf(entry), kNow);
  EXPECT_EQ(db.FirstExpired(kNow), nullptr);
  EXPECT_EQ(ExpireAt(db, kNow + 1), std::vector<std::string>({"a"}));
}

TEST(Database, ForgetsAnExpiryThatIsClearedOrReplaced) {
  Database db;
  Database::Entry& entry = db.Add("a", Value());
  EXPECT_FALSE(db.ClearExpiry(entry));
  db.SetExpiry(entry, kNow);
  EXPECT_EQ(db.expiring(), 1u);
  EXPECT_TRUE(db.ClearExpiry(entry));
  EXPECT_EQ(db.DeadlineOf(entry), std::nullopt);
  db.SetExpiry(entry, kNow);
  db.SetExpiry(entry, kNow + 10);
  EXPECT_EQ(db.expiring(), 1u);
  EXPECT_EQ(db.FirstExpired(kNow + 10), nullptr);
  EXPECT_EQ(ExpireAt(db, kNow + 11), std::vector<std::string>({"a"}));
}

// Removing a key moves another entry; its expiry must follow it.
TEST(Database, ExpiresTheRightKeysAfterOthersWereRemoved) {
  Database db;
  for (const char* key : {"a", "b", "c", "d"}) db.Add(key, Value());
  db.SetExpiry(*db.Find("d"), kNow);
  db.SetExpiry(*db.Find("b"), kNow + 5);
  db.Remove("a");
  db.Remove("c");
  EXPECT_EQ(ExpireAt(db, kNow + 100), (std::vector<std::string>{"d", "b"}));
  EXPECT_EQ(db.size(), 0u);
}

TEST(Database, TakesAKeysExpiryAlongWhenTheKeyIsRemoved) {
  Database db;
  db.SetExpiry(db.Add("a", Value()), kNow);
  db.Remove("a");
  EXPECT_EQ(db.expiring(), 0u);
  db.Add("a", Value());
  EXPECT_EQ(ExpireAt(db, kNow + 1), std::vector<std::string>());
}

TEST(Database, RemovesAnExpiringKeyByWhereItStands) {
  Database db;
  db.Add("first", Value::String("1"));
  db.SetExpiry(db.Add("a", Value::String("2")), 100);
  db.SetExpiry(db.Add("b", Value::String("3")), 50);
  db.Remove("first");
  while (Database::Entry* entry = db.FirstExpired(1000)) db.RemoveExpiring(*entry);
  EXPECT_EQ(db.size(), 0u);
  EXPECT_EQ(db.expiring(), 0u);
}

TEST(Database, PrefetchesNoMoreThanThereIs) {
  Database db;
  for (int i = 0; i < 100; ++i) {
    db.SetExpiry(db.Add("key:" + std::to_string(i), Value::Integer(i)), kNow + i % 7);
  }
  std::vector<std::string> expired;
  while (Database::Entry* entry = db.FirstExpired(kNow + 6)) {
    const size_t prefetched = db.PrefetchExpired();
    EXPECT_GE(prefetched, 1u);
    EXPECT_LE(prefetched, db.expiring());
    expired.emplace_back(entry->key());
    db.RemoveExpiring(*entry);
  }
  // What is due a millisecond later stays.
  EXPECT_EQ(db.size(), 14u);
  EXPECT_EQ(expired.size(), 86u);
  EXPECT_EQ(expired[0], "key:0");
  EXPECT_EQ(expired[1], "key:7");
}

TEST(Database, SumsTheSizesOfItsKeys) {
  Database db;
  db.Add("a", Value::String("1"));
  db.Account(db.Add("b", Value::String("2")), 20);
  db.Add("c", Value::String("3"));
  db.Account(*db.Find("c"), 300);
  db.Account(*db.Find("b"), 10);
  EXPECT_EQ(db.accounted_bytes(), 310u);
  // The last key moves to the position of the removed one.
  db.Remove("a");
  EXPECT_EQ(db.accounted_bytes(), 310u);
  db.Add("d", Value::String("4"));
  db.Remove("c");
  EXPECT_EQ(db.accounted_bytes(), 10u);
  db.Clear();
  EXPECT_EQ(db.accounted_bytes(), 0u);
}

TEST(Database, SaysWhenToAskAgain) {
  Database db;
  EXPECT_EQ(db.NextExpiryCheck(), std::nullopt);
  db.FirstExpired(kNow);
  db.SetExpiry(db.Add("a", Value()), kNow + 1);
  ASSERT_TRUE(db.NextExpiryCheck().has_value());
  EXPECT_LE(*db.NextExpiryCheck(), kNow + 2);
  db.Clear();
  EXPECT_EQ(db.NextExpiryCheck(), std::nullopt);
  db.SetExpiry(db.Add("a", Value()), std::numeric_limits<int64_t>::max());
  EXPECT_TRUE(db.NextExpiryCheck().has_value());
}

TEST(Database, SaysWhenTheFirstKeyIsGone) {
  Database db;
  EXPECT_EQ(db.NextExpiry(), std::nullopt);
  db.FirstExpired(kNow);
  db.SetExpiry(db.Add("a", Value()), kNow + 1'000'000);
  EXPECT_EQ(db.NextExpiry(), kNow + 1'000'001);
  EXPECT_LT(*db.NextExpiryCheck(), kNow + 1'000'001);
  db.Remove("a");
  EXPECT_EQ(db.NextExpiry(), std::nullopt);
  db.SetExpiry(db.Add("a", Value()), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(db.NextExpiry(), std::numeric_limits<int64_t>::max());
}

// Hides keys whose deadline is before kNow.
class HidesExpired final : public LazyExpiry {
 public:
  bool Hides(Database& db, Database::Entry& entry) override {
    if (!db.IsExpired(entry, kNow)) return false;
    if (marks_gone) db.MarkGone(entry);
    return true;
  }
  bool marks_gone = false;
};

TEST(Database, HidesExpiredKeysThatAreStored) {
  HidesExpired lazy;
  Database db;
  db.SetLazyExpiry(&lazy);
  db.SetExpiry(db.Add("a", Value()), kNow - 1);
  db.SetExpiry(db.Add("b", Value()), kNow);
  EXPECT_EQ(db.Find("a"), nullptr);
  EXPECT_NE(db.Find("b"), nullptr);
  EXPECT_NE(db.FindStored("a"), nullptr);
  EXPECT_EQ(db.size(), 2u);
  EXPECT_TRUE(db.Remove("a")) << "it has not expired yet";
  EXPECT_EQ(db.size(), 1u);
}

TEST(Database, FreesAGoneKeyLater) {
  HidesExpired lazy;
  lazy.marks_gone = true;
  Database db;
  db.SetLazyExpiry(&lazy);
  db.SetExpiry(db.Add("a", Value()), kNow - 1);
  Database::Entry& last = db.Add("z", Value());
  EXPECT_EQ(db.Find("a"), nullptr);
  EXPECT_FALSE(db.Remove("a"));
  EXPECT_EQ(db.Find("z"), &last) << "entries do not move";
  EXPECT_EQ(db.size(), 2u);
  db.RemoveGone("a");
  db.RemoveGone("a");
  db.RemoveGone("z");
  EXPECT_EQ(db.size(), 1u);
}

TEST(Database, AddsAKeyWhereAnExpiredOneIsStored) {
  HidesExpired lazy;
  lazy.marks_gone = true;
  Database db;
  db.SetLazyExpiry(&lazy);
  db.SetExpiry(db.Add("a", Value::String("1")), kNow - 1);
  ASSERT_EQ(db.Find("a"), nullptr);
  Database::Entry& added = db.Add("a", Value::String("2"));
  EXPECT_FALSE(added.expires());
  db.RemoveGone("a");
  ASSERT_EQ(db.Find("a"), &added);
  EXPECT_EQ(added.value.integer(), 2);
  EXPECT_EQ(db.size(), 1u);
}

}  // namespace
}  // namespace redouble::inline v0_1::memory
