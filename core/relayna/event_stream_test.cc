#include "core/relayna/event_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backends/memory/engine.h"
#include "backends/memory/session.h"
#include "core/base/run.h"
#include "core/base/virtual_clock.h"
#include "core/python/error.h"
#include "core/python/json.h"
#include "core/store/lists.h"
#include "core/store/pubsub.h"

namespace redouble::relayna {
namespace {

using python::Object;
using python::Value;
using ::testing::ElementsAre;
using Kind = StreamFrame::Kind;

Value Event(std::string_view id, std::string_view status = "running") {
  return Object({{"status", status}, {"event_id", id}});
}

Value Nameless(std::string_view status) { return Object({{"status", status}}); }

class EventStreamTest : public ::testing::Test {
 protected:
  void Set(const Value& event) { EXPECT_TRUE(base::Run(statuses_.SetHistory("t1", event)).ok()); }
  void Publish(std::string_view payload) {
    EXPECT_TRUE(base::Run(store::Publish(*session_, "task:channel:t1", payload)).ok());
  }
  void Open(StreamOptions options = {}) {
    options.task_id = "t1";
    stream_.emplace(*subscription_, statuses_, clock_, std::move(options));
    EXPECT_EQ(Next(), "ready");
  }
  // The next frame: an event's id, or its status in brackets; "comment", "end", an error's class;
  // "waits" when nothing comes now.
  std::string Next() {
    if (!task_) task_.emplace(stream_->Next());
    task_->Start();
    if (!task_->done()) return "waits";
    const absl::StatusOr<std::optional<StreamFrame>> frame = task_->TakeResult();
    task_.reset();
    if (!frame.ok()) return python::ErrorType(frame.status()).value_or("error");
    if (!frame->has_value()) return "end";
    switch ((*frame)->kind) {
      case Kind::kReady:
        return "ready";
      case Kind::kKeepAlive:
        return "comment";
      case Kind::kStatus:
        return (*frame)->id.value_or("[" + *(*frame)->event.Find("status")->text() + "]");
    }
    return "?";
  }
  // Goes on with a task that waited.
  std::string Resumed() {
    if (!task_->done()) return "waits";
    const absl::StatusOr<std::optional<StreamFrame>> frame = task_->TakeResult();
    task_.reset();
    if (!frame->has_value()) return "end";
    if ((*frame)->kind == Kind::kKeepAlive) return "comment";
    return (*frame)->id.value_or("[" + *(*frame)->event.Find("status")->text() + "]");
  }

  base::VirtualClock clock_{absl::FromUnixSeconds(1767268800)};
  memory::Engine engine_{clock_};
  std::unique_ptr<memory::Session> session_ = engine_.Connect();
  std::unique_ptr<memory::Session> subscription_ = engine_.Connect();
  StatusStore statuses_{*session_};
  std::optional<EventStream> stream_;
  std::optional<base::Task<absl::StatusOr<std::optional<StreamFrame>>>> task_;
};

TEST_F(EventStreamTest, ReplaysTheHistoryOldestFirstThenFollows) {
  Set(Event("e1"));
  Set(Event("e2"));
  Open();
  EXPECT_EQ(Next(), "e1");
  EXPECT_EQ(Next(), "e2");
  EXPECT_EQ(Next(), "waits");
  Set(Event("e3"));
  EXPECT_EQ(Resumed(), "e3");
  Set(Event("e4"));
  Set(Event("e5", "COMPLETED"));
  EXPECT_EQ(Next(), "e4");
  EXPECT_EQ(Next(), "e5");
  EXPECT_EQ(Next(), "end");
  EXPECT_EQ(Next(), "end");
}

TEST_F(EventStreamTest, GoesOnBehindTheLastEventThatTheClientHasSeen) {
  for (const std::string_view id : {"e1", "e2", "e3"}) Set(Event(id));
  Open({.last_event_id = "e2"});
  EXPECT_EQ(Next(), "e3");
  EXPECT_EQ(Next(), "waits");
}

TEST_F(EventStreamTest, ReplaysEverythingForALastEventThatIsNotThere) {
  Set(Event("e1"));
  Open({.last_event_id = "gone"});
  EXPECT_EQ(Next(), "e1");
}

TEST_F(EventStreamTest, EndsBehindTheFirstTerminalStatusThoughTheHistoryGoesOn) {
  Set(Event("e1"));
  Set(Event("e2", "failed"));
  Set(Event("straggler"));
  Open();
  EXPECT_EQ(Next(), "e1");
  EXPECT_EQ(Next(), "e2");
  EXPECT_EQ(Next(), "end");
}

// R8: an id tells a duplicate, nothing else does.
TEST_F(EventStreamTest, DeliversWhatHasNoIdTwiceWhenItComesBothWays) {
  Open();
  const std::string_view channels[] = {"task:channel:t1"};
  EXPECT_TRUE(base::Run(store::Subscribe(*subscription_, channels)).ok());
  Set(Event("e1"));
  Set(Nameless("running"));
  // Both are in the history by now, and have been published to the subscription.
  EXPECT_EQ(Next(), "e1");
  EXPECT_EQ(Next(), "[running]");
  EXPECT_EQ(Next(), "[running]");
  EXPECT_EQ(Next(), "waits");
}

TEST_F(EventStreamTest, DropsALiveDuplicateByItsStrippedId) {
  Set(Event("e1"));
  Open();
  EXPECT_EQ(Next(), "e1");
  EXPECT_EQ(Next(), "waits");
  Publish(R"({"status": "running", "event_id": " e1 "})");
  EXPECT_EQ(Resumed(), "waits");
  Publish(R"({"status": "running", "event_id": "e2"})");
  EXPECT_EQ(Resumed(), "e2");
}

TEST_F(EventStreamTest, PassesOverWhatIsNoEvent) {
  Open();
  EXPECT_EQ(Next(), "waits");
  Publish("{");
  Publish("[1]");
  EXPECT_TRUE(base::Run(store::Publish(*session_, "other", "{}")).ok());
  EXPECT_EQ(Resumed(), "waits");
  Publish(R"({"status": "x"})");
  EXPECT_EQ(Resumed(), "[x]");
}

TEST_F(EventStreamTest, SendsACommentWheneverNothingComesForLong) {
  Open();
  EXPECT_EQ(Next(), "waits");
  clock_.Advance(absl::Seconds(15) - absl::Microseconds(1));
  EXPECT_EQ(Resumed(), "waits");
  clock_.Advance(absl::Microseconds(1));
  EXPECT_EQ(Resumed(), "comment");
  EXPECT_EQ(Next(), "waits");
  Set(Event("e1"));
  EXPECT_EQ(Resumed(), "e1");
}

TEST_F(EventStreamTest, SendsNoCommentWhenNoneIsAskedFor) {
  Open({.keep_alive = std::nullopt});
  EXPECT_EQ(Next(), "waits");
  clock_.Advance(absl::Hours(1));
  EXPECT_EQ(Resumed(), "waits");
}

TEST_F(EventStreamTest, EndsWithACorruptHistory) {
  EXPECT_TRUE(base::Run(store::LPush(*session_, "task:history:t1", "{")).ok());
  Open();
  EXPECT_EQ(Next(), "JSONDecodeError");
  EXPECT_EQ(Next(), "end");
}

TEST(StreamFrame, IsWrittenAsAServerSentEvent) {
  StreamFrame frame;
  EXPECT_EQ(frame.Text(), "event: ready\ndata: {}\n\n");
  frame.kind = Kind::kKeepAlive;
  EXPECT_EQ(frame.Text(), ": keep-alive\n\n");
  frame.kind = Kind::kStatus;
  frame.event = Object({{"a", 1}});
  EXPECT_EQ(frame.Text(), "event: status\ndata: {\"a\": 1}\n\n");
  frame.id = "e1";
  EXPECT_EQ(frame.Text(), "id: e1\nevent: status\ndata: {\"a\": 1}\n\n");
}

TEST(IsTerminal, LooksAtATextOnly) {
  EXPECT_TRUE(IsTerminal(Event("e", "FAILED")));
  EXPECT_FALSE(IsTerminal(Event("e", "complete")));
  EXPECT_FALSE(IsTerminal(Object({{"status", true}})));
  EXPECT_FALSE(IsTerminal(Object()));
}

}  // namespace
}  // namespace redouble::relayna
