#include "redouble/core/relayna/dlq/dlq_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/python/error.h"
#include "redouble/core/relayna/testing/relayna_for_test.h"
#include "redouble/core/store/errors.h"
#include "redouble/tests/support/intercepted_store.h"

namespace redouble::inline v0_1::relayna {
namespace {

using base::IsOk;
using base::IsOkAndHolds;
using base::StatusIs;
using store::Reply;
using ::testing::ElementsAre;
using ::testing::Eq;
using ::testing::IsEmpty;
using ::testing::Ne;
using ::testing::SizeIs;
using tests::InterceptedStore;

absl::Time At(std::string_view text) { return base::ParseRfc3339(text).value(); }

DlqRecord Record(std::string id = "d1") {
  DlqRecord record;
  record.dlq_id = std::move(id);
  record.queue_name = "q.dlq";
  record.source_queue_name = "q";
  record.retry_queue_name = "q.retry";
  record.task_id = "t1";
  record.reason = "handler_error";
  record.dead_lettered_at = At("2026-01-01T11:00:00Z");
  record.SetBody(R"({"a": 1})");
  return record;
}

std::vector<std::string> Ids(const absl::StatusOr<DlqPage>& page) {
  std::vector<std::string> ids;
  for (const DlqRecord& record : page.value_or(DlqPage()).records) ids.push_back(record.dlq_id);
  return ids;
}

template <typename Backend>
class DlqStoreTest : public RelaynaTest<Backend> {
 protected:
  absl::Status Add(const DlqRecord& record, DlqOptions options = {}) {
    DlqStore dlq(this->store(), this->Options(std::move(options)));
    return this->Run(dlq.Add(record));
  }
  absl::StatusOr<DlqPage> List(DlqQuery query) {
    DlqStore dlq(this->store(), this->Options(DlqOptions()));
    return this->Run(dlq.ListRecords(std::move(query)));
  }
  absl::StatusOr<std::optional<DlqRecord>> Claim(bool force = false, std::string owner = "") {
    DlqStore dlq(this->store(),
                 this->Options(DlqOptions{.hardening = {.owner_token = std::move(owner)}}));
    return this->Run(dlq.ClaimReplay("d1", force));
  }
  absl::Status Release(std::string owner = "") {
    DlqStore dlq(this->store(),
                 this->Options(DlqOptions{.hardening = {.owner_token = std::move(owner)}}));
    return this->Run(dlq.ReleaseReplayClaim("d1"));
  }
  absl::StatusOr<std::optional<DlqRecord>> Mark(DlqOptions options = {}) {
    DlqStore dlq(this->store(), this->Options(std::move(options)));
    DlqReplay replay{At("2026-01-01T11:05:00Z"), "q.retry"};
    return this->Run(dlq.MarkReplayed("d1", std::move(replay)));
  }
};
TYPED_TEST_SUITE(DlqStoreTest, tests::LayoutBackends, tests::BackendNames);

// Another caller marks the record between the read and the write of the first attempt.
TYPED_TEST(DlqStoreTest, MarksWithoutLosingACountWhenAtomic) {
  const DlqOptions options{.ttl_seconds = 600, .hardening = {.atomic_marks = true}};
  DlqStore dlq(this->store(), this->Options(options));
  ASSERT_THAT(this->Run(dlq.Add(Record())), IsOk());
  InterceptedStore watched(this->store());
  bool marked = false;
  watched.on_request = [&](size_t index) -> std::optional<absl::StatusOr<store::Reply>> {
    if (index == 1 && !std::exchange(marked, true)) {
      EXPECT_THAT(this->Mark(options), IsOk());
    }
    return std::nullopt;
  };
  DlqStore other(watched, this->Options(options));
  ASSERT_OK_AND_ASSIGN(const auto record,
                       this->Run(other.MarkReplayed("d1", {At("2026-01-01T11:06:00Z"), "q"})));
  EXPECT_TRUE(marked);
  EXPECT_EQ(record->replay_count, 2);
  ASSERT_OK_AND_ASSIGN(const auto stored, this->Run(dlq.Get("d1")));
  EXPECT_EQ(stored->replay_count, 2);
}

TYPED_TEST(DlqStoreTest, LeavesARecordGoneThatExpiresDuringAnAtomicMark) {
  const DlqOptions options{.ttl_seconds = 600, .hardening = {.atomic_marks = true}};
  DlqStore dlq(this->store(), this->Options(options));
  ASSERT_THAT(this->Run(dlq.Add(Record())), IsOk());
  InterceptedStore watched(this->store());
  watched.on_request = [&](size_t index) -> std::optional<absl::StatusOr<store::Reply>> {
    if (index == 1) this->Ask({"FLUSHALL"});
    return std::nullopt;
  };
  DlqStore other(watched, this->Options(options));
  ASSERT_OK_AND_ASSIGN(const auto marked,
                       this->Run(other.MarkReplayed("d1", {At("2026-01-01T11:06:00Z"), "q"})));
  EXPECT_FALSE(marked.has_value());
  ASSERT_OK_AND_ASSIGN(const auto stored, this->Run(dlq.Get("d1")));
  EXPECT_FALSE(stored.has_value());
}

TYPED_TEST(DlqStoreTest, AddsInOneTransaction) {
  InterceptedStore watched(this->store());
  DlqStore dlq(watched, this->Options(DlqOptions{.ttl_seconds = 600}));
  ASSERT_THAT(this->Run(dlq.Add(Record())), IsOk());
  ASSERT_OK_AND_ASSIGN(const std::string text, FormatDlqRecord(Record()));
  EXPECT_THAT(
      this->Documented(watched.log()),
      ElementsAre("MULTI", "SET relayna:dlq:record:d1 " + text + " EX 600",
                  "LPUSH relayna:dlq:records d1", "EXPIRE relayna:dlq:records 600", "EXEC"));
  EXPECT_EQ(watched.requests(), 1u);
}

TYPED_TEST(DlqStoreTest, SetsNoTtlByDefault) {
  ASSERT_THAT(this->Add(Record()), IsOk());
  EXPECT_EQ(this->Ttl("relayna:dlq:record:d1"), -1);
  EXPECT_EQ(this->Ttl("relayna:dlq:records"), -1);
}

// docs/systems/relayna.md 4.7: SET EX 0 fails inside the transaction, and LPUSH takes effect.
TYPED_TEST(DlqStoreTest, ATtlOfZeroLeavesADanglingId) {
  const absl::Status status = this->Add(Record(), {.ttl_seconds = 0});
  EXPECT_EQ(store::ErrorKindOf(status), store::ErrorKind::kServer);
  EXPECT_EQ(this->Ask({"LLEN", "relayna:dlq:records"}).integer(), 1);
  EXPECT_THAT(Ids(this->List({})), IsEmpty());
}

TYPED_TEST(DlqStoreTest, ReturnsARecord) {
  ASSERT_THAT(this->Add(Record()), IsOk());
  DlqStore dlq(this->store(), this->Options(DlqOptions()));
  const auto record = this->Run(dlq.Get("d1"));
  ASSERT_THAT(record, IsOkAndHolds(Ne(std::nullopt)));
  EXPECT_EQ(ToValue(**record), ToValue(Record()));
  EXPECT_THAT(this->Run(dlq.Get("none")), IsOkAndHolds(Eq(std::nullopt)));
}

TYPED_TEST(DlqStoreTest, PagesByIdAndLooksAheadForAnotherMatch) {
  for (const std::string id : {"a", "b", "c", "d"}) {
    DlqRecord record = Record(id);
    record.queue_name = id < "c" ? "x" : "y";
    ASSERT_THAT(this->Add(record), IsOk());
  }
  absl::StatusOr<DlqPage> page = this->List({.limit = 2});
  EXPECT_THAT(Ids(page), ElementsAre("d", "c"));
  EXPECT_EQ(page.value().next_cursor, "c");
  page = this->List({.cursor = "c", .limit = 2});
  EXPECT_THAT(Ids(page), ElementsAre("b", "a"));
  EXPECT_EQ(page.value().next_cursor, std::nullopt);
  page = this->List({.limit = 2, .queue_name = "y"});
  EXPECT_EQ(page.value().next_cursor, std::nullopt) << "no later record matches";
  EXPECT_THAT(Ids(this->List({.cursor = "unknown"})), SizeIs(4));
  EXPECT_THAT(Ids(this->List({.cursor = "", .queue_name = ""})), SizeIs(4));
  for (const int64_t limit : {0, -1}) {
    page = this->List({.limit = limit});
    EXPECT_THAT(Ids(page), SizeIs(4));
    EXPECT_EQ(page.value().next_cursor, std::nullopt);
  }
}

TYPED_TEST(DlqStoreTest, FiltersByEachField) {
  DlqRecord other = Record("d2");
  other.queue_name = "z";
  other.task_id = std::nullopt;
  other.reason = "timeout";
  other.source_queue_name = "s";
  other.state = DlqRecord::kReplayed;
  ASSERT_THAT(this->Add(Record()), IsOk());
  ASSERT_THAT(this->Add(other), IsOk());
  EXPECT_THAT(Ids(this->List({.queue_name = "z"})), ElementsAre("d2"));
  EXPECT_THAT(Ids(this->List({.task_id = "t1"})), ElementsAre("d1"));
  EXPECT_THAT(Ids(this->List({.reason = "timeout"})), ElementsAre("d2"));
  EXPECT_THAT(Ids(this->List({.source_queue_name = "s"})), ElementsAre("d2"));
  EXPECT_THAT(Ids(this->List({.state = "replayed"})), ElementsAre("d2"));
  EXPECT_THAT(Ids(this->List({.state = "dead_lettered"})), ElementsAre("d1"));
  EXPECT_THAT(Ids(this->List({.state = ""})), IsEmpty()) << "no record has this state";
}

TYPED_TEST(DlqStoreTest, RefusesAnUnknownStateAfterTheListWasRead) {
  InterceptedStore watched(this->store());
  DlqStore dlq(watched, this->Options(DlqOptions()));
  const absl::Status status = this->Run(dlq.ListRecords({.state = "bogus"})).status();
  EXPECT_EQ(python::ErrorType(status), "ValueError");
  EXPECT_EQ(status.message(), "'bogus' is not a valid DLQRecordState");
  EXPECT_EQ(watched.requests(), 1u);
}

// R15 and R16.
TYPED_TEST(DlqStoreTest, TheListOutlivesItsRecordsAndHoldsIdsTwice) {
  ASSERT_THAT(this->Add(Record("gone"), {.ttl_seconds = 10}), IsOk());
  this->Advance(absl::Seconds(9));
  ASSERT_THAT(this->Add(Record("d1"), {.ttl_seconds = 10}), IsOk());
  ASSERT_THAT(this->Add(Record("d1"), {.ttl_seconds = 10}), IsOk());
  this->Advance(absl::Milliseconds(1001));
  EXPECT_THAT(Ids(this->List({})), ElementsAre("d1", "d1"));
  const absl::StatusOr<DlqPage> page = this->List({.cursor = "d1", .limit = 1});
  EXPECT_THAT(Ids(page), ElementsAre("d1"));
  EXPECT_EQ(page.value().next_cursor, "d1") << "a paging client never advances";
}

TYPED_TEST(DlqStoreTest, SummarizesQueuesByName) {
  DlqRecord later = Record("d2");
  later.dead_lettered_at = python::DateTime(At("2026-01-01T12:00:00Z"), absl::Hours(2));
  DlqRecord other = Record("d3");
  other.queue_name = "a.dlq";
  for (const DlqRecord& record : {later, Record(), Record(), other}) {
    ASSERT_THAT(this->Add(record), IsOk());
  }
  this->Ask({"LPUSH", "relayna:dlq:records", "missing"});
  DlqStore dlq(this->store(), this->Options(DlqOptions()));
  ASSERT_OK_AND_ASSIGN(const auto queues, this->Run(dlq.SummarizeQueues()));
  ASSERT_THAT(queues, SizeIs(2));
  EXPECT_EQ(queues[0].queue_name, "a.dlq");
  EXPECT_EQ(queues[1].count, 3);
  EXPECT_EQ(queues[1].last_dead_lettered_at, later.dead_lettered_at);
}

TYPED_TEST(DlqStoreTest, ACorruptRecordFailsEveryRead) {
  this->Ask({"LPUSH", "relayna:dlq:records", "d1"});
  this->Ask({"SET", "relayna:dlq:record:d1", "{"});
  DlqStore dlq(this->store(), this->Options(DlqOptions()));
  EXPECT_EQ(python::ErrorType(this->Run(dlq.Get("d1")).status()), "ValidationError");
  EXPECT_EQ(python::ErrorType(this->List({}).status()), "ValidationError");
  EXPECT_EQ(python::ErrorType(this->Run(dlq.SummarizeQueues()).status()), "ValidationError");
  EXPECT_EQ(python::ErrorType(this->Mark().status()), "ValidationError");
  EXPECT_EQ(python::ErrorType(this->Claim().status()), "ValidationError");
  EXPECT_EQ(this->Ask({"EXISTS", "relayna:dlq:replay-lock:d1"}).integer(), 0)
      << "a failed claim is released";
}

TYPED_TEST(DlqStoreTest, AKeyOfTheWrongTypeFails) {
  this->Ask({"SET", "relayna:dlq:records", "x"});
  this->Ask({"LPUSH", "relayna:dlq:record:d1", "x"});
  DlqStore dlq(this->store(), this->Options(DlqOptions()));
  EXPECT_EQ(store::ServerErrorCode(this->List({}).status()), "WRONGTYPE");
  EXPECT_EQ(store::ServerErrorCode(this->Run(dlq.SummarizeQueues()).status()), "WRONGTYPE");
  EXPECT_EQ(store::ServerErrorCode(this->Claim().status()), "WRONGTYPE");
  EXPECT_EQ(store::ServerErrorCode(this->Add(Record())), "WRONGTYPE");
}

TYPED_TEST(DlqStoreTest, ClaimsOnceForThirtySeconds) {
  ASSERT_THAT(this->Add(Record()), IsOk());
  EXPECT_THAT(this->Claim(), IsOkAndHolds(Ne(std::nullopt)));
  this->Advance(absl::Seconds(30));
  const absl::Status conflict = this->Claim().status();
  EXPECT_EQ(python::ErrorType(conflict), "DLQReplayConflict");
  EXPECT_EQ(conflict.message(), "DLQ replay is already in progress.");
  this->Advance(absl::Milliseconds(1));
  EXPECT_THAT(this->Claim(), IsOkAndHolds(Ne(std::nullopt)));
}

TYPED_TEST(DlqStoreTest, DoesNotReplayTwiceUnlessForced) {
  ASSERT_THAT(this->Add(Record()), IsOk());
  ASSERT_THAT(this->Mark(), IsOkAndHolds(Ne(std::nullopt)));
  const absl::Status conflict = this->Claim().status();
  EXPECT_EQ(conflict.message(), "DLQ message 'd1' has already been replayed.");
  EXPECT_EQ(this->Ask({"EXISTS", "relayna:dlq:replay-lock:d1"}).integer(), 0);
  EXPECT_THAT(this->Claim(/*force=*/true), IsOkAndHolds(Ne(std::nullopt)));
}

// R17.
TYPED_TEST(DlqStoreTest, AClaimOfAMissingRecordKeepsItsLock) {
  EXPECT_THAT(this->Claim(), IsOkAndHolds(Eq(std::nullopt)));
  EXPECT_EQ(this->Ttl("relayna:dlq:replay-lock:d1"), 30);
}

// R12.
TYPED_TEST(DlqStoreTest, AReleaseDeletesTheNextLockUnlessLocksHaveOwners) {
  for (const bool owned : {false, true}) {
    this->Ask({"FLUSHALL"});
    ASSERT_THAT(this->Add(Record()), IsOk());
    ASSERT_THAT(this->Claim(false, owned ? "a" : ""), IsOk());
    this->Advance(absl::Seconds(31));
    ASSERT_THAT(this->Claim(false, owned ? "b" : ""), IsOk());
    ASSERT_THAT(this->Release(owned ? "a" : ""), IsOk());
    EXPECT_EQ(this->Claim(false, owned ? "c" : "").ok(), !owned);
    ASSERT_THAT(this->Release(owned ? "b" : ""), IsOk());
    EXPECT_THAT(this->Claim(false, owned ? "c" : ""), IsOk());
  }
}

TYPED_TEST(DlqStoreTest, MarksAReplayAndRestartsTheTtl) {
  ASSERT_THAT(this->Add(Record(), {.ttl_seconds = 100}), IsOk());
  this->Advance(absl::Seconds(50));
  const auto record = this->Mark({.ttl_seconds = 100});
  ASSERT_THAT(record, IsOkAndHolds(Ne(std::nullopt)));
  EXPECT_EQ((*record)->state, DlqRecord::kReplayed);
  EXPECT_EQ((*record)->replay_count, 1);
  EXPECT_EQ((*record)->replayed_at, At("2026-01-01T11:05:00Z"));
  EXPECT_EQ((*record)->replay_target_queue_name, "q.retry");
  EXPECT_EQ(this->Ttl("relayna:dlq:record:d1"), 100);
  EXPECT_EQ(this->Ttl("relayna:dlq:records"), 50);
  EXPECT_EQ(this->Mark().value()->replay_count, 2);
}

TYPED_TEST(DlqStoreTest, MarksNothingIfTheRecordIsMissing) {
  EXPECT_THAT(this->Mark(), IsOkAndHolds(Eq(std::nullopt)));
  EXPECT_EQ(this->KeyCount(), 0);
}

TYPED_TEST(DlqStoreTest, ForgetsTheIdsOfExpiredRecordsWhenHardened) {
  const DlqOptions options{.ttl_seconds = 60, .hardening = {.forget_expired_ids = true}};
  ASSERT_THAT(this->Add(Record("d1"), options), IsOk());
  ASSERT_THAT(this->Add(Record("d2"), options), IsOk());
  ASSERT_THAT(this->Add(Record("d1"), options), IsOk());
  this->Advance(absl::Seconds(40));
  ASSERT_THAT(this->Mark(options), IsOk());
  ASSERT_THAT(this->Add(Record("d3"), options), IsOk());
  EXPECT_EQ(this->Ask({"LLEN", "relayna:dlq:records"}), Reply::Integer(4));
  this->Advance(absl::Seconds(30));
  ASSERT_THAT(this->Add(Record("d4"), options), IsOk());
  EXPECT_THAT(
      this->Ask({"LRANGE", "relayna:dlq:records", "0", "-1"}).elements(),
      ElementsAre(Reply::Bulk("d4"), Reply::Bulk("d3"), Reply::Bulk("d1"), Reply::Bulk("d1")))
      << "the mark has renewed d1";
  this->Advance(absl::Seconds(59));
  ASSERT_THAT(this->Add(Record("d5"), options), IsOk());
  EXPECT_THAT(this->Ask({"LRANGE", "relayna:dlq:records", "0", "-1"}).elements(),
              ElementsAre(Reply::Bulk("d5"), Reply::Bulk("d4")));
}

// A record that was added again after it had been missed keeps its id.
TYPED_TEST(DlqStoreTest, KeepsTheIdOfARecordThatIsBackWhenHardened) {
  const DlqOptions options{.ttl_seconds = 60, .hardening = {.forget_expired_ids = true}};
  ASSERT_THAT(this->Add(Record("d1"), options), IsOk());
  this->Ask({"DEL", "relayna:dlq:record:d1"});
  InterceptedStore store(this->store());
  store.on_request = [&](size_t index) -> std::optional<absl::StatusOr<Reply>> {
    if (index == 2) {
      EXPECT_THAT(this->Add(Record("d1"), {.ttl_seconds = 60}), IsOk());
    }
    return std::nullopt;
  };
  DlqStore dlq(store, this->Options(options));
  ASSERT_THAT(this->Run(dlq.Add(Record("d2"))), IsOk());
  EXPECT_EQ(this->Ask({"LLEN", "relayna:dlq:records"}), Reply::Integer(3));
}

// R16: a message that is added again after its replay stays replayed, and is listed once.
TYPED_TEST(DlqStoreTest, AddsARecordOnceWhenHardened) {
  for (const std::optional<int64_t> ttl : {std::optional<int64_t>(60), std::optional<int64_t>()}) {
    this->Ask({"FLUSHALL"});
    const DlqOptions options{.ttl_seconds = ttl, .hardening = {.add_once = true}};
    ASSERT_THAT(this->Add(Record("d1"), options), IsOk());
    EXPECT_EQ(this->Ttl("relayna:dlq:record:d1"), ttl.value_or(-1));
    EXPECT_EQ(this->Ttl("relayna:dlq:records"), ttl.value_or(-1));
    ASSERT_THAT(this->Add(Record("d2"), options), IsOk());
    ASSERT_THAT(this->Mark(options), IsOk());
    ASSERT_THAT(this->Add(Record("d1"), options), IsOk());
    EXPECT_THAT(this->Ask({"LRANGE", "relayna:dlq:records", "0", "-1"}).elements(),
                ElementsAre(Reply::Bulk("d2"), Reply::Bulk("d1")));
    DlqStore dlq(this->store(), this->Options(options));
    EXPECT_EQ(this->Run(dlq.Get("d1")).value()->state, DlqRecord::kReplayed);
    // A record that has expired is added again, and its id is listed once.
    this->Ask({"DEL", "relayna:dlq:record:d1"});
    ASSERT_THAT(this->Add(Record("d1"), options), IsOk());
    EXPECT_THAT(this->Ask({"LRANGE", "relayna:dlq:records", "0", "-1"}).elements(),
                ElementsAre(Reply::Bulk("d1"), Reply::Bulk("d2")));
    // A mark renews a record and not the list, which can expire first.
    this->Ask({"DEL", "relayna:dlq:records"});
    ASSERT_THAT(this->Add(Record("d1"), options), IsOk());
    EXPECT_EQ(this->Ask({"LLEN", "relayna:dlq:records"}), Reply::Integer(1));
  }
}

// R13 and R18: changes between read and write are overwritten.
TYPED_TEST(DlqStoreTest, AMarkOverwritesConcurrentChanges) {
  for (const bool expired : {false, true}) {
    this->Ask({"FLUSHALL"});
    ASSERT_THAT(this->Add(Record()), IsOk());
    InterceptedStore watched(this->store());
    watched.on_request = [&](size_t index) -> std::optional<absl::StatusOr<Reply>> {
      if (index != 1) return std::nullopt;
      if (expired) {
        this->Ask({"DEL", "relayna:dlq:record:d1"});
      } else {
        EXPECT_THAT(this->Mark(), IsOk());
      }
      return std::nullopt;
    };
    DlqStore dlq(watched, this->Options(DlqOptions()));
    DlqReplay replay{At("2026-01-01T11:06:00Z"), "q.retry"};
    ASSERT_THAT(this->Run(dlq.MarkReplayed("d1", std::move(replay))), IsOk());
    DlqStore plain(this->store(), this->Options(DlqOptions()));
    EXPECT_EQ(this->Run(plain.Get("d1")).value()->replay_count, 1);
  }
}

TYPED_TEST(DlqStoreTest, ReturnsTheErrorsOfTheStore) {
  ASSERT_THAT(this->Add(Record()), IsOk());
  for (const size_t failing : {0u, 1u, 2u}) {
    InterceptedStore watched(this->store());
    watched.on_request = [&](size_t index) -> std::optional<absl::StatusOr<Reply>> {
      if (index != failing) return std::nullopt;
      return absl::StatusOr<Reply>(store::OutcomeUnknownError("gone"));
    };
    this->Ask({"DEL", "relayna:dlq:replay-lock:d1"});
    DlqStore dlq(watched, this->Options(DlqOptions()));
    const bool fails_before_release = failing < 2;
    EXPECT_EQ(absl::IsUnavailable(this->Run(dlq.ClaimReplay("d1")).status()), fails_before_release);
  }
  InterceptedStore watched(this->store());
  watched.on_request = [](size_t) -> std::optional<absl::StatusOr<Reply>> {
    return absl::StatusOr<Reply>(store::OutcomeUnknownError("gone"));
  };
  DlqStore dlq(watched, this->Options(DlqOptions()));
  EXPECT_THAT(this->Run(dlq.Add(Record())), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(this->Run(dlq.ReleaseReplayClaim("d1")), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(this->Run(dlq.ListRecords()), StatusIs(absl::StatusCode::kUnavailable));
}

}  // namespace
}  // namespace redouble::inline v0_1::relayna
