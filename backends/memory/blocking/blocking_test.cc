#include "redouble/backends/memory/blocking/blocking.h"

#include <memory>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "redouble/backends/memory/engine/engine.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/engine/session_core.h"
#include "redouble/backends/memory/values/stream.h"
#include "redouble/backends/memory/values/value.h"

namespace redouble::inline v0_1::memory {
namespace {

using store::KeyType;

const std::vector<std::string> kKey = {"k"};
const std::vector<std::string> kKeys = {"a", "b", "c"};

// Sessions that serve as identities only.
class WaitersTest : public testing::Test {
 protected:
  base::VirtualClock clock_;
  Engine engine_{clock_};
  std::unique_ptr<SessionCore> first_ = engine_.core().Connect();
  std::unique_ptr<SessionCore> second_ = engine_.core().Connect();
  Blocking blocking_;
};

TEST_F(WaitersTest, AreServedInTheOrderOfArrival) {
  blocking_.Wait(*second_, 0, kKey, KeyType::kList);
  blocking_.Wait(*first_, 0, kKey, KeyType::kSortedSet);
  EXPECT_EQ(blocking_.Waiters({0, "k"}), (std::vector<SessionCore*>{second_.get(), first_.get()}));
  EXPECT_TRUE(blocking_.Waiters({1, "k"}).empty());
  blocking_.StopWaiting(*second_, 0, kKey, KeyType::kList);
  EXPECT_EQ(blocking_.Waiters({0, "k"}), std::vector<SessionCore*>({first_.get()}));
  blocking_.StopWaiting(*first_, 0, kKey, KeyType::kSortedSet);
  EXPECT_TRUE(blocking_.Waiters({0, "k"}).empty());
}

TEST_F(WaitersTest, AreCountedOncePerType) {
  blocking_.Wait(*first_, 0, kKeys, KeyType::kList);
  EXPECT_TRUE(blocking_.has_waiters_for(KeyType::kList));
  EXPECT_FALSE(blocking_.has_waiters_for(KeyType::kStream));
  blocking_.Wait(*second_, 1, kKey, KeyType::kList);
  blocking_.StopWaiting(*first_, 0, kKeys, KeyType::kList);
  EXPECT_TRUE(blocking_.has_waiters_for(KeyType::kList));
  blocking_.StopWaiting(*second_, 1, kKey, KeyType::kList);
  EXPECT_FALSE(blocking_.has_waiters_for(KeyType::kList));
}

TEST_F(WaitersTest, DoNotNoticeThatAStreamIsGoneIfThatNeedsAReader) {
  Database keys;
  keys.Add("k", Value::Empty<Stream>());
  Blocking later(/*gone_needs_reader=*/true);
  for (Blocking* blocking : {&blocking_, &later}) {
    blocking->Wait(*first_, 0, kKey, KeyType::kList);
    blocking->Wait(*second_, 0, kKeys, KeyType::kStream);
    blocking->MarkGone(0, "k", keys);
  }
  EXPECT_TRUE(blocking_.any_ready());
  EXPECT_FALSE(later.any_ready());
  later.Wait(*second_, 0, kKey, KeyType::kStream);
  later.MarkGone(0, "k", keys);
  EXPECT_FALSE(later.any_ready()) << "XREAD waits for another stream";
  later.Wait(*second_, 0, kKey, KeyType::kStream, /*also_when_gone=*/true);
  later.MarkGone(0, "k", keys);
  EXPECT_TRUE(later.any_ready());
}

TEST_F(WaitersTest, AreNotifiedOfKeysOnceInTheOrderOfTheChanges) {
  blocking_.Wait(*first_, 0, kKeys, KeyType::kList);
  for (const char* key : {"b", "nobody waits for this", "a", "b"}) {
    blocking_.MarkReady(0, key, KeyType::kList);
  }
  EXPECT_EQ(blocking_.TakeReady(), (std::vector<Blocking::Key>{{0, "b"}, {0, "a"}}));
  EXPECT_FALSE(blocking_.any_ready());
  blocking_.MarkReady(0, "b", KeyType::kList);
  EXPECT_EQ(blocking_.TakeReady(), std::vector<Blocking::Key>({{0, "b"}}));
}

TEST_F(WaitersTest, AreNotifiedOnlyOfTypesThatAClientWaitsFor) {
  blocking_.Wait(*first_, 0, kKey, KeyType::kList);
  blocking_.MarkReady(0, "k", KeyType::kSortedSet);
  EXPECT_FALSE(blocking_.any_ready());
  blocking_.Wait(*second_, 0, kKeys, KeyType::kSortedSet);
  blocking_.MarkReady(0, "k", KeyType::kSortedSet);
  EXPECT_EQ(blocking_.TakeReady(), std::vector<Blocking::Key>({{0, "k"}}));
}

TEST_F(WaitersTest, AreNotifiedOfADeletedStreamAndOfNoOtherDeletion) {
  Database keys;
  keys.Add("k", Value::Empty<Stream>());
  keys.Add("a", Value::String("text"));
  blocking_.Wait(*first_, 0, kKeys, KeyType::kList);
  blocking_.Wait(*first_, 0, kKey, KeyType::kList);
  blocking_.MarkGone(0, "k", keys);
  EXPECT_FALSE(blocking_.any_ready());
  blocking_.Wait(*second_, 0, kKeys, KeyType::kStream);
  for (const char* key : {"a", "b", "k"}) blocking_.MarkGone(0, key, keys);
  EXPECT_EQ(blocking_.TakeReady(), std::vector<Blocking::Key>({{0, "k"}}));
}

TEST_F(WaitersTest, AreNotifiedOfStreamsThatASwapOrFlushRemoves) {
  Database before;
  Database after;
  for (const char* key : {"c", "b", "a"}) before.Add(key, Value::Empty<Stream>());
  after.Add("b", Value::Empty<Stream>());
  after.Add("c", Value::String("text"));
  blocking_.Wait(*first_, 1, kKeys, KeyType::kStream);
  blocking_.Wait(*second_, 0, kKeys, KeyType::kStream);
  blocking_.MarkAllGone(1, before, &after);
  EXPECT_EQ(blocking_.TakeReady(), (std::vector<Blocking::Key>{{1, "a"}, {1, "c"}}));
  blocking_.MarkAllGone(1, before, nullptr);
  EXPECT_EQ(blocking_.TakeReady(), (std::vector<Blocking::Key>{{1, "a"}, {1, "b"}, {1, "c"}}));
}

TEST_F(WaitersTest, AreNotifiedOfTheKeysOfADatabaseInOrder) {
  Database keys;
  for (const char* key : {"c", "a"}) keys.Add(key, Value::Empty<Stream>());
  keys.Add("b", Value::String("text"));
  blocking_.Wait(*first_, 1, kKeys, KeyType::kStream);
  blocking_.Wait(*second_, 0, kKeys, KeyType::kStream);
  blocking_.MarkAllReady(1, keys);
  EXPECT_EQ(blocking_.TakeReady(), (std::vector<Blocking::Key>{{1, "a"}, {1, "c"}}));
}

}  // namespace
}  // namespace redouble::inline v0_1::memory
