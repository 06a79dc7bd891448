#include "redouble/core/relayna/event_stream.h"

#include <gtest/gtest.h>

#include "redouble/backends/memory/engine/engine.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/base/time/virtual_clock.h"
#include "redouble/core/python/error.h"
#include "redouble/core/python/json.h"
#include "redouble/core/store/pubsub/pubsub.h"
#include "redouble/core/store/typed/lists.h"
#include "redouble/tests/support/breakable_source.h"
#include "redouble/tests/support/message_backends.h"

namespace redouble::inline v0_1::relayna {
namespace {

using python::Object;
using python::Value;
using Kind = StreamFrame::Kind;
using base::IsOk;

Value Event(std::string_view id, std::string_view status = "running") {
  return Object({{"status", status}, {"event_id", id}});
}

Value Nameless(std::string_view status) { return Object({{"status", status}}); }

template <typename Backend>
class EventStreamTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const absl::Status started = backend_.Start();
    if (!started.ok()) GTEST_SKIP() << Backend::kName << " is not available here: " << started;
    statuses_.emplace(backend_.store());
  }
  void Set(const Value& event) {
    EXPECT_THAT(base::Run(statuses_->SetHistory("t1", event)), IsOk());
    backend_.Deliver();
  }
  void Publish(std::string_view payload, std::string_view channel = "task:channel:t1") {
    EXPECT_THAT(base::Run(store::Publish(backend_.store(), channel, payload)), IsOk());
    backend_.Deliver();
  }
  void Open(StreamOptions options = {}) {
    options.task_id = "t1";
    task_.reset();
    stream_.reset();
    source_.emplace(backend_.subscription());
    stream_.emplace(*source_, *statuses_, backend_.clock(), std::move(options));
    EXPECT_EQ(Next(), "ready");
  }
  // The next frame as text: the event's id, or its status in brackets, or its JSON; "comment";
  // "end"; the class of an error; "waits" if the task is suspended.
  std::string Next() {
    if (!task_) task_.emplace(stream_->Next());
    task_->Start();
    return Resumed();
  }
  // The same for the task that is suspended.
  std::string Resumed() {
    if (!task_->done()) return "waits";
    const absl::StatusOr<std::optional<StreamFrame>> frame = task_->TakeResult();
    task_.reset();
    if (!frame.ok()) return python::ErrorType(frame.status()).value_or("error");
    if (!frame->has_value()) return "end";
    if ((*frame)->kind == Kind::kReady) return "ready";
    if ((*frame)->kind == Kind::kKeepAlive) return "comment";
    if ((*frame)->id) return *(*frame)->id;
    const Value* status = (*frame)->event.Find("status");
    return status == nullptr ? python::PyJson((*frame)->event).value()
                             : "[" + *status->text() + "]";
  }

  Backend backend_;
  std::optional<StatusStore> statuses_;
  std::optional<tests::BreakableSource> source_;
  std::optional<EventStream> stream_;
  std::optional<base::Task<absl::StatusOr<std::optional<StreamFrame>>>> task_;
};

TYPED_TEST_SUITE(EventStreamTest, tests::MessageBackends, tests::MessageBackendNames);

TYPED_TEST(EventStreamTest, ReplaysTheHistoryOldestFirstThenFollows) {
  this->Set(Event("e1"));
  this->Set(Event("e2"));
  this->Open();
  EXPECT_EQ(this->Next(), "e1");
  EXPECT_EQ(this->Next(), "e2");
  EXPECT_EQ(this->Next(), "waits");
  this->Set(Event("e3"));
  EXPECT_EQ(this->Resumed(), "e3");
  this->Set(Event("e4"));
  this->Set(Event("e5", "COMPLETED"));
  EXPECT_EQ(this->Next(), "e4");
  EXPECT_EQ(this->Next(), "e5");
  EXPECT_EQ(this->Next(), "end");
  EXPECT_EQ(this->Next(), "end");
}

TYPED_TEST(EventStreamTest, ResumesAfterTheLastEventIdOfTheClient) {
  for (const std::string_view id : {"e1", "e2", "e3"}) this->Set(Event(id));
  this->Open({.last_event_id = "e2"});
  EXPECT_EQ(this->Next(), "e3");
  EXPECT_EQ(this->Next(), "waits");
}

TYPED_TEST(EventStreamTest, ReplaysEverythingForAnUnknownLastEventId) {
  this->Set(Event("e1"));
  this->Open({.last_event_id = "gone"});
  EXPECT_EQ(this->Next(), "e1");
}

TYPED_TEST(EventStreamTest, SendsWhatItMissedWhileTheConnectionWasLost) {
  this->Set(Event("e1"));
  this->Open();
  EXPECT_EQ(this->Next(), "e1");
  EXPECT_EQ(this->Next(), "waits");
  this->source_->Lose();
  this->Set(Event("e2"));
  this->Set(Nameless("running"));
  this->Set(Event("e3"));
  this->source_->ComeBack();
  EXPECT_EQ(this->Resumed(), "e2");
  EXPECT_EQ(this->Next(), "[running]");
  EXPECT_EQ(this->Next(), "e3");
  EXPECT_EQ(this->Next(), "waits");
  this->Set(Event("e4", "completed"));
  EXPECT_EQ(this->Resumed(), "e4");
  EXPECT_EQ(this->Next(), "end");
}

TYPED_TEST(EventStreamTest, SendsTheHistoryAfterAGapIfItHasSentNothing) {
  this->Open();
  EXPECT_EQ(this->Next(), "waits");
  this->source_->Lose();
  this->Set(Event("e1"));
  this->Set(Event("e2", "failed"));
  this->source_->ComeBack();
  EXPECT_EQ(this->Resumed(), "e1");
  EXPECT_EQ(this->Next(), "e2");
  EXPECT_EQ(this->Next(), "end");
}

TYPED_TEST(EventStreamTest, EndsAfterTheFirstTerminalStatus) {
  this->Set(Event("e1"));
  this->Set(Event("e2", "failed"));
  this->Set(Event("straggler"));
  this->Open();
  EXPECT_EQ(this->Next(), "e1");
  EXPECT_EQ(this->Next(), "e2");
  EXPECT_EQ(this->Next(), "end");
}

// R8: only a usable id identifies a duplicate.
TYPED_TEST(EventStreamTest, DeliversAnEventWithoutIdTwiceIfItArrivesBothWays) {
  this->Open();
  const std::string_view channels[] = {"task:channel:t1"};
  EXPECT_THAT(base::Run(store::Subscribe(this->backend_.subscription(), channels)), IsOk());
  this->Set(Event("e1"));
  this->Set(Nameless("running"));
  // Both events are in the history now, and were published to the subscription.
  EXPECT_EQ(this->Next(), "e1");
  EXPECT_EQ(this->Next(), "[running]");
  EXPECT_EQ(this->Next(), "[running]");
  EXPECT_EQ(this->Next(), "waits");
}

TYPED_TEST(EventStreamTest, DropsALiveDuplicateByItsStrippedId) {
  this->Set(Event("e1"));
  this->Open();
  EXPECT_EQ(this->Next(), "e1");
  EXPECT_EQ(this->Next(), "waits");
  this->Publish(R"({"status": "running", "event_id": " e1 "})");
  EXPECT_EQ(this->Resumed(), "waits");
  this->Publish(R"({"status": "running", "event_id": "e2"})");
  EXPECT_EQ(this->Resumed(), "e2");
}

TYPED_TEST(EventStreamTest, SkipsMessagesThatAreNotJson) {
  this->Open();
  EXPECT_EQ(this->Next(), "waits");
  this->Publish("{");
  this->Publish("");
  this->Publish("{}", "other");
  EXPECT_EQ(this->Resumed(), "waits");
  this->Publish(R"({"status": "x"})");
  EXPECT_EQ(this->Resumed(), "[x]");
}

// The original fails at them, outside of what it catches.
TYPED_TEST(EventStreamTest, EndsWithAnErrorAtAMessageThatIsNoObject) {
  for (const std::string_view payload : {"[1]", "7", "null", "true"}) {
    this->Open();
    EXPECT_EQ(this->Next(), "waits");
    this->Publish(payload);
    EXPECT_EQ(this->Resumed(), "TypeError") << payload;
    EXPECT_EQ(this->Next(), "end");
  }
  this->Open();
  EXPECT_EQ(this->Next(), "waits");
  this->Publish("\"x\"");
  EXPECT_EQ(this->Resumed(), "ValueError");
  this->Open();
  EXPECT_EQ(this->Next(), "waits");
  this->Publish("{\"a\": \"\xff\"}");
  EXPECT_EQ(this->Resumed(), "UnicodeDecodeError");
}

TYPED_TEST(EventStreamTest, SendsAnEmptyEventForAnEmptyArrayOrText) {
  this->Open();
  EXPECT_EQ(this->Next(), "waits");
  this->Publish("[]");
  EXPECT_EQ(this->Resumed(), "{}");
  this->Publish("\"\"");
  EXPECT_EQ(this->Next(), "{}");
  EXPECT_EQ(this->Next(), "waits");
}

TYPED_TEST(EventStreamTest, EndsWithAnErrorAtAnItemOfTheHistoryThatIsNoObject) {
  this->Set(Event("e1"));
  EXPECT_THAT(base::Run(store::LPush(this->backend_.store(), "task:history:t1", "7")), IsOk());
  this->Set(Event("e2"));
  this->Open();
  EXPECT_EQ(this->Next(), "e1");
  EXPECT_EQ(this->Next(), "TypeError");
  EXPECT_EQ(this->Next(), "end");
  this->Open({.last_event_id = "e2"});
  EXPECT_EQ(this->Next(), "AttributeError") << "before the last event of the client is found";
  this->Open({.last_event_id = "e1"});
  EXPECT_EQ(this->Next(), "TypeError");
}

TYPED_TEST(EventStreamTest, EndsWithAnErrorAfterAStatusThatIsNoText) {
  const Value odd = Object({{"event_id", "e1"}, {"status", 7}});
  this->Open();
  EXPECT_EQ(this->Next(), "waits");
  this->Set(odd);
  EXPECT_EQ(this->Resumed(), "e1");
  EXPECT_EQ(this->Next(), "AttributeError");
  EXPECT_EQ(this->Next(), "end");
  this->Set(Event("e2"));
  this->Open();
  EXPECT_EQ(this->Next(), "e1");
  EXPECT_EQ(this->Next(), "AttributeError") << "the history is not sent to its end";
}

TYPED_TEST(EventStreamTest, GoesOnAfterAFalsyStatus) {
  this->Set(Object({{"event_id", "e1"}, {"status", nullptr}}));
  this->Set(Object({{"event_id", "e2"}, {"status", 0}}));
  this->Set(Object({{"event_id", "e3"}}));
  this->Open();
  for (const char* id : {"e1", "e2", "e3", "waits"}) EXPECT_EQ(this->Next(), id);
}

TYPED_TEST(EventStreamTest, SendsACommentAfterEachKeepAliveInterval) {
  this->Open();
  EXPECT_EQ(this->Next(), "waits");
  this->backend_.clock().Advance(absl::Seconds(15) - absl::Microseconds(1));
  EXPECT_EQ(this->Resumed(), "waits");
  this->backend_.clock().Advance(absl::Microseconds(1));
  EXPECT_EQ(this->Resumed(), "comment");
  EXPECT_EQ(this->Next(), "waits");
  this->Set(Event("e1"));
  EXPECT_EQ(this->Resumed(), "e1");
}

TYPED_TEST(EventStreamTest, SendsNoCommentWithoutAnInterval) {
  this->Open({.keep_alive = std::nullopt});
  EXPECT_EQ(this->Next(), "waits");
  this->backend_.clock().Advance(absl::Hours(1));
  EXPECT_EQ(this->Resumed(), "waits");
}

TYPED_TEST(EventStreamTest, EndsWithACorruptHistory) {
  EXPECT_THAT(base::Run(store::LPush(this->backend_.store(), "task:history:t1", "{")), IsOk());
  this->Open();
  EXPECT_EQ(this->Next(), "JSONDecodeError");
  EXPECT_EQ(this->Next(), "end");
}

// The stream compares only with the ids that it sent itself, not with the client's last event id.
TYPED_TEST(EventStreamTest, DeliversASeenEventThatIsPublishedAgain) {
  this->Set(Event("e1"));
  this->Open({.last_event_id = "e1"});
  EXPECT_EQ(this->Next(), "waits");
  this->Publish(R"({"status": "running", "event_id": "e1"})");
  EXPECT_EQ(this->Resumed(), "e1");
}

TYPED_TEST(EventStreamTest, DeliversARepeatedIdOfTheHistoryTwice) {
  this->Set(Event("e1"));
  EXPECT_THAT(base::Run(store::LPush(this->backend_.store(), "task:history:t1",
                                     R"({"status": "again", "event_id": "e1"})")),
              IsOk());
  this->Open();
  EXPECT_EQ(this->Next(), "e1");
  EXPECT_EQ(this->Next(), "e1");
}

TYPED_TEST(EventStreamTest, ASkippedMessageRestartsTheKeepAliveInterval) {
  this->Open();
  EXPECT_EQ(this->Next(), "waits");
  this->backend_.clock().Advance(absl::Seconds(10));
  this->Publish("{");
  this->backend_.clock().Advance(absl::Seconds(10));
  EXPECT_EQ(this->Resumed(), "waits");
  this->backend_.clock().Advance(absl::Seconds(5));
  EXPECT_EQ(this->Resumed(), "comment");
}

TYPED_TEST(EventStreamTest, LosesNothingIfASuspendedTaskIsDestroyed) {
  this->Open();
  EXPECT_EQ(this->Next(), "waits");
  this->task_.reset();
  this->Set(Event("e1"));
  EXPECT_EQ(this->Next(), "e1");
}

TYPED_TEST(EventStreamTest, EndsIfTheSubscriptionIsRefused) {
  this->Open();
  this->backend_.RefuseChannels();
  EXPECT_EQ(this->Next(), "error");
  EXPECT_EQ(this->Next(), "end");
  this->backend_.AllowChannels();
}

TEST(StreamFrame, IsWrittenAsAServerSentEvent) {
  StreamFrame frame;
  EXPECT_EQ(frame.Text(), "event: ready\ndata: {}\n\n");
  frame.kind = Kind::kKeepAlive;
  EXPECT_EQ(frame.Text(), ": keepalive\n\n");
  frame.kind = Kind::kStatus;
  frame.event = Object({{"a", 1}});
  EXPECT_EQ(frame.Text(), "event: status\ndata: {\"a\": 1}\n\n");
  frame.id = "e1";
  EXPECT_EQ(frame.Text(), "id: e1\nevent: status\ndata: {\"a\": 1}\n\n");
}

TYPED_TEST(EventStreamTest, EndsAtTheGivenStatuses) {
  StreamOptions options;
  options.terminal_statuses = {"CanCelled"};
  this->Set(Event("e1", "completed"));
  this->Open(options);
  EXPECT_EQ(this->Next(), "e1");
  EXPECT_EQ(this->Next(), "waits") << "completed does not end this stream";
  this->Set(Event("e2", "Cancelled"));
  EXPECT_EQ(this->Resumed(), "e2");
  EXPECT_EQ(this->Next(), "end");
}

TYPED_TEST(EventStreamTest, SendsAdaptedEvents) {
  StreamOptions options;
  options.last_event_id = "e1";
  options.adapter = [](Value event) {
    const std::string id = *event.Find("event_id")->text();
    return Object({{"event_id", "doc-" + id}, {"status", id == "e3" ? "failed" : "running"}});
  };
  this->Set(Event("e1"));
  this->Set(Event("e2", "completed"));
  this->Open(options);
  EXPECT_EQ(this->Next(), "doc-e2") << "after the stored id of the client";
  EXPECT_EQ(this->Next(), "waits") << "the status of the adapted event does not end the stream";
  this->Publish(R"({"event_id": "e2", "status": "completed"})");
  EXPECT_EQ(this->Resumed(), "waits") << "a copy, by its adapted id";
  this->Set(Event("e3"));
  EXPECT_EQ(this->Resumed(), "doc-e3");
  EXPECT_EQ(this->Next(), "end");
}

TEST(IsTerminal, ReadsATextOnly) {
  EXPECT_TRUE(IsTerminal(Event("e", "FAILED")));
  EXPECT_TRUE(IsTerminal(Event("e", "DONE"), {"Done"}));
  EXPECT_FALSE(IsTerminal(Event("e", "complete")));
  EXPECT_FALSE(IsTerminal(Object({{"status", true}})));
  EXPECT_FALSE(IsTerminal(Object()));
}

// Counts the messages of subscriptions to everything that is not sharded.
class Bystander final : public store::PushListener {
 public:
  explicit Bystander(store::MessageSource& source) {
    source.Listen(this);
    const std::string_view patterns[] = {"*"};
    EXPECT_THAT(base::Run(store::PSubscribe(source, patterns)), IsOk());
  }
  void OnPush(const store::Reply& push) override { heard_ += store::ReadMessage(push).has_value(); }
  int heard() const { return heard_; }

 private:
  int heard_ = 0;
};

struct ShardCase {
  store::ChannelKind channels;
  bool atomic;
  int heard;  // By readers of patterns.
};

class EventStreamOnAClusterTest : public ::testing::TestWithParam<ShardCase> {};

// The engine refuses a transaction or a script whose shard channel is in another slot than its
// keys.
TEST_P(EventStreamOnAClusterTest, FollowsTheShardChannelOfTheTask) {
  base::VirtualClock clock(absl::FromUnixSeconds(1'767'268'800));
  memory::EngineOptions engine_options;
  engine_options.cluster = memory::ClusterOptions();
  memory::Engine engine(clock, engine_options);
  const auto publisher = engine.Connect();
  const auto subscription = engine.Connect();
  const auto of_patterns = engine.Connect();
  Bystander bystander(*of_patterns);
  StatusOptions options;
  options.key_layout = store::KeyLayout::kCluster;
  options.channels = GetParam().channels;
  options.hardening.atomic_events = GetParam().atomic;
  StatusStore statuses(*publisher, options);
  EventStream stream(*subscription, statuses, clock, {.task_id = "t1"});
  const auto next_id = [&] { return base::Run(stream.Next()).value().value().id.value_or(""); };
  EXPECT_EQ(next_id(), "");
  ASSERT_THAT(base::Run(statuses.SetHistory("t1", Event("e1"))), IsOk());
  EXPECT_EQ(next_id(), "e1");
  ASSERT_THAT(base::Run(statuses.SetHistory("t2", Event("other"))), IsOk());
  const Value child = Object(
      {{"status", "failed"}, {"event_id", "e2"}, {"meta", Object({{"parent_task_id", "p1"}})}});
  ASSERT_THAT(base::Run(statuses.SetHistory("t1", child)), IsOk());
  EXPECT_EQ(next_id(), "e2");
  EXPECT_FALSE(base::Run(stream.Next()).value().has_value());
  EXPECT_EQ(bystander.heard(), GetParam().heard);
}

INSTANTIATE_TEST_SUITE_P(
    Channels, EventStreamOnAClusterTest,
    ::testing::Values(ShardCase{store::ChannelKind::kDocumented, false, 3},
                      ShardCase{store::ChannelKind::kSharded, false, 0},
                      ShardCase{store::ChannelKind::kSharded, true, 0},
                      ShardCase{store::ChannelKind::kBoth, false, 3},
                      ShardCase{store::ChannelKind::kBoth, true, 3}),
    [](const auto& info) {
      return std::string(store::kChannelKindNames[static_cast<size_t>(info.param.channels)]) +
             (info.param.atomic ? "_atomic" : "");
    });

}  // namespace
}  // namespace redouble::inline v0_1::relayna
