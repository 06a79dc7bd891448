#include "redouble/backends/redis/net/pool/pool_ledger.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "redouble/backends/redis/fsm/backoff.h"
#include "redouble/core/base/random/rng.h"

namespace redouble::inline v0_1::redis {
namespace {

using Kind = PoolGrant::Kind;

constexpr PoolLimits kNoLimits = {
    .size = 2, .max_idle_us = kNeverUs, .max_lifetime_us = kNeverUs, .check_after_us = kNeverUs};

constexpr int64_t kBaseUs = 50'000, kCapUs = 5'000'000;

Backoff Waits() { return Backoff(kBaseUs, kCapUs, base::Rng(7)); }

TEST(PoolLedger, OpensConnectionsUpToItsSizeAndThenLetsBorrowersWait) {
  PoolLedger ledger(kNoLimits, Waits());
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
  PoolLedger ledger(kNoLimits, Waits());
  const PoolGrant first = ledger.Borrow(0);
  ledger.Borrow(0);
  ledger.Drop(first.id);
  const PoolGrant next = ledger.Borrow(0);
  EXPECT_EQ(next.kind, Kind::kOpen);
  EXPECT_NE(next.id, first.id);
}

TEST(PoolLedger, LendsTheConnectionThatWasReturnedLast) {
  PoolLedger ledger(kNoLimits, Waits());
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
  PoolLedger ledger(limits, Waits());
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
  PoolLedger ledger(limits, Waits());
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
  PoolLedger ledger(limits, Waits());
  const uint64_t id = ledger.Borrow(0).id;
  ledger.Return(id, 10);
  EXPECT_EQ(ledger.Borrow(59).kind, Kind::kReuse);
  ledger.Return(id, 60);
  const PoolGrant later = ledger.Borrow(110);
  EXPECT_EQ(later.kind, Kind::kCheck);
  EXPECT_EQ(later.id, id);
}

TEST(PoolLedger, GivesBackAllThatIsIdle) {
  PoolLedger ledger(kNoLimits, Waits());
  const uint64_t first = ledger.Borrow(0).id;
  ledger.Borrow(0);
  ledger.Return(first, 1);
  EXPECT_EQ(ledger.TakeIdle(), std::vector<uint64_t>{first});
  EXPECT_EQ(ledger.idle(), 0u);
  EXPECT_EQ(ledger.borrowed(), 1u);
}

// A borrower each 100 microseconds, for a minute; all that may dial do, and it takes no time.
TEST(PoolLedger, OpensLessAndLessOftenAfterFailures) {
  PoolLimits limits = kNoLimits;
  limits.size = 100;
  PoolLedger ledger(limits, Waits());
  std::vector<int64_t> dials;
  for (int64_t now_us = 0; now_us < 60'000'000; now_us += 100) {
    const PoolGrant grant = ledger.Borrow(now_us);
    if (grant.kind == Kind::kOpen) {
      dials.push_back(now_us);
      ledger.NoteFailure(grant.id, now_us);
      continue;
    }
    ASSERT_EQ(grant.kind, Kind::kPause);
    EXPECT_GT(grant.until_us, now_us);
    EXPECT_LE(grant.until_us, now_us + kCapUs);
  }
  EXPECT_EQ(dials[1], 100) << "the first failure is followed by a dial at once";
  // 60 s with 2.5 s on average, and those until the cap is reached.
  EXPECT_GT(dials.size(), 20u);
  EXPECT_LT(dials.size(), 50u);
}

TEST(PoolLedger, OpensOneConnectionAtATimeAfterAFailure) {
  PoolLimits limits = kNoLimits;
  limits.size = 3;
  PoolLedger ledger(limits, Waits());
  ledger.NoteFailure(ledger.Borrow(0).id, 1);
  const PoolGrant probe = ledger.Borrow(2);
  EXPECT_EQ(probe.kind, Kind::kOpen);
  const PoolGrant next = ledger.Borrow(3);
  EXPECT_EQ(next.kind, Kind::kPause);
  EXPECT_EQ(next.until_us, kNeverUs) << "until the attempt under way has ended";
  ledger.NoteOpened(probe.id);
  const PoolGrant second = ledger.Borrow(4);
  EXPECT_EQ(second.kind, Kind::kOpen) << "the server is there";
  EXPECT_EQ(ledger.Borrow(5).kind, Kind::kPause) << "and may not be of use";
  ledger.Return(probe.id, 6);
  EXPECT_EQ(ledger.Borrow(7).kind, Kind::kReuse);
  EXPECT_EQ(ledger.Borrow(8).kind, Kind::kOpen) << "the row of failures has ended";
}

// The size of the pool does not count.
TEST(PoolLedger, CountsAttemptsOfTheSameTimeAsOneFailure) {
  PoolLimits limits = kNoLimits;
  limits.size = 10;
  PoolLedger ledger(limits, Waits());
  std::vector<uint64_t> dials;
  for (int i = 0; i < 10; ++i) dials.push_back(ledger.Borrow(i).id);
  for (const uint64_t id : dials) ledger.NoteFailure(id, 20);
  EXPECT_EQ(ledger.borrowed(), 0u);
  const PoolGrant again = ledger.Borrow(21);
  EXPECT_EQ(again.kind, Kind::kOpen) << "after the first failure there is no wait";
  ledger.NoteFailure(again.id, 22);
  const PoolGrant paused = ledger.Borrow(22);
  EXPECT_EQ(paused.kind, Kind::kPause);
  EXPECT_LE(paused.until_us, 22 + kBaseUs) << "the second one";
}

TEST(PoolLedger, LendsAnIdleConnectionDuringAPause) {
  PoolLedger ledger(kNoLimits, Waits());
  const uint64_t idle = ledger.Borrow(0).id;
  ledger.NoteOpened(idle);
  for (int i = 0; i < 2; ++i) ledger.NoteFailure(ledger.Borrow(1 + 2 * i).id, 2 + 2 * i);
  EXPECT_EQ(ledger.Borrow(4).kind, Kind::kPause);
  ledger.Return(idle, 5);
  EXPECT_EQ(ledger.Borrow(5).id, idle);
}

TEST(PoolLedger, IgnoresAConnectionThatIsNotBorrowed) {
  PoolLedger ledger(kNoLimits, Waits());
  const uint64_t id = ledger.Borrow(0).id;
  EXPECT_TRUE(ledger.Return(id, 0));
  EXPECT_FALSE(ledger.Return(id, 0));
  EXPECT_EQ(ledger.idle(), 1u);
}

}  // namespace
}  // namespace redouble::inline v0_1::redis
