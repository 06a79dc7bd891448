#include "redouble/backends/redis/net/pool/pool_ledger.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "redouble/backends/redis/fsm/backoff.h"

namespace redouble::inline v0_1::redis {
namespace {

using Kind = PoolGrant::Kind;

constexpr PoolLimits kNoLimits = {
    .size = 2, .max_idle_us = kNeverUs, .max_lifetime_us = kNeverUs, .check_after_us = kNeverUs};

TEST(PoolLedger, OpensConnectionsUpToItsSizeAndThenLetsBorrowersWait) {
  PoolLedger ledger(kNoLimits);
  const PoolGrant first = ledger.Borrow(0);
  const PoolGrant second = ledger.Borrow(0);
  EXPECT_EQ(first.kind, Kind::kOpen);
  EXPECT_EQ(second.kind, Kind::kOpen);
  EXPECT_NE(first.id, second.id);
  EXPECT_EQ(ledger.Borrow(0).kind, Kind::kWait);
  EXPECT_TRUE(ledger.Return(first.id, 1));
  const PoolGrant again = ledger.Borrow(2);
  EXPECT_EQ(again.kind, Kind::kReuse);
  EXPECT_EQ(again.id, first.id);
  EXPECT_EQ(ledger.borrowed(), 2u);
}

TEST(PoolLedger, HasRoomAgainOnceAConnectionIsDropped) {
  PoolLedger ledger(kNoLimits);
  const PoolGrant first = ledger.Borrow(0);
  ledger.Borrow(0);
  ledger.Drop(first.id);
  const PoolGrant next = ledger.Borrow(0);
  EXPECT_EQ(next.kind, Kind::kOpen);
  EXPECT_NE(next.id, first.id);
}

TEST(PoolLedger, LendsTheConnectionThatWasReturnedLast) {
  PoolLedger ledger(kNoLimits);
  const uint64_t first = ledger.Borrow(0).id;
  const uint64_t second = ledger.Borrow(0).id;
  ledger.Return(second, 1);
  ledger.Return(first, 2);
  EXPECT_EQ(ledger.Borrow(3).id, first);
  EXPECT_EQ(ledger.Borrow(3).id, second);
}

TEST(PoolLedger, ClosesWhatWasIdleForLong) {
  PoolLimits limits = kNoLimits;
  limits.max_idle_us = 100;
  PoolLedger ledger(limits);
  const uint64_t first = ledger.Borrow(0).id;
  const uint64_t second = ledger.Borrow(0).id;
  ledger.Return(first, 10);
  ledger.Return(second, 60);
  EXPECT_EQ(ledger.TakeExpired(109), std::vector<uint64_t>{});
  EXPECT_EQ(ledger.TakeExpired(110), std::vector<uint64_t>{first});
  EXPECT_EQ(ledger.TakeExpired(110), std::vector<uint64_t>{});
  EXPECT_EQ(ledger.idle(), 1u);
  EXPECT_EQ(ledger.Borrow(110).id, second);
}

TEST(PoolLedger, ClosesWhatWasOpenForLongIdleOrWhenItIsReturned) {
  PoolLimits limits = kNoLimits;
  limits.max_lifetime_us = 100;
  PoolLedger ledger(limits);
  const uint64_t idle = ledger.Borrow(0).id;
  const uint64_t borrowed = ledger.Borrow(5).id;
  EXPECT_TRUE(ledger.Return(idle, 99));
  EXPECT_EQ(ledger.TakeExpired(100), std::vector<uint64_t>{idle});
  EXPECT_FALSE(ledger.Return(borrowed, 105));
  EXPECT_EQ(ledger.borrowed() + ledger.idle(), 0u);
}

TEST(PoolLedger, ChecksWhatWasIdleForAWhile) {
  PoolLimits limits = kNoLimits;
  limits.check_after_us = 50;
  PoolLedger ledger(limits);
  const uint64_t id = ledger.Borrow(0).id;
  ledger.Return(id, 10);
  EXPECT_EQ(ledger.Borrow(59).kind, Kind::kReuse);
  ledger.Return(id, 60);
  const PoolGrant later = ledger.Borrow(110);
  EXPECT_EQ(later.kind, Kind::kCheck);
  EXPECT_EQ(later.id, id);
}

TEST(PoolLedger, GivesBackAllThatIsIdle) {
  PoolLedger ledger(kNoLimits);
  const uint64_t first = ledger.Borrow(0).id;
  ledger.Borrow(0);
  ledger.Return(first, 1);
  EXPECT_EQ(ledger.TakeIdle(), std::vector<uint64_t>{first});
  EXPECT_EQ(ledger.idle(), 0u);
  EXPECT_EQ(ledger.borrowed(), 1u);
}

TEST(PoolLedger, IgnoresAConnectionThatIsNotBorrowed) {
  PoolLedger ledger(kNoLimits);
  const uint64_t id = ledger.Borrow(0).id;
  EXPECT_TRUE(ledger.Return(id, 0));
  EXPECT_FALSE(ledger.Return(id, 0));
  EXPECT_EQ(ledger.idle(), 1u);
}

}  // namespace
}  // namespace redouble::inline v0_1::redis
