#include "core/relayna/dlq_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/python/error.h"
#include "core/store/errors.h"
#include "tests/support/backends.h"
#include "tests/support/intercepted_store.h"

namespace redouble::relayna {
namespace {

using store::Reply;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using tests::InterceptedStore;

absl::Time At(std::string_view text) { return *base::ParseRfc3339(text); }

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
class DlqStoreTest : public tests::BackendTest<Backend> {
 protected:
  absl::Status Add(const DlqRecord& record, DlqOptions options = {}) {
    DlqStore dlq(this->store(), std::move(options));
    return this->Run(dlq.Add(record));
  }
  absl::StatusOr<DlqPage> List(DlqQuery query) {
    DlqStore dlq(this->store());
    return this->Run(dlq.ListRecords(std::move(query)));
  }
  absl::StatusOr<std::optional<DlqRecord>> Claim(bool force = false, std::string owner = "") {
    DlqStore dlq(this->store(), {.owner_token = std::move(owner)});
    return this->Run(dlq.ClaimReplay("d1", force));
  }
  absl::Status Release(std::string owner = "") {
    DlqStore dlq(this->store(), {.owner_token = std::move(owner)});
    return this->Run(dlq.ReleaseReplayClaim("d1"));
  }
  absl::StatusOr<std::optional<DlqRecord>> Mark(DlqOptions options = {}) {
    DlqStore dlq(this->store(), std::move(options));
    DlqReplay replay{At("2026-01-01T11:05:00Z"), "q.retry"};
    return this->Run(dlq.MarkReplayed("d1", std::move(replay)));
  }
};
TYPED_TEST_SUITE(DlqStoreTest, tests::Backends, tests::BackendNames);

TYPED_TEST(DlqStoreTest, AddsInOneTransaction) {
  InterceptedStore watched(this->store());
  DlqStore dlq(watched, {.ttl_seconds = 600});
  ASSERT_TRUE(this->Run(dlq.Add(Record())).ok());
  const std::string text = *FormatDlqRecord(Record());
  EXPECT_THAT(watched.log(), ElementsAre("MULTI", "SET relayna:dlq:record:d1 " + text + " EX 600",
                                         "LPUSH relayna:dlq:records d1",
                                         "EXPIRE relayna:dlq:records 600", "EXEC"));
  EXPECT_EQ(watched.requests(), 1u);
}

TYPED_TEST(DlqStoreTest, HasNoTimeToLiveByDefault) {
  ASSERT_TRUE(this->Add(Record()).ok());
  EXPECT_EQ(this->Ttl("relayna:dlq:record:d1"), -1);
  EXPECT_EQ(this->Ttl("relayna:dlq:records"), -1);
}

// Golden dlq_corrupt_and_ttl0.
TYPED_TEST(DlqStoreTest, ATimeToLiveOfZeroLeavesADanglingId) {
  const absl::Status status = this->Add(Record(), {.ttl_seconds = 0});
  EXPECT_EQ(store::ErrorKindOf(status), store::ErrorKind::kServer);
  EXPECT_EQ(this->Ask({"LLEN", "relayna:dlq:records"}).integer(), 1);
  EXPECT_THAT(Ids(this->List({})), IsEmpty());
}

TYPED_TEST(DlqStoreTest, GivesARecordBack) {
  ASSERT_TRUE(this->Add(Record()).ok());
  DlqStore dlq(this->store());
  const auto record = this->Run(dlq.Get("d1"));
  ASSERT_TRUE(record.ok() && record->has_value());
  EXPECT_EQ(ToValue(**record), ToValue(Record()));
  EXPECT_EQ(*this->Run(dlq.Get("none")), std::nullopt);
}

TYPED_TEST(DlqStoreTest, PagesByIdAndLooksAheadForAnotherMatch) {
  for (const std::string id : {"a", "b", "c", "d"}) {
    DlqRecord record = Record(id);
    record.queue_name = id < "c" ? "x" : "y";
    ASSERT_TRUE(this->Add(record).ok());
  }
  absl::StatusOr<DlqPage> page = this->List({.limit = 2});
  EXPECT_THAT(Ids(page), ElementsAre("d", "c"));
  EXPECT_EQ(page->next_cursor, "c");
  page = this->List({.cursor = "c", .limit = 2});
  EXPECT_THAT(Ids(page), ElementsAre("b", "a"));
  EXPECT_EQ(page->next_cursor, std::nullopt);
  page = this->List({.limit = 2, .queue_name = "y"});
  EXPECT_EQ(page->next_cursor, std::nullopt) << "what follows does not match";
  EXPECT_THAT(Ids(this->List({.cursor = "unknown"})), SizeIs(4));
  EXPECT_THAT(Ids(this->List({.cursor = "", .queue_name = ""})), SizeIs(4));
  for (const int64_t limit : {0, -1}) {
    page = this->List({.limit = limit});
    EXPECT_THAT(Ids(page), SizeIs(4));
    EXPECT_EQ(page->next_cursor, std::nullopt);
  }
}

TYPED_TEST(DlqStoreTest, FiltersByEachField) {
  DlqRecord other = Record("d2");
  other.queue_name = "z";
  other.task_id = std::nullopt;
  other.reason = "timeout";
  other.source_queue_name = "s";
  other.state = DlqRecord::kReplayed;
  ASSERT_TRUE(this->Add(Record()).ok());
  ASSERT_TRUE(this->Add(other).ok());
  EXPECT_THAT(Ids(this->List({.queue_name = "z"})), ElementsAre("d2"));
  EXPECT_THAT(Ids(this->List({.task_id = "t1"})), ElementsAre("d1"));
  EXPECT_THAT(Ids(this->List({.reason = "timeout"})), ElementsAre("d2"));
  EXPECT_THAT(Ids(this->List({.source_queue_name = "s"})), ElementsAre("d2"));
  EXPECT_THAT(Ids(this->List({.state = "replayed"})), ElementsAre("d2"));
  EXPECT_THAT(Ids(this->List({.state = "dead_lettered"})), ElementsAre("d1"));
}

TYPED_TEST(DlqStoreTest, RefusesAnUnknownStateAfterTheListWasRead) {
  InterceptedStore watched(this->store());
  DlqStore dlq(watched);
  const absl::Status status = this->Run(dlq.ListRecords({.state = "bogus"})).status();
  EXPECT_EQ(python::ErrorType(status), "ValueError");
  EXPECT_EQ(status.message(), "'bogus' is not a valid DLQRecordState");
  EXPECT_EQ(watched.requests(), 1u);
}

// R15 and R16.
TYPED_TEST(DlqStoreTest, TheListOutlivesItsRecordsAndHoldsIdsTwice) {
  ASSERT_TRUE(this->Add(Record("gone"), {.ttl_seconds = 10}).ok());
  this->Advance(absl::Seconds(9));
  ASSERT_TRUE(this->Add(Record("d1"), {.ttl_seconds = 10}).ok());
  ASSERT_TRUE(this->Add(Record("d1"), {.ttl_seconds = 10}).ok());
  this->Advance(absl::Milliseconds(1001));
  EXPECT_THAT(Ids(this->List({})), ElementsAre("d1", "d1"));
  const absl::StatusOr<DlqPage> page = this->List({.cursor = "d1", .limit = 1});
  EXPECT_THAT(Ids(page), ElementsAre("d1"));
  EXPECT_EQ(page->next_cursor, "d1") << "a client that pages never gets on";
}

TYPED_TEST(DlqStoreTest, SummarizesQueuesByName) {
  DlqRecord later = Record("d2");
  later.dead_lettered_at = At("2026-01-01T12:00:00Z");
  DlqRecord other = Record("d3");
  other.queue_name = "a.dlq";
  for (const DlqRecord& record : {later, Record(), Record(), other}) {
    ASSERT_TRUE(this->Add(record).ok());
  }
  this->Ask({"LPUSH", "relayna:dlq:records", "missing"});
  DlqStore dlq(this->store());
  const auto queues = *this->Run(dlq.SummarizeQueues());
  ASSERT_THAT(queues, SizeIs(2));
  EXPECT_EQ(queues[0].queue_name, "a.dlq");
  EXPECT_EQ(queues[1].count, 3);
  EXPECT_EQ(queues[1].last_dead_lettered_at, later.dead_lettered_at);
}

TYPED_TEST(DlqStoreTest, ACorruptRecordFailsWhateverReadsIt) {
  this->Ask({"LPUSH", "relayna:dlq:records", "d1"});
  this->Ask({"SET", "relayna:dlq:record:d1", "{"});
  DlqStore dlq(this->store());
  EXPECT_EQ(python::ErrorType(this->Run(dlq.Get("d1")).status()), "ValidationError");
  EXPECT_EQ(python::ErrorType(this->List({}).status()), "ValidationError");
  EXPECT_EQ(python::ErrorType(this->Run(dlq.SummarizeQueues()).status()), "ValidationError");
  EXPECT_EQ(python::ErrorType(this->Mark().status()), "ValidationError");
  EXPECT_EQ(python::ErrorType(this->Claim().status()), "ValidationError");
  EXPECT_EQ(this->Ask({"EXISTS", "relayna:dlq:replay-lock:d1"}).integer(), 0)
      << "a claim that failed is released";
}

TYPED_TEST(DlqStoreTest, AKeyOfTheWrongTypeFails) {
  this->Ask({"SET", "relayna:dlq:records", "x"});
  this->Ask({"LPUSH", "relayna:dlq:record:d1", "x"});
  DlqStore dlq(this->store());
  EXPECT_EQ(store::ServerErrorCode(this->List({}).status()), "WRONGTYPE");
  EXPECT_EQ(store::ServerErrorCode(this->Run(dlq.SummarizeQueues()).status()), "WRONGTYPE");
  EXPECT_EQ(store::ServerErrorCode(this->Claim().status()), "WRONGTYPE");
  EXPECT_EQ(store::ServerErrorCode(this->Add(Record())), "WRONGTYPE");
}

TYPED_TEST(DlqStoreTest, ClaimsOnceForThirtySeconds) {
  ASSERT_TRUE(this->Add(Record()).ok());
  EXPECT_TRUE(this->Claim()->has_value());
  this->Advance(absl::Seconds(30));
  const absl::Status conflict = this->Claim().status();
  EXPECT_EQ(python::ErrorType(conflict), "DLQReplayConflict");
  EXPECT_EQ(conflict.message(), "DLQ replay is already in progress.");
  this->Advance(absl::Milliseconds(1));
  EXPECT_TRUE(this->Claim()->has_value());
}

TYPED_TEST(DlqStoreTest, DoesNotReplayTwiceUnlessForced) {
  ASSERT_TRUE(this->Add(Record()).ok());
  ASSERT_TRUE(this->Mark()->has_value());
  const absl::Status conflict = this->Claim().status();
  EXPECT_EQ(conflict.message(), "DLQ message 'd1' has already been replayed.");
  EXPECT_EQ(this->Ask({"EXISTS", "relayna:dlq:replay-lock:d1"}).integer(), 0);
  EXPECT_TRUE(this->Claim(/*force=*/true)->has_value());
}

// R17.
TYPED_TEST(DlqStoreTest, AClaimOnNothingKeepsItsLock) {
  EXPECT_EQ(*this->Claim(), std::nullopt);
  EXPECT_EQ(this->Ttl("relayna:dlq:replay-lock:d1"), 30);
}

// R12.
TYPED_TEST(DlqStoreTest, AReleaseFreesTheLockOfTheNextUnlessItKnowsItsOwner) {
  for (const bool owned : {false, true}) {
    this->Ask({"FLUSHALL"});
    ASSERT_TRUE(this->Add(Record()).ok());
    ASSERT_TRUE(this->Claim(false, owned ? "a" : "").ok());
    this->Advance(absl::Seconds(31));
    ASSERT_TRUE(this->Claim(false, owned ? "b" : "").ok());
    ASSERT_TRUE(this->Release(owned ? "a" : "").ok());
    EXPECT_EQ(this->Claim(false, owned ? "c" : "").ok(), !owned);
    ASSERT_TRUE(this->Release(owned ? "b" : "").ok());
    EXPECT_TRUE(this->Claim(false, owned ? "c" : "").ok());
  }
}

TYPED_TEST(DlqStoreTest, MarksAReplayAndBeginsTheTimeToLiveAnew) {
  ASSERT_TRUE(this->Add(Record(), {.ttl_seconds = 100}).ok());
  this->Advance(absl::Seconds(50));
  const auto record = this->Mark({.ttl_seconds = 100});
  ASSERT_TRUE(record.ok() && record->has_value());
  EXPECT_EQ((*record)->state, DlqRecord::kReplayed);
  EXPECT_EQ((*record)->replay_count, 1);
  EXPECT_EQ((*record)->replayed_at, At("2026-01-01T11:05:00Z"));
  EXPECT_EQ((*record)->replay_target_queue_name, "q.retry");
  EXPECT_EQ(this->Ttl("relayna:dlq:record:d1"), 100);
  EXPECT_EQ(this->Ttl("relayna:dlq:records"), 50);
  EXPECT_EQ((*this->Mark())->replay_count, 2);
}

TYPED_TEST(DlqStoreTest, MarksNothingWhenThereIsNothing) {
  EXPECT_EQ(*this->Mark(), std::nullopt);
  EXPECT_EQ(this->KeyCount(), 0);
}

// R13 and R18: what happens between reading and writing is lost.
TYPED_TEST(DlqStoreTest, AMarkOverwritesWhatOthersDidInBetween) {
  for (const bool expired : {false, true}) {
    this->Ask({"FLUSHALL"});
    ASSERT_TRUE(this->Add(Record()).ok());
    InterceptedStore watched(this->store());
    watched.on_request = [&](size_t index) -> std::optional<absl::StatusOr<Reply>> {
      if (index != 1) return std::nullopt;
      if (expired) {
        this->Ask({"DEL", "relayna:dlq:record:d1"});
      } else {
        EXPECT_TRUE(this->Mark().ok());
      }
      return std::nullopt;
    };
    DlqStore dlq(watched);
    DlqReplay replay{At("2026-01-01T11:06:00Z"), "q.retry"};
    ASSERT_TRUE(this->Run(dlq.MarkReplayed("d1", std::move(replay))).ok());
    DlqStore plain(this->store());
    EXPECT_EQ((*this->Run(plain.Get("d1")))->replay_count, 1);
  }
}

TYPED_TEST(DlqStoreTest, PassesTheErrorsOfTheStoreOn) {
  ASSERT_TRUE(this->Add(Record()).ok());
  for (const size_t failing : {0u, 1u, 2u}) {
    InterceptedStore watched(this->store());
    watched.on_request = [&](size_t index) -> std::optional<absl::StatusOr<Reply>> {
      if (index != failing) return std::nullopt;
      return absl::StatusOr<Reply>(store::OutcomeUnknownError("gone"));
    };
    this->Ask({"DEL", "relayna:dlq:replay-lock:d1"});
    DlqStore dlq(watched);
    const bool fails_before_release = failing < 2;
    EXPECT_EQ(absl::IsUnavailable(this->Run(dlq.ClaimReplay("d1")).status()), fails_before_release);
  }
  InterceptedStore watched(this->store());
  watched.on_request = [](size_t) -> std::optional<absl::StatusOr<Reply>> {
    return absl::StatusOr<Reply>(store::OutcomeUnknownError("gone"));
  };
  DlqStore dlq(watched);
  EXPECT_TRUE(absl::IsUnavailable(this->Run(dlq.Add(Record()))));
  EXPECT_TRUE(absl::IsUnavailable(this->Run(dlq.ReleaseReplayClaim("d1"))));
  EXPECT_TRUE(absl::IsUnavailable(this->Run(dlq.ListRecords()).status()));
}

}  // namespace
}  // namespace redouble::relayna
