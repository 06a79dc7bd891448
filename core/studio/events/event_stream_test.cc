#include "redouble/core/studio/events/event_stream.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "redouble/backends/memory/engine/engine.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/base/time/virtual_clock.h"
#include "redouble/core/python/json.h"
#include "redouble/core/store/pubsub/pubsub.h"
#include "redouble/core/studio/events/event_store.h"
#include "redouble/tests/support/breakable_source.h"
#include "redouble/tests/support/message_backends.h"

namespace redouble::inline v0_1::studio {
namespace {

using base::IsOk;

EventEnvelope Event(const std::string& id, const std::string& task_id = "t1") {
  EventEnvelope envelope;
  envelope.service_id = "svc-a";
  envelope.event.cursor = id;
  envelope.event.task_id = task_id;
  envelope.event.event_type = "status.running";
  envelope.event.event_id = id;
  envelope.event.timestamp = "2026-01-01T10:00:00Z";
  envelope.event.payload = python::Object({{"n", 1e16}});
  return envelope;
}

template <typename Backend>
class StudioEventStreamTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const absl::Status started = backend_.Start();
    if (!started.ok()) GTEST_SKIP() << Backend::kName << " is not available here: " << started;
    events_.emplace(backend_.store());
  }
  void Insert(const EventEnvelope& envelope) {
    EXPECT_THAT(base::Run(events_->InsertEvent(envelope, backend_.clock().Now())), IsOk());
    backend_.Deliver();
  }
  void Publish(std::string_view payload) {
    const std::string channel = events_->keys().ServiceChannel("svc-a");
    EXPECT_THAT(base::Run(store::Publish(backend_.store(), channel, payload)), IsOk());
    backend_.Deliver();
  }
  void Open(store::Channel channel) {
    source_.emplace(backend_.subscription());
    stream_.emplace(*source_, backend_.clock(), std::move(channel));
    EXPECT_EQ(Next(), "ready");
  }
  // The next frame as text: the event's dedupe key, "ready", "comment" or "error"; "waits" if the
  // task is suspended.
  std::string Next() {
    if (!task_) task_.emplace(stream_->Next());
    task_->Start();
    return Resumed();
  }
  // The same for the task that is suspended.
  std::string Resumed() {
    if (!task_->done()) return "waits";
    const absl::StatusOr<StreamFrame> frame = task_->TakeResult();
    task_.reset();
    if (!frame.ok()) return "error";
    if (frame->kind == StreamFrame::Kind::kReady) return "ready";
    if (frame->kind == StreamFrame::Kind::kKeepAlive) return "comment";
    return frame->event.dedupe_key;
  }

  Backend backend_;
  std::optional<EventStore> events_;
  std::optional<tests::BreakableSource> source_;
  std::optional<EventStream> stream_;
  std::optional<base::Task<absl::StatusOr<StreamFrame>>> task_;
};
TYPED_TEST_SUITE(StudioEventStreamTest, tests::MessageBackends, tests::MessageBackendNames);

TYPED_TEST(StudioEventStreamTest, FollowsTheEventsOfAServiceFromItsSubscriptionOn) {
  this->Insert(Event("before"));
  this->Open(this->events_->ServiceChannelToFollow("svc-a"));
  EXPECT_EQ(this->Next(), "waits") << "nothing is replayed";
  this->Insert(Event("e1"));
  EXPECT_EQ(this->Resumed(), "svc-a:status:e1");
  this->Insert(Event("e2", "t2"));
  this->Insert(Event("e2", "t2"));
  EXPECT_EQ(this->Next(), "svc-a:status:e2");
  EXPECT_EQ(this->Next(), "waits") << "a duplicate is not published";
}

TYPED_TEST(StudioEventStreamTest, ReportsThatEventsMayBeMissing) {
  this->Open(this->events_->ServiceChannelToFollow("svc-a"));
  EXPECT_EQ(this->Next(), "waits");
  this->source_->Lose();
  this->Insert(Event("e1"));
  this->source_->ComeBack();
  EXPECT_EQ(this->Resumed(), "error");
  EXPECT_EQ(this->Next(), "waits");
  this->Insert(Event("e2"));
  EXPECT_EQ(this->Resumed(), "svc-a:status:e2");
  // An event that was queued before the gap follows the error.
  this->Insert(Event("e3"));
  this->source_->ComeBack();
  EXPECT_EQ(this->Next(), "error");
  EXPECT_EQ(this->Next(), "svc-a:status:e3");
}

TYPED_TEST(StudioEventStreamTest, FollowsTheEventsOfOneTask) {
  this->Open(this->events_->TaskChannelToFollow({"svc-a", "t1"}));
  EXPECT_EQ(this->Next(), "waits");
  this->Insert(Event("e1", "t2"));
  EXPECT_EQ(this->Resumed(), "waits");
  this->Insert(Event("e2", "t1"));
  EXPECT_EQ(this->Resumed(), "svc-a:status:e2");
}

TYPED_TEST(StudioEventStreamTest, PassesOverWhatIsNoDocument) {
  this->Open(this->events_->ServiceChannelToFollow("svc-a"));
  EXPECT_EQ(this->Next(), "waits");
  for (const std::string_view payload : {"", "{", "[]", "{}", R"({"service_id": "svc-a"})"}) {
    this->Publish(payload);
    EXPECT_EQ(this->Resumed(), "waits") << payload;
  }
  this->Insert(Event("e1"));
  EXPECT_EQ(this->Resumed(), "svc-a:status:e1");
}

TYPED_TEST(StudioEventStreamTest, SendsACommentWheneverNothingComesForFifteenSeconds) {
  this->Open(this->events_->ServiceChannelToFollow("svc-a"));
  EXPECT_EQ(this->Next(), "waits");
  this->backend_.clock().Advance(absl::Seconds(15) - absl::Microseconds(1));
  EXPECT_EQ(this->Resumed(), "waits");
  this->backend_.clock().Advance(absl::Microseconds(1));
  EXPECT_EQ(this->Resumed(), "comment");
}

TYPED_TEST(StudioEventStreamTest, SubscribesAgainAfterARefusal) {
  this->Open(this->events_->ServiceChannelToFollow("svc-a"));
  this->backend_.RefuseChannels();
  EXPECT_EQ(this->Next(), "error");
  this->backend_.AllowChannels();
  EXPECT_EQ(this->Next(), "waits");
  this->Insert(Event("e1"));
  EXPECT_EQ(this->Resumed(), "svc-a:status:e1");
}

TEST(StudioStreamFrame, IsWrittenAsAServerSentEvent) {
  StreamFrame frame;
  EXPECT_EQ(frame.Text(), "event: ready\ndata: {}\n\n");
  frame.kind = StreamFrame::Kind::kKeepAlive;
  EXPECT_EQ(frame.Text(), ": keepalive\n\n");
  frame.kind = StreamFrame::Kind::kEvent;
  frame.event.service_id = "svc-a";
  frame.event.dedupe_key = "svc-a:status:e1";
  frame.event.ingested_at = "2026-01-01T12:00:00+00:00";
  frame.event.event = Event("e1").event;
  EXPECT_EQ(frame.Text(), "id: svc-a:status:e1\nevent: event\ndata: " +
                              python::PydanticJson(ToValue(frame.event)).value() + "\n\n");
  EXPECT_NE(frame.Text().find(R"("payload":{"n":1e16}})"), std::string::npos);
}

// The engine refuses a transaction or a script whose shard channels are in another slot than its
// keys.
TEST(StudioEventStreamOnACluster, FollowsTheShardChannelsOfAServiceAndOfATask) {
  base::VirtualClock clock(absl::FromUnixSeconds(1'767'268'800));
  memory::EngineOptions engine_options;
  engine_options.cluster = memory::ClusterOptions();
  memory::Engine engine(clock, engine_options);
  const auto publisher = engine.Connect();
  for (const bool atomic : {false, true}) {
    for (const store::ChannelKind kind :
         {store::ChannelKind::kSharded, store::ChannelKind::kBoth}) {
      EventStoreOptions options;
      options.prefix = std::string("p") + (atomic ? "a" : "s") + std::to_string(int(kind));
      options.key_layout = store::KeyLayout::kCluster;
      options.channels = kind;
      options.hardening.atomic_event_insert = atomic;
      EventStore events(*publisher, options);
      const auto of_service = engine.Connect();
      const auto of_task = engine.Connect();
      const auto documented = engine.Connect();
      EventStream service(*of_service, clock, events.ServiceChannelToFollow("svc-a"));
      EventStream task(*of_task, clock, events.TaskChannelToFollow({"svc-a", "t1"}));
      EventStream old(*documented, clock, {events.keys().ServiceChannel("svc-a")});
      for (EventStream* stream : {&service, &task, &old}) {
        EXPECT_EQ(base::Run(stream->Next()).value().kind, StreamFrame::Kind::kReady);
      }
      auto from_service = service.Next();
      auto from_task = task.Next();
      auto from_old = old.Next();
      for (auto* next : {&from_service, &from_task, &from_old}) next->Start();
      EXPECT_THAT(base::Run(events.InsertEvent(Event("e1"), clock.Now())), IsOk());
      ASSERT_TRUE(from_service.done() && from_task.done());
      EXPECT_EQ(from_service.TakeResult().value().event.dedupe_key, "svc-a:status:e1");
      EXPECT_EQ(from_task.TakeResult().value().event.dedupe_key, "svc-a:status:e1");
      EXPECT_EQ(from_old.done(), kind == store::ChannelKind::kBoth);
    }
  }
}

}  // namespace
}  // namespace redouble::inline v0_1::studio
