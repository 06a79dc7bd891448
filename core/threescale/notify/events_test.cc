#include "redouble/core/threescale/notify/events.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/threescale/errors.h"
#include "redouble/core/threescale/testing/process_for_test.h"
#include "redouble/tests/support/intercepted_store.h"

namespace redouble::inline v0_1::threescale {
namespace {

using base::IsOk;
using base::IsOkAndHolds;
using store::Reply;
using ::testing::ElementsAre;
using ::testing::Not;

template <typename Backend>
class EventQueueTest : public ProcessTest<Backend> {
 protected:
  int64_t Publish(std::string_view service_id, Hardening hardening = Hardening()) {
    const auto id = this->Run(
        EventQueue(this->process(), hardening)
            .Publish(EventType::kFirstTraffic, JsonObject().Add("service_id", service_id)));
    EXPECT_THAT(id, IsOk());
    return id.value_or(0);
  }
  EventQueue events() { return EventQueue(this->process()); }
};
TYPED_TEST_SUITE(EventQueueTest, tests::LayoutBackends, tests::BackendNames);

constexpr const char* kFirst =
    R"({"id":1,"type":"first_traffic","timestamp":"2026-05-09 14:03:02 UTC",)"
    R"("object":{"service_id":"2"}})";
constexpr const char* kSecond =
    R"({"id":2,"type":"first_traffic","timestamp":"2026-05-09 14:03:02 UTC",)"
    R"("object":{"service_id":"3"}})";

TYPED_TEST(EventQueueTest, ListsWhatWasPublishedByAscendingId) {
  EXPECT_EQ(this->Publish("2"), 1);
  EXPECT_EQ(this->Publish("3"), 2);
  EXPECT_THAT(this->Run(this->events().List()), IsOkAndHolds(ElementsAre(kFirst, kSecond)));
  EXPECT_THAT(this->Run(this->events().Size()), IsOkAndHolds(2));
  EXPECT_EQ(this->Ask({"ZSCORE", "events/queue", kSecond}), Reply::Bulk("2"));
}

TYPED_TEST(EventQueueTest, PublishesInTwoRoundTrips) {
  tests::InterceptedStore store(this->store());
  ASSERT_THAT(
      this->Run(EventQueue(this->process_on(store))
                    .Publish(EventType::kFirstTraffic, JsonObject().Add("service_id", "2"))),
      IsOk());
  EXPECT_THAT(this->Documented(store.log()),
              ElementsAre("INCRBY events/id 1", std::string("ZADD events/queue 1 ") + kFirst));
}

TYPED_TEST(EventQueueTest, PublishesTheSameInOneScriptWhenHardened) {
  const Hardening hardening{.publish_events_atomically = true};
  EXPECT_EQ(this->Publish("2", hardening), 1);
  tests::InterceptedStore store(this->store());
  ASSERT_THAT(
      this->Run(EventQueue(this->process_on(store), hardening)
                    .Publish(EventType::kFirstTraffic, JsonObject().Add("service_id", "3"))),
      IsOk());
  EXPECT_EQ(store.requests(), 1u);
  EXPECT_THAT(this->Run(this->events().List()), IsOkAndHolds(ElementsAre(kFirst, kSecond)));
}

TYPED_TEST(EventQueueTest, DeletesARangeOrOne) {
  for (int i = 0; i < 4; ++i) this->Publish("2");
  EXPECT_THAT(this->Run(this->events().Delete("3")), IsOkAndHolds(1));
  EXPECT_THAT(this->Run(this->events().Delete("3")), IsOkAndHolds(0));
  EXPECT_THAT(this->Run(this->events().DeleteRange("2")), IsOkAndHolds(2));
  EXPECT_THAT(this->Run(this->events().Size()), IsOkAndHolds(1));
  EXPECT_THAT(this->Run(this->events().DeleteRange("9 and more")), IsOkAndHolds(1));
  EXPECT_EQ(this->Ask({"EXISTS", "events/queue"}), Reply::Integer(0));
}

TYPED_TEST(EventQueueTest, SendsNothingForAnIdThatIsNotPositive) {
  tests::InterceptedStore store(this->store());
  EventQueue events(this->process_on(store));
  for (const std::string_view id : {"0", "-1", "junk", ""}) {
    EXPECT_THAT(this->Run(events.DeleteRange(id)), IsOkAndHolds(0)) << id;
    EXPECT_THAT(this->Run(events.Delete(id)), IsOkAndHolds(0)) << id;
  }
  EXPECT_EQ(store.requests(), 0u);
}

TYPED_TEST(EventQueueTest, PassesStoreErrorsOn) {
  this->Ask({"SET", "events/queue", "x"});
  EventQueue events(this->process());
  EXPECT_THAT(this->Run(events.Publish(EventType::kAlert, JsonObject())), Not(IsOk()));
  EXPECT_THAT(this->Run(events.List()), Not(IsOk()));
  EXPECT_THAT(this->Run(events.PingIfNotEmpty(nullptr)), Not(IsOk()));
  this->Ask({"SET", "events/id", "x"});
  EXPECT_THAT(this->Run(events.Publish(EventType::kAlert, JsonObject())), Not(IsOk()));
}

template <typename Backend>
class EventPingTest : public EventQueueTest<Backend> {
 protected:
  // Whether the hook was called.
  bool Ping() {
    const auto called = this->Run(this->events().PingIfNotEmpty(hook_));
    EXPECT_EQ(called.status(), answer_);
    return called.value_or(false);
  }

  absl::Status answer_;
  int calls_ = 0;
  const EventQueue::Hook hook_ = [this]() -> base::Task<absl::Status> {
    ++calls_;
    co_return answer_;
  };
};
TYPED_TEST_SUITE(EventPingTest, tests::LayoutBackends, tests::BackendNames);

TYPED_TEST(EventPingTest, CallsAtMostOnceInAMinute) {
  this->Publish("2");
  EXPECT_TRUE(this->Ping());
  EXPECT_EQ(this->Ttl("events/ping"), 60);
  EXPECT_FALSE(this->Ping());
  this->Advance(absl::Seconds(60));
  EXPECT_FALSE(this->Ping());
  this->Advance(absl::Milliseconds(1));
  EXPECT_TRUE(this->Ping());
  EXPECT_EQ(this->calls_, 2);
}

TYPED_TEST(EventPingTest, TakesTheKeyAlsoOfAnEmptyQueue) {
  EXPECT_FALSE(this->Ping());
  this->Publish("2");
  EXPECT_FALSE(this->Ping()) << "the event waits for a minute";
  EXPECT_EQ(this->calls_, 0);
}

TYPED_TEST(EventPingTest, KeepsTheKeyOfAHookThatFails) {
  this->Publish("2");
  this->answer_ = absl::UnavailableError("boom");
  this->Ping();
  EXPECT_EQ(this->calls_, 1);
  this->answer_ = absl::OkStatus();
  EXPECT_FALSE(this->Ping());
}

TYPED_TEST(EventPingTest, AsksInOnePipeline) {
  tests::InterceptedStore store(this->store());
  ASSERT_THAT(this->Run(EventQueue(this->process_on(store)).PingIfNotEmpty(this->hook_)), IsOk());
  EXPECT_EQ(store.requests(), 1u);
  EXPECT_THAT(this->Documented(store.log()),
              ElementsAre("ZCARD events/queue", "SET events/ping 1 EX 60 NX"));
}

TEST(EventType, HasTheNamesThatAreDocumented) {
  for (const EventType type :
       {EventType::kFirstTraffic, EventType::kFirstDailyTraffic, EventType::kAlert}) {
    EXPECT_THAT(FindEventType(EventTypeName(type)), IsOkAndHolds(type));
  }
  EXPECT_EQ(ErrorCodeOf(FindEventType("other").status()), ErrorCode::kInvalidEventType);
}

}  // namespace
}  // namespace redouble::inline v0_1::threescale
