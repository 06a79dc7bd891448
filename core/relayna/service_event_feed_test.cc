#include "redouble/core/relayna/service_event_feed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "redouble/core/base/status/status_matchers.h"
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
using python::Value;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using tests::InterceptedStore;

constexpr std::string_view kFeed = "relayna-service-events:feed";

Value Event(std::string_view text) { return python::ParseJson(text).value(); }

Value Numbered(int number) {
  return Object({{"task_id", "t1"}, {"status", "S"}, {"event_id", "e" + std::to_string(number)}});
}

template <typename Backend>
class ServiceEventFeedTest : public RelaynaTest<Backend> {
 protected:
  absl::StatusOr<bool> Add(const Value& event, FeedOptions options = {}) {
    ServiceEventFeed feed(this->store(), this->Options(std::move(options)));
    return this->Run(feed.AddStatusEvent(event));
  }
  std::string Head() { return this->Ask({"LINDEX", kFeed, "0"}).text(); }
  // The cursors of a page, then its next cursor.
  std::vector<std::string> Page(FeedQuery query, FeedOptions options = {}) {
    ServiceEventFeed feed(this->store(), this->Options(std::move(options)));
    const absl::StatusOr<FeedPage> page = this->Run(feed.GetFeed(std::move(query)));
    EXPECT_THAT(page, IsOk());
    std::vector<std::string> cursors;
    if (!page.ok()) return cursors;
    for (const Value& item : page->items) cursors.push_back(*item.Find("cursor")->text());
    cursors.push_back("next " + page->next_cursor.value_or("none"));
    return cursors;
  }
  absl::Status ReadFailure() {
    ServiceEventFeed feed(this->store(), this->Options(FeedOptions()));
    return this->Run(feed.GetFeed()).status();
  }
};
TYPED_TEST_SUITE(ServiceEventFeedTest, tests::LayoutBackends, tests::BackendNames);

TYPED_TEST(ServiceEventFeedTest, WritesAnItemOnce) {
  InterceptedStore watched(this->store());
  ServiceEventFeed feed(watched, this->Options(FeedOptions()));
  const Value event = Event(
      R"({"task_id": " t1 ", "status": " RUNNING ", "event_id": "e1", "correlation_id": 7,
          "timestamp": "now", "meta": {"parent_task_id": " t1 "}, "x": 1e16})");
  EXPECT_THAT(this->Run(feed.AddStatusEvent(event)), IsOkAndHolds(true));
  EXPECT_EQ(watched.requests(), 2u);
  EXPECT_THAT(this->Run(feed.AddStatusEvent(event)), IsOkAndHolds(false));
  EXPECT_EQ(watched.requests(), 3u);
  EXPECT_EQ(this->Head(),
            R"({"cursor":"e1","task_id":"t1","event_type":"status.running","source_kind":"status",)"
            R"("component":"status","timestamp":"now","event_id":"e1","correlation_id":"7",)"
            R"("parent_task_id":"t1","payload":{"task_id":" t1 ","status":" RUNNING ",)"
            R"("event_id":"e1","correlation_id":7,"timestamp":"now",)"
            R"("meta":{"parent_task_id":" t1 "},"x":1e16}})");
  EXPECT_EQ(this->Ttl(kFeed), 86400);
  EXPECT_EQ(this->Ttl("relayna-service-events:event:e1"), 86400);
}

TYPED_TEST(ServiceEventFeedTest, HashesAnEventWithoutId) {
  // docs/systems/relayna.md 2.8.
  EXPECT_THAT(this->Add(Event(R"({"task_id":" t1 ","status":null,"event_id":null})")),
              IsOkAndHolds(true));
  EXPECT_EQ(this->Value("relayna-service-events:event:"
                        "71a7a3ebae8df9f3a504708fa8b324f198d407502588f163a99f440948d12241"),
            "1");
  EXPECT_NE(this->Head().find(R"("event_type":"status.unknown")"), std::string::npos);
}

TYPED_TEST(ServiceEventFeedTest, HashesAnObservationWithoutId) {
  // From tests/data/golden/relayna/observation_with_feed.json.
  const Observation observation = {
      "TaskMessageReceived",
      Object({{"consumer_name", "c1"},
              {"queue_name", "q1"},
              {"task_id", "t1"},
              {"delivery_tag", 0},
              {"redelivered", false},
              {"correlation_id", nullptr},
              {"retry_attempt", 0},
              {"task_type", nullptr},
              {"timestamp", python::DateTime{base::ParseRfc3339("2026-01-01T11:00:00Z").value()}},
              {"component", "consumer"}})};
  ServiceEventFeed feed(this->store(), this->Options(FeedOptions()));
  EXPECT_THAT(this->Run(feed.AddObservation(observation)), IsOkAndHolds(true));
  EXPECT_THAT(this->Run(feed.AddObservation(observation)), IsOkAndHolds(false));
  EXPECT_EQ(this->Value("relayna-service-events:event:"
                        "cf6f7c49e6529d7f3ffc1fca5b5dd42b09f1be3b98957048f0c91b0390673f30"),
            "1");
}

// R6: the second event with an id is rejected.
TYPED_TEST(ServiceEventFeedTest, AcceptsAnIdOnceForAllTasksAndSources) {
  EXPECT_THAT(this->Add(Event(R"({"task_id": "t1", "event_id": "e1"})")), IsOkAndHolds(true));
  EXPECT_THAT(this->Add(Event(R"({"task_id": "t2", "event_id": "e1"})")), IsOkAndHolds(false));
  ServiceEventFeed feed(this->store(), this->Options(FeedOptions()));
  const Observation observation = {"C", Object({{"task_id", "t3"}, {"event_id", "e1"}})};
  EXPECT_THAT(this->Run(feed.AddObservation(observation)), IsOkAndHolds(false));
}

// Unlike the observation store, the feed accepts a falsy id: it goes by its text.
TYPED_TEST(ServiceEventFeedTest, AcceptsATaskIdThatIsZero) {
  EXPECT_THAT(this->Add(Event(R"({"task_id": 0, "event_id": "e"})")), IsOkAndHolds(true));
  EXPECT_NE(this->Head().find(R"("task_id":"0")"), std::string::npos) << this->Head();
}

TYPED_TEST(ServiceEventFeedTest, SendsNothingWithoutATaskId) {
  InterceptedStore watched(this->store());
  ServiceEventFeed feed(watched, this->Options(FeedOptions()));
  EXPECT_THAT(this->Run(feed.AddStatusEvent(Event(R"({"event_id": "e"})"))), IsOkAndHolds(false));
  EXPECT_THAT(this->Run(feed.AddStatusEvent(Event(R"({"task_id": " "})"))), IsOkAndHolds(false));
  const Observation no_task = {"C", Object()};
  const Observation no_fields = {"dict", std::nullopt};
  EXPECT_THAT(this->Run(feed.AddObservation(no_task)), IsOkAndHolds(false));
  EXPECT_THAT(this->Run(feed.AddObservation(no_fields)), IsOkAndHolds(false));
  EXPECT_EQ(watched.requests(), 0u);
}

TYPED_TEST(ServiceEventFeedTest, RejectsAValueWithoutAJsonFormBeforeSending) {
  InterceptedStore watched(this->store());
  ServiceEventFeed feed(watched, this->Options(FeedOptions()));
  const Value opaque = python::Opaque{"set", ""};
  const auto failure = [&](const Value& event) {
    return this->Run(feed.AddStatusEvent(event)).status();
  };
  EXPECT_EQ(python::ErrorType(failure("text")), "TypeError");
  EXPECT_EQ(python::ErrorType(failure(Object({{"task_id", "t"}, {"x", opaque}}))), "TypeError");
  EXPECT_EQ(
      python::ErrorType(failure(Object({{"task_id", "t"}, {"event_id", "e"}, {"x", opaque}}))),
      "PydanticSerializationError");
  EXPECT_THAT(failure(Event(R"({"task_id": "t", "status": {}})")),
              StatusIs(absl::StatusCode::kInvalidArgument));
  const Observation hashed = {"C", Object({{"task_id", "t"}, {"x", opaque}})};
  EXPECT_EQ(python::ErrorType(this->Run(feed.AddObservation(hashed)).status()), "TypeError");
  const Observation named = {"C", Object({{"task_id", "t"}, {"event_id", "e"}, {"x", opaque}})};
  EXPECT_EQ(python::ErrorType(this->Run(feed.AddObservation(named)).status()),
            "PydanticSerializationError");
  EXPECT_EQ(watched.requests(), 0u);
}

TYPED_TEST(ServiceEventFeedTest, PagesFromNewToOld) {
  for (int i = 0; i < 5; ++i) ASSERT_THAT(this->Add(Numbered(i)), IsOkAndHolds(true));
  EXPECT_THAT(this->Page({.limit = 2}), ElementsAre("e4", "e3", "next e3"));
  EXPECT_THAT(this->Page({.after = "e3", .limit = 2}), ElementsAre("e2", "e1", "next e1"));
  EXPECT_THAT(this->Page({.after = "e1", .limit = 2}), ElementsAre("e0", "next none"));
  EXPECT_THAT(this->Page({.after = "e0", .limit = 2}), ElementsAre("next none"));
  EXPECT_THAT(this->Page({.limit = 5}), ElementsAre("e4", "e3", "e2", "e1", "e0", "next none"));
}

TYPED_TEST(ServiceEventFeedTest, AnUnknownCursorStartsAtTheHeadAndALimitIsAtLeastOne) {
  EXPECT_THAT(this->Page({}), ElementsAre("next none"));
  for (int i = 0; i < 3; ++i) ASSERT_THAT(this->Add(Numbered(i)), IsOkAndHolds(true));
  EXPECT_THAT(this->Page({.after = "gone", .limit = 1}), ElementsAre("e2", "next e2"));
  EXPECT_THAT(this->Page({.after = "", .limit = 1}), ElementsAre("e2", "next e2"));
  EXPECT_THAT(this->Page({.limit = 0}), ElementsAre("e2", "next e2"));
  EXPECT_THAT(this->Page({.limit = -3}), ElementsAre("e2", "next e2"));
}

// R11: a cursor names an item, so items that are added at the head do not move the page. A reader
// that saved the first cursor of this pass gets them in the next pass.
TYPED_TEST(ServiceEventFeedTest, LosesNothingThatIsAddedBetweenTwoPages) {
  for (int number = 1; number <= 4; ++number)
    EXPECT_THAT(this->Add(Numbered(number)), IsOkAndHolds(true));
  EXPECT_THAT(this->Page({.limit = 2}), ElementsAre("e4", "e3", "next e3"));
  EXPECT_THAT(this->Add(Numbered(5)), IsOkAndHolds(true));
  EXPECT_THAT(this->Page({.after = "e3", .limit = 2}), ElementsAre("e2", "e1", "next none"));
  EXPECT_THAT(this->Page({.limit = 2}), ElementsAre("e5", "e4", "next e4"));
}

TYPED_TEST(ServiceEventFeedTest, AnEvictedItemCannotBeAddedAgain) {
  for (int i = 0; i < 3; ++i)
    ASSERT_THAT(this->Add(Numbered(i), {.feed_maxlen = 2}), IsOkAndHolds(true));
  EXPECT_THAT(this->Add(Numbered(0), {.feed_maxlen = 2}), IsOkAndHolds(false));
  EXPECT_THAT(this->Page({}, {.feed_maxlen = 2}), ElementsAre("e2", "e1", "next none"));
}

TYPED_TEST(ServiceEventFeedTest, ReadsOneItemWithAMaximumOfZero) {
  for (int i = 0; i < 3; ++i)
    ASSERT_THAT(this->Add(Numbered(i), {.feed_maxlen = 0}), IsOkAndHolds(true));
  EXPECT_EQ(this->Ask({"LLEN", kFeed}).integer(), 3);
  EXPECT_THAT(this->Page({}, {.feed_maxlen = 0}), ElementsAre("e2", "next none"));
}

TYPED_TEST(ServiceEventFeedTest, OneCorruptItemFailsEveryPage) {
  const std::string_view rows[] = {
      "{not json",
      "[]",
      R"({"task_id":"t","event_type":"x","source_kind":"status","payload":{}})",
      R"({"cursor":7,"task_id":"t","event_type":"x","source_kind":"status","payload":{}})",
      R"({"cursor":"c","task_id":"t","event_type":"x","source_kind":"s","timestamp":1})",
      R"({"cursor":"c","task_id":"t","event_type":"x","source_kind":"s","payload":[]})",
  };
  for (const std::string_view row : rows) {
    this->Ask({"FLUSHALL"});
    ASSERT_THAT(this->Add(Numbered(1)), IsOkAndHolds(true));
    this->Ask({"RPUSH", kFeed, row});
    EXPECT_EQ(python::ErrorType(this->ReadFailure()), "ValidationError") << row;
  }
}

TYPED_TEST(ServiceEventFeedTest, AKeyOfTheWrongTypeFailsAndLeavesAMarker) {
  this->Ask({"SET", kFeed, "x"});
  EXPECT_EQ(store::ServerErrorCode(this->ReadFailure()), "WRONGTYPE");
  EXPECT_EQ(store::ServerErrorCode(this->Add(Numbered(1)).status()), "WRONGTYPE");
  this->Ask({"DEL", kFeed});
  EXPECT_THAT(this->Add(Numbered(1)), IsOkAndHolds(false));
}

TYPED_TEST(ServiceEventFeedTest, AtomicEventsWriteNothingOnAFailure) {
  this->Ask({"SET", kFeed, "x"});
  EXPECT_THAT(this->Add(Numbered(1), {.hardening = {.atomic_events = true}}), Not(IsOk()));
  this->Ask({"DEL", kFeed});
  EXPECT_THAT(this->Add(Numbered(1), {.hardening = {.atomic_events = true}}), IsOkAndHolds(true));
  EXPECT_THAT(this->Add(Numbered(1), {.hardening = {.atomic_events = true}}), IsOkAndHolds(false));
  EXPECT_THAT(this->Page({}), ElementsAre("e1", "next none"));
  EXPECT_EQ(this->Ttl(kFeed), 86400);
}

}  // namespace
}  // namespace redouble::inline v0_1::relayna
