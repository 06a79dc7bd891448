#include "redouble/sim/migrate/migration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "redouble/backends/memory/engine/engine.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/base/time/clock.h"
#include "redouble/core/base/time/virtual_clock.h"
#include "redouble/sim/migrate/migration_for_test.h"
#include "redouble/tests/support/intercepted_store.h"

namespace redouble::inline v0_1::sim {
namespace {

using base::IsOk;
using base::StatusIs;
using store::Reply;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using tests::InterceptedStore;

// A clock that a wait advances.
class WaitingClock final : public base::Clock {
 public:
  explicit WaitingClock(base::VirtualClock& clock) : clock_(clock) {}
  int64_t NowMicros() const override { return clock_.NowMicros(); }
  base::Task<void> SleepUntil(absl::Time deadline) override {
    clock_.AdvanceTo(deadline);
    co_return;
  }

 private:
  base::VirtualClock& clock_;
};

TEST_F(MigrationTest, CopiesEachTypeWithItsDeadline) {
  FillRelayna();
  const Migration migration = Relayna(kToCluster);
  const CopyReport copied = Copy(migration, *single_, *cluster_).value();
  EXPECT_THAT(
      copied.keys,
      ElementsAre(Pair("relayna.children", 1), Pair("relayna.event", 1), Pair("relayna.feed", 1),
                  Pair("relayna.feed_event", 1), Pair("relayna.history", 1),
                  Pair("relayna.workflow_inflight", 1), Pair("relayna.workflow_run", 1)));
  EXPECT_EQ(copied.other_keys, 1);

  EXPECT_EQ(Read(*cluster_, "status:history:{task:t1}"),
            (KeyValue{store::KeyType::kList, {"{\"a\":1}", "{\"a\":2}"}, 1'778'421'782'000}));
  EXPECT_EQ(Read(*cluster_, "status:children:{task:t1}"),
            (KeyValue{store::KeyType::kSet, {"t2", "t3"}, std::nullopt}));
  EXPECT_EQ(Read(*cluster_, "flow:workflow:contract:inflight:{task:t1}:pay"),
            (KeyValue{store::KeyType::kHash, {"s0", "", "s1", "x"}, std::nullopt}));
  EXPECT_EQ(Read(*cluster_, "flow:workflow:run:{task:t1}"),
            (KeyValue{store::KeyType::kSortedSet, {"a", "-inf", "b", "1.5"}, std::nullopt}));
  EXPECT_EQ(Ask(*cluster_, {"DBSIZE"}), Reply::Integer(7)) << "without the other program's key";

  const VerifyReport report = Verify(migration, *single_, *cluster_);
  EXPECT_TRUE(report.is_equal());
  for (const auto& [id, family] : report.families) {
    EXPECT_EQ(family.keys, 1) << id;
    EXPECT_EQ(family.from_digest, family.to_digest) << id;
    EXPECT_NE(family.from_digest, 0u) << id;
  }
}

TEST_F(MigrationTest, TheWayBackRestoresTheKeys) {
  FillRelayna();
  Ask(*single_, {"DEL", "other"});
  ASSERT_THAT(Copy(Relayna(kToCluster), *single_, *cluster_), IsOk());
  memory::Engine restored(clock_);
  const auto store = restored.Connect();
  ASSERT_THAT(Copy(Relayna(kToDocumented), *cluster_, *store), IsOk());
  for (const std::string_view key :
       {"status:history:t1", "status:event:t1:5f2d", "status:children:t1", "studio:feed",
        "studio:event:c:1", "flow:workflow:contract:pay:inflight:t1", "flow:workflow:run:t1"}) {
    EXPECT_NE(Read(*single_, key), std::nullopt) << key;
    EXPECT_EQ(Read(*store, key), Read(*single_, key)) << key;
  }
  EXPECT_EQ(Ask(*store, {"DBSIZE"}), Ask(*single_, {"DBSIZE"}));
}

TEST_F(MigrationTest, CopiesLongValuesInSeveralCommands) {
  for (int i = 0; i < 65; ++i) {
    const std::string text = std::to_string(i);
    Ask(*single_, {"RPUSH", "status:history:t", text});
    Ask(*single_, {"HSET", "flow:workflow:contract:s:inflight:t", text, "x"});
  }
  const Migration migration = Relayna(kToCluster);
  ASSERT_THAT(Copy(migration, *single_, *cluster_), IsOk());
  EXPECT_EQ(Ask(*cluster_, {"LLEN", "status:history:{task:t}"}), Reply::Integer(65));
  EXPECT_TRUE(Verify(migration, *single_, *cluster_).is_equal());
}

// What no command but RESTORE creates: a pending entry that was deleted, a consumer without
// entries, the greatest deleted id, and a group that has read more than there is.
TEST_F(MigrationTest, CopiesStreamsExactly) {
  FillStream(*single_, "flow:workflow:run:t");
  Ask(*single_, {"PEXPIRE", "flow:workflow:run:t", "86400000"});
  Ask(*single_, {"XADD", "studio:feed", "1-0", "a", "b"});
  Ask(*single_, {"XDEL", "studio:feed", "1-0"});

  const Migration migration = Relayna(kToCluster);
  ASSERT_THAT(Copy(migration, *single_, *cluster_), IsOk());
  const std::string copy = "flow:workflow:run:{task:t}";
  EXPECT_EQ(Ask(*cluster_, {"XINFO", "STREAM", copy, "FULL", "COUNT", "0"}),
            Ask(*single_, {"XINFO", "STREAM", "flow:workflow:run:t", "FULL", "COUNT", "0"}));
  EXPECT_EQ(Ask(*cluster_, {"PEXPIRETIME", copy}),
            Ask(*single_, {"PEXPIRETIME", "flow:workflow:run:t"}));
  EXPECT_EQ(Ask(*cluster_, {"XLEN", "{feed:studio}:list"}), Reply::Integer(0));
  EXPECT_TRUE(Verify(migration, *single_, *cluster_).is_equal());
}

TEST_F(MigrationTest, ComparesAllOfAStream) {
  const std::string source = "flow:workflow:run:t";
  const std::string copy = "flow:workflow:run:{task:t}";
  const std::vector<std::vector<std::string_view>> changes = {
      {"XADD", copy, "9-0", "f", "v"},
      {"XDEL", copy, "3-0"},
      {"XSETID", copy, "7-7"},
      {"XSETID", copy, "7-0", "ENTRIESADDED", "99", "MAXDELETEDID", "2-0"},
      {"XSETID", copy, "7-0", "ENTRIESADDED", "7", "MAXDELETEDID", "5-0"},
      {"XGROUP", "CREATE", copy, "more", "0"},
      {"XGROUP", "DESTROY", copy, "h"},
      {"XGROUP", "SETID", copy, "h", "3-0"},
      {"XGROUP", "SETID", copy, "h", "7-0", "ENTRIESREAD", "5"},
      {"XGROUP", "CREATECONSUMER", copy, "h", "new"},
      {"XGROUP", "DELCONSUMER", copy, "g", "idle"},
      {"XACK", copy, "g", "1-0"},
      {"XCLAIM", copy, "g", "c2", "0", "1-0", "JUSTID"},
      {"XCLAIM", copy, "g", "c1", "0", "1-0", "RETRYCOUNT", "7", "JUSTID"},
      {"PEXPIRE", copy, "5"},
      {"RENAME", "{task:t}:list", copy},
  };
  FillStream(*single_, source);
  const Migration migration = Relayna(kToCluster);
  for (const auto& change : changes) {
    Ask(*cluster_, {"FLUSHALL"});
    ASSERT_THAT(Copy(migration, *single_, *cluster_), IsOk());
    ASSERT_TRUE(Verify(migration, *single_, *cluster_).is_equal());
    if (change[0] == "RENAME") Ask(*cluster_, {"RPUSH", "{task:t}:list", "x"});
    Ask(*cluster_, change);
    const FamilyReport report =
        Verify(migration, *single_, *cluster_).families["relayna.workflow_run"];
    EXPECT_EQ(report.different, 1) << change[0] << " " << change[1];
    EXPECT_NE(report.from_digest, report.to_digest);
  }
}

// A newer server's dump has a version that an older one refuses.
TEST_F(MigrationTest, CopiesDecodedValuesToAnOlderServer) {
  memory::EngineOptions options;
  options.compatibility = store::Version::kRedis80;
  memory::Engine newer(clock_, options);
  const auto from = newer.Connect();
  Fill(*from);
  const Migration migration = Relayna(kToCluster);
  ASSERT_THAT(Copy(migration, *from, *cluster_), IsOk());
  EXPECT_EQ(Ask(*cluster_, {"DBSIZE"}), Reply::Integer(7));
  EXPECT_TRUE(Verify(migration, *from, *cluster_).is_equal());

  FillStream(*from, "flow:workflow:run:t");
  EXPECT_THAT(
      Copy(migration, *from, *cluster_).status(),
      StatusIs(absl::StatusCode::kFailedPrecondition,
               "cannot move \"flow:workflow:run:t\": it is a stream, and the server that it "
               "is copied to does not read the format of the server that it comes from: ERR "
               "DUMP payload version or checksum are wrong"));
}

TEST_F(MigrationTest, RewritesTheKeysThatAReservationNames) {
  const std::string reservation = std::string("budget:reservation:") + kId + ":r1";
  const std::string daily = std::string("budget:daily:") + kId + ":20260509";
  const std::string monthly = std::string("budget:monthly:") + kId + ":202605";
  Ask(*single_, {"SET", reservation, "0.250|" + daily + "|" + monthly, "EX", "3600"});
  Ask(*single_, {"SET", daily, "0.25"});

  const Migration migration = Migration::Create("gateway", kToCluster).value();
  ASSERT_THAT(Copy(migration, *single_, *cluster_), IsOk());
  const std::string tag = std::string("{") + kId + "}";
  EXPECT_EQ(
      Ask(*cluster_, {"GET", "budget:reservation:" + tag + ":r1"}),
      Reply::Bulk("0.250|budget:daily:" + tag + ":20260509|budget:monthly:" + tag + ":202605"));
  EXPECT_TRUE(Verify(migration, *single_, *cluster_).is_equal());

  Ask(*single_, {"SET", reservation, "1|day|month"});
  EXPECT_THAT(Copy(migration, *single_, *cluster_).status(),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       "cannot move \"" + reservation +
                           "\": a reservation names \"day\", which is no budget counter of "
                           "this layout"));
}

TEST_F(MigrationTest, ADryRunFindsTheSameAndWritesNothing) {
  FillRelayna();
  const Migration migration = Relayna(kToCluster);
  const CopyReport dry = Copy(migration, *single_, *cluster_, {.is_dry_run = true}).value();
  EXPECT_EQ(Ask(*cluster_, {"DBSIZE"}), Reply::Integer(0));
  EXPECT_EQ(dry, Copy(migration, *single_, *cluster_).value());

  Ask(*single_, {"SET", "status:event:t1:a:b", "1"});
  EXPECT_THAT(Copy(migration, *single_, *cluster_, {.is_dry_run = true}).status(),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       "cannot move \"status:event:t1:a:b\": it has two readings as "
                       "relayna.event, because an id contains the text that ends it"));
}

TEST_F(MigrationTest, TakesTheTimeOfItsRate) {
  FillRelayna();
  const Migration migration = Relayna(kToCluster);
  WaitingClock clock(clock_);
  const Pace pace{.clock = &clock, .per_key = absl::Milliseconds(10)};
  const absl::Time start = clock_.Now();
  ASSERT_THAT(Copy(migration, *single_, *cluster_, {.pace = pace}), IsOk());
  EXPECT_EQ(clock_.Now() - start, absl::Milliseconds(80)) << "8 keys";
  ASSERT_THAT(base::Run(migration.Verify(*single_, *cluster_, pace)), IsOk());
  EXPECT_EQ(clock_.Now() - start, absl::Milliseconds(80 + 80 + 70)) << "7 keys of the new server";
}

TEST_F(MigrationTest, ReportsWhatIsMissingDifferentAndExtra) {
  FillRelayna();
  const Migration migration = Relayna(kToCluster);
  ASSERT_THAT(Copy(migration, *single_, *cluster_), IsOk());
  Ask(*cluster_, {"PERSIST", "status:history:{task:t1}"});
  Ask(*cluster_, {"DEL", "status:children:{task:t1}"});
  Ask(*cluster_, {"SET", "status:event:{task:t9}:x", "1"});

  VerifyReport report = Verify(migration, *single_, *cluster_);
  EXPECT_FALSE(report.is_equal());
  FamilyReport& history = report.families["relayna.history"];
  EXPECT_EQ(history.different, 1);
  EXPECT_NE(history.from_digest, history.to_digest);
  EXPECT_EQ(report.families["relayna.children"].missing, 1);
  EXPECT_EQ(report.families["relayna.children"].to_digest, 0u);
  EXPECT_EQ(report.families["relayna.event"].extra, 1);
  EXPECT_EQ(report.families["relayna.event"].keys, 1);
  EXPECT_EQ(report.families["relayna.feed"].missing, 0);
}

TEST_F(MigrationTest, KeysExpireOnBothServersAtTheSameTime) {
  FillRelayna();
  const Migration migration = Relayna(kToCluster);
  ASSERT_THAT(Copy(migration, *single_, *cluster_), IsOk());
  // At the deadline the keys exist, a millisecond later they do not, on either server.
  clock_.Advance(absl::Hours(24));
  EXPECT_EQ(Verify(migration, *single_, *cluster_).families["relayna.history"].keys, 1);
  EXPECT_TRUE(Verify(migration, *single_, *cluster_).is_equal());
  clock_.Advance(absl::Milliseconds(1));
  const VerifyReport later = Verify(migration, *single_, *cluster_);
  EXPECT_TRUE(later.is_equal());
  EXPECT_FALSE(later.families.contains("relayna.history"));
}

TEST_F(MigrationTest, AKeyThatExpiresBetweenTwoReadsIsNotMissing) {
  Ask(*single_, {"SET", "status:event:t1:5f2d", "1", "PX", "5"});
  const Migration migration = Relayna(kToCluster);
  ASSERT_THAT(Copy(migration, *single_, *cluster_), IsOk());
  InterceptedStore to(*cluster_);
  to.on_request = [&](size_t index) -> std::optional<absl::StatusOr<Reply>> {
    if (index == 0) clock_.Advance(absl::Milliseconds(6));
    return std::nullopt;
  };
  const VerifyReport report = Verify(migration, *single_, to);
  EXPECT_TRUE(report.is_equal());
  EXPECT_TRUE(report.families.empty());
}

// A writer changes `from` before each of the first requests of every pass.
TEST_F(MigrationTest, FollowsWritersThatGoOn) {
  FillRelayna();
  FillStream(*single_, "flow:workflow:run:t2");
  const Migration migration = Relayna(kToCluster);
  Ask(*cluster_, {"SET", "status:event:{task:t9}:x", "1"});  // What an earlier copy has left.
  int64_t writes_left = 12;
  InterceptedStore from(*single_);
  from.on_request = [&](size_t index) -> std::optional<absl::StatusOr<Reply>> {
    if (writes_left-- <= 0) return std::nullopt;
    Ask(*single_, {"RPUSH", "status:history:t1", std::to_string(index)});
    Ask(*single_, {"XADD", "flow:workflow:run:t2", "*", "f", "v"});
    Ask(*single_, {"SET", "status:event:t1:" + std::to_string(index), "1"});
    Ask(*single_, {index % 2 == 0 ? "DEL" : "TYPE", "status:event:t1:5f2d"});
    return std::nullopt;
  };
  std::vector<int64_t> changes;
  FollowOptions options;
  options.pace.batch_keys = 3;
  options.on_pass = [&](const FollowReport& pass) {
    EXPECT_EQ(pass.passes, static_cast<int64_t>(changes.size()) + 1);
    changes.push_back(pass.changes());
    return absl::OkStatus();
  };
  const FollowReport report = base::Run(migration.Follow(from, *cluster_, options)).value();
  EXPECT_EQ(report.changes(), 0);
  EXPECT_TRUE(report.compared.is_equal());
  EXPECT_GE(changes.size(), 2u);
  EXPECT_TRUE(Verify(migration, *single_, *cluster_).is_equal());

  // The last pause: one key has changed, one is new, one is gone.
  Ask(*single_, {"RPUSH", "status:history:t1", "last"});
  Ask(*single_, {"SADD", "status:children:t5", "t6"});
  Ask(*single_, {"DEL", "studio:feed"});
  changes.clear();
  ASSERT_THAT(base::Run(migration.Follow(*single_, *cluster_, options)).status(), IsOk());
  EXPECT_THAT(changes, ElementsAre(3, 0));
  EXPECT_TRUE(Verify(migration, *single_, *cluster_).is_equal());

  options.on_pass = [](const FollowReport&) { return absl::CancelledError("enough"); };
  EXPECT_THAT(base::Run(migration.Follow(*single_, *cluster_, options)).status(),
              StatusIs(absl::StatusCode::kCancelled));
}

TEST_F(MigrationTest, GivesUpOnWritersThatAreAsFast) {
  FillRelayna();
  const Migration migration = Relayna(kToCluster);
  InterceptedStore from(*single_);
  from.on_request = [&](size_t index) -> std::optional<absl::StatusOr<Reply>> {
    Ask(*single_, {"RPUSH", "status:history:t1", std::to_string(index)});
    return std::nullopt;
  };
  EXPECT_THAT(base::Run(migration.Follow(from, *cluster_, {})).status(),
              StatusIs(absl::StatusCode::kAborted,
                       HasSubstr("pass 2 has changed 1 keys, and none of the 5 passes after it "
                                 "fewer: the writers are as fast")));
  const FollowReport report =
      base::Run(migration.Follow(from, *cluster_, {.most_changes = 1})).value();
  EXPECT_EQ(report.changes(), 1);
}

TEST_F(MigrationTest, RefusesWhatItCannotMove) {
  EXPECT_THAT(Migration::Create("shop", kToCluster).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       "there is no system \"shop\"; expected one of gateway, korvet, "
                       "orchestrator, relayna, studio, threescale"));
  const store::KeyBinding unknown[] = {{"none", "x"}};
  EXPECT_THAT(Migration::Create("relayna", kToCluster, unknown).status(),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("none")));

  Ask(*single_, {"SET", "status:event:t1:x", "1"});
  const Migration unbound = Migration::Create("relayna", kToCluster).value();
  EXPECT_THAT(Copy(unbound, *single_, *cluster_).status(),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("is a key of relayna.event and of relayna.feed_event; bind their "
                                 "prefixes")));

  Ask(*single_, {"DEL", "status:event:t1:x"});
  Ask(*single_, {"HSET", "flow:workflow:contract:pay:inflight:t1}:x", "s", "1"});
  EXPECT_THAT(
      Copy(Relayna(kToCluster), *single_, *cluster_).status(),
      StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("does not lead back to it")));
}

TEST_F(MigrationTest, ANameOfAChannelIsAKeyOfAnotherProgram) {
  Ask(*single_, {"SET", "status:channel:t1", "1"});
  EXPECT_EQ(Copy(Relayna(kToCluster), *single_, *cluster_)->other_keys, 1);
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
