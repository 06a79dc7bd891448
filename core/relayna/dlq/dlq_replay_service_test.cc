#include "redouble/core/relayna/dlq/dlq_replay_service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/time/utc.h"
#include "redouble/core/python/error.h"
#include "redouble/core/python/json.h"
#include "redouble/core/relayna/testing/relayna_for_test.h"
#include "redouble/core/store/errors.h"
#include "redouble/tests/support/intercepted_store.h"

namespace redouble::inline v0_1::relayna {
namespace {

using base::IsOk;
using base::IsOkAndHolds;
using base::StatusIs;
using python::Object;
using store::Reply;
using ::testing::ElementsAre;
using ::testing::Eq;
using ::testing::IsEmpty;
using ::testing::Ne;
using ::testing::Not;
using ::testing::SizeIs;
using tests::InterceptedStore;

constexpr std::string_view kLock = "relayna:dlq:replay-lock:d1";

absl::Time At(std::string_view text) { return base::ParseRfc3339(text).value(); }

DlqRecord Record(std::string_view raw_body = R"({"a": 1})") {
  DlqRecord record;
  record.dlq_id = "d1";
  record.queue_name = "q.dlq";
  record.source_queue_name = "q";
  record.retry_queue_name = "q.retry";
  record.correlation_id = "c1";
  record.content_type = "application/json";
  record.reason = "handler_error";
  record.retry_attempt = 3;
  record.headers = Object({{"x-relayna-retry-attempt", 3},
                           {"trace", "abc"},
                           {"x-relayna-failure-reason", "handler_error"},
                           {"x-relayna-exception-type", "ValueError"}});
  record.dead_lettered_at = At("2026-01-01T11:00:00Z");
  record.SetBody(raw_body);
  return record;
}

// Records the published messages. A test can set an action or an error for the next publication.
class Broker final : public QueuePublisher {
 public:
  base::Task<absl::Status> Publish(QueueMessage message) override {
    if (on_publish) on_publish();
    REDOUBLE_CO_RETURN_IF_ERROR(failure);
    published.push_back(std::move(message));
    co_return absl::OkStatus();
  }

  std::vector<QueueMessage> published;
  std::function<void()> on_publish;
  absl::Status failure;
};

using Replayed = absl::StatusOr<std::optional<DlqReplayResult>>;

template <typename Backend>
class DlqReplayServiceTest : public RelaynaTest<Backend> {
 protected:
  void Add(const DlqRecord& record) {
    DlqStore dlq(this->store(), this->Options(DlqOptions()));
    ASSERT_THAT(this->Run(dlq.Add(record)), IsOk());
  }
  Replayed Replay(store::Store& store, bool force = false, std::string owner = "") {
    DlqStore dlq(store, this->Options(DlqOptions{.hardening = {.owner_token = std::move(owner)}}));
    DlqReplayService service(dlq, broker_);
    const DlqReplayRequest request{"d1", At("2026-01-01T12:00:00Z"), force};
    return this->Run(service.ReplayMessage(request));
  }
  Replayed Replay(bool force = false) { return Replay(this->store(), force); }
  Replayed ReplayMarkingFirst(store::Store& store, bool force = false) {
    DlqStore dlq(store, this->Options(DlqOptions{.hardening = {.mark_before_publish = true}}));
    DlqReplayService service(dlq, broker_);
    const DlqReplayRequest request{"d1", At("2026-01-01T12:00:00Z"), force};
    return this->Run(service.ReplayMessage(request));
  }
  bool IsLocked() { return this->Ask({"EXISTS", kLock}).integer() == 1; }
  int64_t ReplayCount() {
    DlqStore dlq(this->store(), this->Options(DlqOptions()));
    return this->Run(dlq.Get("d1")).value()->replay_count;
  }

  Broker broker_;
};
TYPED_TEST_SUITE(DlqReplayServiceTest, tests::LayoutBackends, tests::BackendNames);

TYPED_TEST(DlqReplayServiceTest, LocksPublishesMarksAndReleasesInThisOrder) {
  this->Add(Record());
  InterceptedStore watched(this->store());
  size_t requests_before_broker = 0;
  this->broker_.on_publish = [&] { requests_before_broker = watched.requests(); };
  const Replayed replayed = this->Replay(watched);
  ASSERT_THAT(replayed, IsOkAndHolds(Ne(std::nullopt)));
  EXPECT_EQ(requests_before_broker, 2u);
  DlqRecord marked = Record();
  marked.state = DlqRecord::kReplayed;
  marked.replay_count = 1;
  marked.replayed_at = At("2026-01-01T12:00:00Z");
  marked.replay_target_queue_name = "q.retry";
  EXPECT_THAT(this->Documented(watched.log()),
              ElementsAre("SET " + std::string(kLock) + " 1 NX EX 30", "GET relayna:dlq:record:d1",
                          "GET relayna:dlq:record:d1",
                          "SET relayna:dlq:record:d1 " + FormatDlqRecord(marked).value(),
                          "DEL " + std::string(kLock)));
  EXPECT_THAT(
      python::PydanticJson(ToValue(**replayed)),
      IsOkAndHolds(R"({"dlq_id":"d1","target_queue_name":"q.retry","state":"replayed",)"
                   R"("replayed_at":"2026-01-01T12:00:00Z","replay_count":1,"forced":false})"));
}

TYPED_TEST(DlqReplayServiceTest, PublishesTheOriginalBodyWithReplayHeaders) {
  this->Add(Record("\xff raw"));
  ASSERT_THAT(this->Replay(), IsOkAndHolds(Ne(std::nullopt)));
  ASSERT_THAT(this->broker_.published, SizeIs(1));
  const QueueMessage& message = this->broker_.published[0];
  EXPECT_EQ(message.queue_name, "q.retry");
  EXPECT_EQ(message.body, "\xff raw");
  EXPECT_EQ(message.correlation_id, "c1");
  EXPECT_EQ(message.content_type, "application/json");
  EXPECT_THAT(python::PyJson(message.headers),
              IsOkAndHolds(R"({"x-relayna-retry-attempt": 0, "trace": "abc", )"
                           R"("x-relayna-original-retry-attempt": 3, )"
                           R"("x-relayna-original-failure-reason": "handler_error", )"
                           R"("x-relayna-original-exception-type": "ValueError", )"
                           R"("x-relayna-replayed-from-dlq": true, "x-relayna-dlq-id": "d1", )"
                           R"("x-relayna-replayed-at": "2026-01-01T12:00:00+00:00"})"));
}

TYPED_TEST(DlqReplayServiceTest, AddsHeadersToARecordWithoutHeaders) {
  DlqRecord record = Record();
  record.headers = Object();
  EXPECT_THAT(python::PyJson(ReplayHeaders(record, At("2026-01-01T12:00:00.5Z"))),
              IsOkAndHolds(R"({"x-relayna-replayed-from-dlq": true, "x-relayna-dlq-id": "d1", )"
                           R"("x-relayna-replayed-at": "2026-01-01T12:00:00.500000+00:00", )"
                           R"("x-relayna-retry-attempt": 0})"));
}

TYPED_TEST(DlqReplayServiceTest, ReturnsNulloptAndReleasesIfTheRecordIsMissing) {
  const Replayed replayed = this->Replay();
  ASSERT_THAT(replayed, IsOk());
  EXPECT_EQ(*replayed, std::nullopt);
  EXPECT_THAT(this->broker_.published, IsEmpty());
  EXPECT_EQ(this->KeyCount(), 0) << "the lock of a missing record is released (R17)";
}

TYPED_TEST(DlqReplayServiceTest, ReplaysOnceUnlessForced) {
  this->Add(Record());
  ASSERT_THAT(this->Replay(), IsOkAndHolds(Ne(std::nullopt)));
  const absl::Status conflict = this->Replay().status();
  EXPECT_EQ(python::ErrorType(conflict), "DLQReplayConflict");
  EXPECT_EQ(conflict.message(), "DLQ message 'd1' has already been replayed.");
  EXPECT_THAT(this->broker_.published, SizeIs(1));
  const Replayed forced = this->Replay(/*force=*/true);
  ASSERT_THAT(forced, IsOkAndHolds(Ne(std::nullopt)));
  EXPECT_TRUE((*forced)->forced);
  EXPECT_EQ((*forced)->replay_count, 2);
  EXPECT_FALSE(this->IsLocked());
}

TYPED_TEST(DlqReplayServiceTest, KeepsTheLockOfAReplayInProgress) {
  this->Add(Record());
  this->Ask({"SET", kLock, "1"});
  const absl::Status conflict = this->Replay().status();
  EXPECT_EQ(conflict.message(), "DLQ replay is already in progress.");
  EXPECT_TRUE(this->IsLocked());
  EXPECT_THAT(this->broker_.published, IsEmpty());
}

TYPED_TEST(DlqReplayServiceTest, ReleasesWithoutAMarkIfTheBrokerFails) {
  this->Add(Record());
  this->broker_.failure =
      python::Error(absl::StatusCode::kUnavailable, "ConnectionError", "broker is down");
  const absl::Status failed = this->Replay().status();
  EXPECT_EQ(python::ErrorType(failed), "ConnectionError");
  EXPECT_EQ(failed.message(), "broker is down");
  EXPECT_EQ(this->ReplayCount(), 0);
  EXPECT_FALSE(this->IsLocked());
}

// The lock of the first replay has expired when it marks the record, and a second replay has run.
TYPED_TEST(DlqReplayServiceTest, PublishesOnceWhenTheLockExpiresAndItMarksFirst) {
  this->Add(Record());
  InterceptedStore slow(this->store());
  bool second_has_run = false;
  slow.on_request = [&](size_t index) -> std::optional<absl::StatusOr<store::Reply>> {
    if (index == 3) {
      this->Ask({"DEL", kLock});
      EXPECT_THAT(this->ReplayMarkingFirst(this->store()), IsOkAndHolds(Ne(std::nullopt)));
      second_has_run = true;
    }
    return std::nullopt;
  };
  const absl::Status conflict = this->ReplayMarkingFirst(slow).status();
  EXPECT_TRUE(second_has_run);
  EXPECT_EQ(python::ErrorType(conflict), "DLQReplayConflict");
  EXPECT_EQ(conflict.message(), "DLQ message 'd1' has already been replayed.");
  EXPECT_THAT(this->broker_.published, SizeIs(1));
  EXPECT_EQ(this->ReplayCount(), 1);
}

TYPED_TEST(DlqReplayServiceTest, MarksFirstAndTakesTheMarkBackIfTheBrokerFails) {
  this->Add(Record());
  this->broker_.failure = absl::UnavailableError("broker is down");
  int64_t count_at_broker = 0;
  this->broker_.on_publish = [&] { count_at_broker = this->ReplayCount(); };
  const std::string before = this->Value("relayna:dlq:record:d1");
  EXPECT_EQ(this->ReplayMarkingFirst(this->store()).status().message(), "broker is down");
  EXPECT_EQ(count_at_broker, 1);
  EXPECT_EQ(this->Value("relayna:dlq:record:d1"), before);
  EXPECT_FALSE(this->IsLocked());
  this->broker_.failure = absl::OkStatus();
  const Replayed replayed = this->ReplayMarkingFirst(this->store());
  ASSERT_THAT(replayed, IsOkAndHolds(Ne(std::nullopt)));
  EXPECT_EQ((*replayed)->replay_count, 1);
  EXPECT_EQ((*replayed)->state, DlqRecord::kReplayed);
  const Replayed forced = this->ReplayMarkingFirst(this->store(), /*force=*/true);
  ASSERT_THAT(forced, IsOkAndHolds(Ne(std::nullopt)));
  EXPECT_EQ((*forced)->replay_count, 2);
  EXPECT_THAT(this->broker_.published, SizeIs(2));
}

TYPED_TEST(DlqReplayServiceTest, ReturnsNulloptIfTheRecordExpiresBeforeItsMarkAndItMarksFirst) {
  this->Add(Record());
  InterceptedStore slow(this->store());
  slow.on_request = [&](size_t index) -> std::optional<absl::StatusOr<store::Reply>> {
    if (index == 2) this->Ask({"DEL", "relayna:dlq:record:d1"});
    return std::nullopt;
  };
  EXPECT_THAT(this->ReplayMarkingFirst(slow), IsOkAndHolds(::testing::Eq(std::nullopt)));
  EXPECT_THAT(this->broker_.published, IsEmpty());
}

TYPED_TEST(DlqReplayServiceTest, RejectsABodyThatIsNotBase64AndReleases) {
  DlqRecord record = Record();
  record.raw_body_b64 = "*";
  this->Add(record);
  EXPECT_EQ(python::ErrorType(this->Replay().status()), "ValueError");
  EXPECT_THAT(this->broker_.published, IsEmpty());
  EXPECT_FALSE(this->IsLocked());
}

TYPED_TEST(DlqReplayServiceTest, FailsOnACorruptRecordBeforeTheBroker) {
  this->Ask({"SET", "relayna:dlq:record:d1", "{"});
  EXPECT_EQ(python::ErrorType(this->Replay().status()), "ValidationError");
  EXPECT_THAT(this->broker_.published, IsEmpty());
  EXPECT_FALSE(this->IsLocked());
}

TYPED_TEST(DlqReplayServiceTest, ReturnsNulloptIfTheRecordExpiresDuringThePublication) {
  this->Add(Record());
  this->broker_.on_publish = [&] { this->Ask({"DEL", "relayna:dlq:record:d1"}); };
  EXPECT_THAT(this->Replay(), IsOkAndHolds(Eq(std::nullopt)));
  EXPECT_THAT(this->broker_.published, SizeIs(1));
  EXPECT_FALSE(this->IsLocked());
}

TYPED_TEST(DlqReplayServiceTest, FailsIfTheRecordIsCorruptedDuringThePublication) {
  this->Add(Record());
  this->broker_.on_publish = [&] { this->Ask({"SET", "relayna:dlq:record:d1", "[]"}); };
  EXPECT_EQ(python::ErrorType(this->Replay().status()), "ValidationError");
  EXPECT_FALSE(this->IsLocked());
}

// R12: the broker takes longer than the TTL of the lock. A second replay publishes as well, and the
// first one's release deletes the second one's lock, unless locks have owners.
TYPED_TEST(DlqReplayServiceTest, ASlowBrokerAllowsASecondReplayAndDeletesItsLock) {
  for (const bool owned : {false, true}) {
    this->Ask({"FLUSHALL"});
    this->Add(Record());
    this->broker_.published.clear();
    this->broker_.on_publish = [&, owned] {
      this->broker_.on_publish = nullptr;
      this->Advance(absl::Seconds(31));
      DlqStore second(this->store(),
                      this->Options(DlqOptions{.hardening = {.owner_token = owned ? "b" : ""}}));
      EXPECT_THAT(this->Run(second.ClaimReplay("d1")), IsOkAndHolds(Ne(std::nullopt)));
    };
    EXPECT_THAT(this->Replay(this->store(), false, owned ? "a" : ""),
                IsOkAndHolds(Ne(std::nullopt)));
    EXPECT_EQ(this->IsLocked(), owned);
  }
}

// R14: the process dies after the broker accepted the message.
TYPED_TEST(DlqReplayServiceTest, ACrashAfterThePublicationLeavesTheMessageReplayable) {
  this->Add(Record());
  InterceptedStore watched(this->store());
  watched.on_request = [](size_t index) -> std::optional<absl::StatusOr<Reply>> {
    if (index < 2) return std::nullopt;
    return absl::StatusOr<Reply>(store::NotSentError("the process died"));
  };
  EXPECT_THAT(this->Replay(watched), Not(IsOk()));
  EXPECT_THAT(this->broker_.published, SizeIs(1));
  EXPECT_TRUE(this->IsLocked()) << "for 30 s";
  this->Advance(absl::Milliseconds(30'001));
  EXPECT_THAT(this->Replay(), IsOkAndHolds(Ne(std::nullopt)));
  EXPECT_THAT(this->broker_.published, SizeIs(2));
}

TYPED_TEST(DlqReplayServiceTest, ReturnsTheErrorsOfTheStore) {
  for (size_t failing = 0; failing < 5; ++failing) {
    this->Ask({"FLUSHALL"});
    this->Add(Record());
    InterceptedStore watched(this->store());
    watched.on_request = [&](size_t index) -> std::optional<absl::StatusOr<Reply>> {
      if (index != failing) return std::nullopt;
      return absl::StatusOr<Reply>(store::OutcomeUnknownError("gone"));
    };
    EXPECT_THAT(this->Replay(watched), StatusIs(absl::StatusCode::kUnavailable)) << failing;
    EXPECT_EQ(this->IsLocked(), failing == 4) << failing;
  }
}

}  // namespace
}  // namespace redouble::inline v0_1::relayna
