#include "core/relayna/dlq_replay_service.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "core/base/utc.h"
#include "core/python/error.h"
#include "core/python/json.h"
#include "core/store/errors.h"
#include "tests/support/backends.h"
#include "tests/support/intercepted_store.h"

namespace redouble::relayna {
namespace {

using python::Object;
using store::Reply;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using tests::InterceptedStore;

constexpr std::string_view kLock = "relayna:dlq:replay-lock:d1";

absl::Time At(std::string_view text) { return *base::ParseRfc3339(text); }

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

// Keeps what is published; may do something, or fail, instead.
class Broker final : public QueuePublisher {
 public:
  base::Task<absl::Status> Publish(QueueMessage message) override {
    if (on_publish) on_publish();
    if (!failure.ok()) co_return failure;
    published.push_back(std::move(message));
    co_return absl::OkStatus();
  }

  std::vector<QueueMessage> published;
  std::function<void()> on_publish;
  absl::Status failure;
};

using Replayed = absl::StatusOr<std::optional<DlqReplayResult>>;

template <typename Backend>
class DlqReplayServiceTest : public tests::BackendTest<Backend> {
 protected:
  void Add(const DlqRecord& record) {
    DlqStore dlq(this->store());
    ASSERT_TRUE(this->Run(dlq.Add(record)).ok());
  }
  Replayed Replay(store::Store& store, bool force = false, std::string owner = "") {
    DlqStore dlq(store, {.owner_token = std::move(owner)});
    DlqReplayService service(dlq, broker_);
    const DlqReplayRequest request{"d1", At("2026-01-01T12:00:00Z"), force};
    return this->Run(service.ReplayMessage(request));
  }
  Replayed Replay(bool force = false) { return Replay(this->store(), force); }
  bool IsLocked() { return this->Ask({"EXISTS", kLock}).integer() == 1; }
  int64_t ReplayCount() {
    DlqStore dlq(this->store());
    return (*this->Run(dlq.Get("d1")))->replay_count;
  }

  Broker broker_;
};
TYPED_TEST_SUITE(DlqReplayServiceTest, tests::Backends, tests::BackendNames);

TYPED_TEST(DlqReplayServiceTest, LocksPublishesMarksAndReleasesInThisOrder) {
  this->Add(Record());
  InterceptedStore watched(this->store());
  size_t requests_before_broker = 0;
  this->broker_.on_publish = [&] { requests_before_broker = watched.requests(); };
  const Replayed replayed = this->Replay(watched);
  ASSERT_TRUE(replayed.ok() && replayed->has_value()) << replayed.status();
  EXPECT_EQ(requests_before_broker, 2u);
  DlqRecord marked = Record();
  marked.state = DlqRecord::kReplayed;
  marked.replay_count = 1;
  marked.replayed_at = At("2026-01-01T12:00:00Z");
  marked.replay_target_queue_name = "q.retry";
  EXPECT_THAT(watched.log(), ElementsAre("SET " + std::string(kLock) + " 1 NX EX 30",
                                         "GET relayna:dlq:record:d1", "GET relayna:dlq:record:d1",
                                         "SET relayna:dlq:record:d1 " + *FormatDlqRecord(marked),
                                         "DEL " + std::string(kLock)));
  EXPECT_EQ(*python::PydanticJson(ToValue(**replayed)),
            R"({"dlq_id":"d1","target_queue_name":"q.retry","state":"replayed",)"
            R"("replayed_at":"2026-01-01T12:00:00Z","replay_count":1,"forced":false})");
}

TYPED_TEST(DlqReplayServiceTest, SendsTheMessageAsItWasWithHeadersThatSayWhatBecameOfIt) {
  this->Add(Record("\xff raw"));
  ASSERT_TRUE(this->Replay()->has_value());
  ASSERT_THAT(this->broker_.published, SizeIs(1));
  const QueueMessage& message = this->broker_.published[0];
  EXPECT_EQ(message.queue_name, "q.retry");
  EXPECT_EQ(message.body, "\xff raw");
  EXPECT_EQ(message.correlation_id, "c1");
  EXPECT_EQ(message.content_type, "application/json");
  EXPECT_EQ(*python::PyJson(message.headers),
            R"({"x-relayna-retry-attempt": 0, "trace": "abc", )"
            R"("x-relayna-original-retry-attempt": 3, )"
            R"("x-relayna-original-failure-reason": "handler_error", )"
            R"("x-relayna-original-exception-type": "ValueError", )"
            R"("x-relayna-replayed-from-dlq": true, "x-relayna-dlq-id": "d1", )"
            R"("x-relayna-replayed-at": "2026-01-01T12:00:00+00:00"})");
}

TYPED_TEST(DlqReplayServiceTest, AddsHeadersToARecordThatHasNone) {
  DlqRecord record = Record();
  record.headers = Object();
  EXPECT_EQ(*python::PyJson(ReplayHeaders(record, At("2026-01-01T12:00:00.5Z"))),
            R"({"x-relayna-replayed-from-dlq": true, "x-relayna-dlq-id": "d1", )"
            R"("x-relayna-replayed-at": "2026-01-01T12:00:00.500000+00:00", )"
            R"("x-relayna-retry-attempt": 0})");
}

TYPED_TEST(DlqReplayServiceTest, GivesNothingAndReleasesWhenThereIsNoRecord) {
  const Replayed replayed = this->Replay();
  ASSERT_TRUE(replayed.ok());
  EXPECT_EQ(*replayed, std::nullopt);
  EXPECT_THAT(this->broker_.published, IsEmpty());
  EXPECT_EQ(this->KeyCount(), 0) << "the lock of a claim on nothing is released (R17)";
}

TYPED_TEST(DlqReplayServiceTest, ReplaysOnceUnlessForced) {
  this->Add(Record());
  ASSERT_TRUE(this->Replay()->has_value());
  const absl::Status conflict = this->Replay().status();
  EXPECT_EQ(python::ErrorType(conflict), "DLQReplayConflict");
  EXPECT_EQ(conflict.message(), "DLQ message 'd1' has already been replayed.");
  EXPECT_THAT(this->broker_.published, SizeIs(1));
  const Replayed forced = this->Replay(/*force=*/true);
  ASSERT_TRUE(forced.ok() && forced->has_value());
  EXPECT_TRUE((*forced)->forced);
  EXPECT_EQ((*forced)->replay_count, 2);
  EXPECT_FALSE(this->IsLocked());
}

TYPED_TEST(DlqReplayServiceTest, LeavesTheLockOfAReplayThatIsInProgress) {
  this->Add(Record());
  this->Ask({"SET", kLock, "1"});
  const absl::Status conflict = this->Replay().status();
  EXPECT_EQ(conflict.message(), "DLQ replay is already in progress.");
  EXPECT_TRUE(this->IsLocked());
  EXPECT_THAT(this->broker_.published, IsEmpty());
}

TYPED_TEST(DlqReplayServiceTest, MarksNothingAndReleasesWhenTheBrokerFails) {
  this->Add(Record());
  this->broker_.failure =
      python::Error(absl::StatusCode::kUnavailable, "ConnectionError", "broker is down");
  const absl::Status failed = this->Replay().status();
  EXPECT_EQ(python::ErrorType(failed), "ConnectionError");
  EXPECT_EQ(failed.message(), "broker is down");
  EXPECT_EQ(this->ReplayCount(), 0);
  EXPECT_FALSE(this->IsLocked());
}

TYPED_TEST(DlqReplayServiceTest, RefusesABodyThatIsNoBase64AndReleases) {
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

TYPED_TEST(DlqReplayServiceTest, GivesNothingWhenTheRecordExpiresWhileTheBrokerIsAtWork) {
  this->Add(Record());
  this->broker_.on_publish = [&] { this->Ask({"DEL", "relayna:dlq:record:d1"}); };
  EXPECT_EQ(*this->Replay(), std::nullopt);
  EXPECT_THAT(this->broker_.published, SizeIs(1));
  EXPECT_FALSE(this->IsLocked());
}

TYPED_TEST(DlqReplayServiceTest, FailsWhenTheRecordIsSpoiltWhileTheBrokerIsAtWork) {
  this->Add(Record());
  this->broker_.on_publish = [&] { this->Ask({"SET", "relayna:dlq:record:d1", "[]"}); };
  EXPECT_EQ(python::ErrorType(this->Replay().status()), "ValidationError");
  EXPECT_FALSE(this->IsLocked());
}

// R12: the broker takes longer than the lock lives; a second replay publishes as well, and the
// first one's release takes the second one's lock unless locks know their owners.
TYPED_TEST(DlqReplayServiceTest, ASlowBrokerLetsASecondReplayInAndThenTakesItsLock) {
  for (const bool owned : {false, true}) {
    this->Ask({"FLUSHALL"});
    this->Add(Record());
    this->broker_.published.clear();
    this->broker_.on_publish = [&, owned] {
      this->broker_.on_publish = nullptr;
      this->Advance(absl::Seconds(31));
      DlqStore second(this->store(), {.owner_token = owned ? "b" : ""});
      EXPECT_TRUE(this->Run(second.ClaimReplay("d1"))->has_value());
    };
    EXPECT_TRUE(this->Replay(this->store(), false, owned ? "a" : "")->has_value());
    EXPECT_EQ(this->IsLocked(), owned);
  }
}

// R14.
TYPED_TEST(DlqReplayServiceTest, ACrashBehindTheBrokerLeavesTheMessageReplayable) {
  this->Add(Record());
  InterceptedStore watched(this->store());
  watched.on_request = [](size_t index) -> std::optional<absl::StatusOr<Reply>> {
    if (index < 2) return std::nullopt;
    return absl::StatusOr<Reply>(store::NotSentError("the process died"));
  };
  EXPECT_FALSE(this->Replay(watched).ok());
  EXPECT_THAT(this->broker_.published, SizeIs(1));
  EXPECT_TRUE(this->IsLocked()) << "for the 30 s that it lives";
  this->Advance(absl::Milliseconds(30'001));
  EXPECT_TRUE(this->Replay()->has_value());
  EXPECT_THAT(this->broker_.published, SizeIs(2));
}

TYPED_TEST(DlqReplayServiceTest, PassesTheErrorsOfTheStoreOn) {
  for (size_t failing = 0; failing < 5; ++failing) {
    this->Ask({"FLUSHALL"});
    this->Add(Record());
    InterceptedStore watched(this->store());
    watched.on_request = [&](size_t index) -> std::optional<absl::StatusOr<Reply>> {
      if (index != failing) return std::nullopt;
      return absl::StatusOr<Reply>(store::OutcomeUnknownError("gone"));
    };
    EXPECT_TRUE(absl::IsUnavailable(this->Replay(watched).status())) << failing;
    EXPECT_EQ(this->IsLocked(), failing == 4) << failing;
  }
}

}  // namespace
}  // namespace redouble::relayna
