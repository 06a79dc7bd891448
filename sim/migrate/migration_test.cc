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
#include "redouble/core/store/command.h"
#include "redouble/core/store/errors.h"
#include "redouble/sim/migrate/key_value.h"
#include "redouble/tests/support/intercepted_store.h"

namespace redouble::inline v0_1::sim {
namespace {

using base::IsOk;
using base::StatusIs;
using store::KeyLayout;
using store::Reply;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using tests::InterceptedStore;

constexpr LayoutPair kToCluster{KeyLayout::kDocumented, KeyLayout::kCluster};
constexpr LayoutPair kToDocumented{KeyLayout::kCluster, KeyLayout::kDocumented};
constexpr store::KeyBinding kPrefixes[] = {{"status_prefix", "status"},
                                           {"observation_prefix", "observations"},
                                           {"feed_prefix", "studio"},
                                           {"dlq_prefix", "worker"},
                                           {"workflow_prefix", "flow"}};
constexpr const char* kId = "0b5c1f4e-8a0d-4a4f-9a6e-3f1d2c4b5a60";

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

// A server without and one with the slots of a cluster, on one clock.
class MigrationTest : public ::testing::Test {
 protected:
  MigrationTest() {
    memory::EngineOptions options;
    options.cluster = memory::ClusterOptions();
    cluster_engine_ = std::make_unique<memory::Engine>(clock_, options);
    cluster_ = cluster_engine_->Connect();
    single_ = engine_.Connect();
  }

  static Reply Ask(store::Store& store, const std::vector<std::string_view>& words) {
    const auto command = store::Command::Named(words[0], std::span(words).subspan(1));
    const auto send = [&]() -> base::Task<absl::StatusOr<Reply>> {
      co_return co_await store.Execute(command);
    };
    Reply reply = base::Run(send()).value();
    EXPECT_FALSE(reply.is_error()) << words[0];
    return reply;
  }

  // Keys of each type, with and without deadline, and a key of another program.
  void FillRelayna() {
    Ask(*single_, {"RPUSH", "status:history:t1", "{\"a\":1}", "{\"a\":2}"});
    Ask(*single_, {"EXPIRE", "status:history:t1", "86400"});
    Ask(*single_, {"SET", "status:event:t1:5f2d", "1", "PX", "86400000"});
    Ask(*single_, {"SADD", "status:children:t1", "t3", "t2"});
    Ask(*single_, {"RPUSH", "studio:feed", "{}"});
    Ask(*single_, {"SET", "studio:event:c:1", "1"});
    Ask(*single_, {"HSET", "flow:workflow:contract:pay:inflight:t1", "s1", "x", "s0", ""});
    Ask(*single_, {"ZADD", "flow:workflow:run:t1", "1.5", "b", "-inf", "a"});
    Ask(*single_, {"SET", "other", "1"});
  }

  static Migration Relayna(LayoutPair layouts) {
    return Migration::Create("relayna", layouts, kPrefixes).value();
  }
  static absl::StatusOr<CopyReport> Copy(const Migration& migration, store::Store& from,
                                         store::Store& to, CopyOptions options = {}) {
    return base::Run(migration.Copy(from, to, std::move(options)));
  }
  static VerifyReport Verify(const Migration& migration, store::Store& from, store::Store& to) {
    return base::Run(migration.Verify(from, to)).value();
  }
  static std::optional<KeyValue> Read(store::Store& store, std::string_view key) {
    return base::Run(ReadKey(store, key)).value();
  }

  base::VirtualClock clock_{absl::FromUnixSeconds(1'778'335'382)};
  memory::Engine engine_{clock_};
  std::unique_ptr<memory::Engine> cluster_engine_;
  std::unique_ptr<memory::Session> single_;
  std::unique_ptr<memory::Session> cluster_;
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
                       "cannot move \"budget:reservation:" + tag +
                           ":r1\": a reservation names \"day\", which is no budget counter of "
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

TEST_F(MigrationTest, PausesAfterEachKey) {
  FillRelayna();
  const Migration migration = Relayna(kToCluster);
  WaitingClock clock(clock_);
  const Pace pace{&clock, absl::Milliseconds(10)};
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

// The copy stops before each of its requests, to either server, or when it would store the cursor,
// and continues from the last cursor that was stored.
TEST_F(MigrationTest, ContinuesAfterItStopsAnywhere) {
  FillRelayna();
  for (int i = 0; i < 30; ++i) {
    Ask(*single_, {"SET", "status:event:t1:" + std::to_string(i), "1", "PX", "86400000"});
  }
  const Migration migration = Relayna(kToCluster);
  bool has_stopped = true;
  size_t stops = 0;
  for (; has_stopped; ++stops) {
    ASSERT_LT(stops, 1000u);
    SCOPED_TRACE(stops);
    Ask(*cluster_, {"FLUSHALL"});
    std::string stored = "0";
    size_t left = stops;
    has_stopped = false;
    const auto step = [&]() -> absl::Status {
      if (left == 0) has_stopped = true;
      if (has_stopped) return store::OutcomeUnknownError("stopped");
      --left;
      return absl::OkStatus();
    };
    InterceptedStore from(*single_);
    InterceptedStore to(*cluster_);
    from.on_request = to.on_request = [&](size_t) -> std::optional<absl::StatusOr<Reply>> {
      const absl::Status status = step();
      if (status.ok()) return std::nullopt;
      return status;
    };
    CopyOptions options;
    options.page_keys = 4;
    options.on_page = [&](std::string_view cursor, const CopyReport&) {
      const absl::Status status = step();
      if (status.ok()) stored = cursor;
      return status;
    };
    const bool is_complete = Copy(migration, from, to, options).ok();
    EXPECT_EQ(is_complete, !has_stopped);
    if (has_stopped) {
      ASSERT_THAT(Copy(migration, *single_, *cluster_, {.cursor = stored}), IsOk());
    }
    EXPECT_TRUE(Verify(migration, *single_, *cluster_).is_equal());
    EXPECT_EQ(Ask(*cluster_, {"DBSIZE"}), Reply::Integer(37));
  }
  EXPECT_GT(stops, 100u);
}

TEST_F(MigrationTest, RefusesWhatItCannotMove) {
  EXPECT_THAT(Migration::Create("korvet", kToCluster).status(),
              StatusIs(absl::StatusCode::kUnimplemented,
                       "system \"korvet\" is not supported yet; supported: gateway, relayna"));
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
  Ask(*single_, {"DEL", "flow:workflow:contract:pay:inflight:t1}:x"});
  Ask(*single_, {"XADD", "flow:workflow:run:t", "*", "a", "b"});
  EXPECT_THAT(Copy(Relayna(kToCluster), *single_, *cluster_).status(),
              StatusIs(absl::StatusCode::kUnimplemented,
                       "\"flow:workflow:run:t\" is a stream, which cannot be copied yet"));
}

TEST_F(MigrationTest, ANameOfAChannelIsAKeyOfAnotherProgram) {
  Ask(*single_, {"SET", "status:channel:t1", "1"});
  EXPECT_EQ(Copy(Relayna(kToCluster), *single_, *cluster_)->other_keys, 1);
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
