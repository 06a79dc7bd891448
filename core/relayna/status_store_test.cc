#include "redouble/core/relayna/status_store.h"

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
using store::Reply;
using ::testing::ElementsAre;
using ::testing::Eq;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::Optional;
using tests::InterceptedStore;

Value Event(std::string_view text) { return python::ParseJson(text).value(); }

Value Numbered(int number) {
  return Object(
      {{"task_id", "t1"}, {"status", "queued"}, {"event_id", "e" + std::to_string(number)}});
}

template <typename Backend>
class StatusStoreTest : public RelaynaTest<Backend> {
 protected:
  absl::Status Set(const Value& event, StatusOptions options = {}, std::string_view task = "t1") {
    StatusStore statuses(this->store(), this->Options(std::move(options)));
    return this->Run(statuses.SetHistory(task, event));
  }
  std::vector<std::string> List(std::string_view key) {
    std::vector<std::string> elements;
    for (const Reply& reply : this->Ask({"LRANGE", key, "0", "-1"}).elements()) {
      elements.push_back(reply.text());
    }
    return elements;
  }
  int64_t Length(std::string_view key) { return this->Ask({"LLEN", key}).integer(); }
};
TYPED_TEST_SUITE(StatusStoreTest, tests::LayoutBackends, tests::BackendNames);

TYPED_TEST(StatusStoreTest, WritesMarkerAndHistoryWithTtls) {
  ASSERT_THAT(this->Set(Event(R"({"task_id":"t1","status":"queued","event_id":"e1"})")), IsOk());
  EXPECT_EQ(this->Value("task:event:t1:e1"), "1");
  EXPECT_EQ(this->Ttl("task:event:t1:e1"), 86400);
  EXPECT_THAT(this->List("task:history:t1"),
              ElementsAre(R"({"task_id": "t1", "status": "queued", "event_id": "e1"})"));
  EXPECT_EQ(this->Ttl("task:history:t1"), 86400);
  EXPECT_EQ(this->KeyCount(), 2);
}

TYPED_TEST(StatusStoreTest, TakesTwoRoundTripsForAnEventAndOneForADuplicate) {
  if (this->in_cluster_layout()) return;  // The next test has what holds there.
  InterceptedStore watched(this->store());
  StatusStore statuses(watched, this->Options(StatusOptions{.prefix = "relayna"}));
  const Value event = Event(R"({"event_id": "e1", "meta": {"parent_task_id": "p"}})");
  ASSERT_OK_AND_ASSIGN(const std::string payload, python::PyJson(event));
  ASSERT_THAT(this->Run(statuses.SetHistory("t1", event)), IsOk());
  EXPECT_THAT(this->Documented(watched.log()),
              ElementsAre("SET relayna:event:t1:e1 1 NX EX 86400", "MULTI",
                          "LPUSH relayna:history:t1 " + payload, "LTRIM relayna:history:t1 0 49",
                          "EXPIRE relayna:history:t1 86400", "SADD relayna:children:p t1",
                          "EXPIRE relayna:children:p 86400",
                          "PUBLISH relayna:channel:t1 " + payload, "EXEC"));
  EXPECT_EQ(watched.requests(), 2u);
  ASSERT_THAT(this->Run(statuses.SetHistory("t1", event)), IsOk());
  EXPECT_EQ(watched.requests(), 3u);
}

TYPED_TEST(StatusStoreTest, WritesTheChildBeforeTheMarkerInTheClusterLayout) {
  if (!this->in_cluster_layout()) return;
  InterceptedStore watched(this->store());
  StatusStore statuses(watched, this->Options(StatusOptions{.prefix = "relayna"}));
  const Value event = Event(R"({"event_id": "e1", "meta": {"parent_task_id": "p"}})");
  ASSERT_OK_AND_ASSIGN(const std::string payload, python::PyJson(event));
  ASSERT_THAT(this->Run(statuses.SetHistory("t1", event)), IsOk());
  EXPECT_THAT(
      watched.log(),
      ElementsAre("EXISTS relayna:event:{task:t1}:e1", "MULTI", "SADD relayna:children:{task:p} t1",
                  "EXPIRE relayna:children:{task:p} 86400", "EXEC",
                  "SET relayna:event:{task:t1}:e1 1 NX EX 86400", "MULTI",
                  "LPUSH relayna:history:{task:t1} " + payload,
                  "LTRIM relayna:history:{task:t1} 0 49", "EXPIRE relayna:history:{task:t1} 86400",
                  "PUBLISH relayna:channel:t1 " + payload, "EXEC"));
  EXPECT_EQ(watched.requests(), 4u);
  ASSERT_THAT(this->Run(statuses.SetHistory("t1", event)), IsOk());
  EXPECT_EQ(watched.requests(), 5u);
}

// The process ends before each of its requests in turn, and the event is written again.
TYPED_TEST(StatusStoreTest, AtomicEventsAreWholeAfterAProcessHasEndedAtAnyStep) {
  const Value event =
      Event(R"({"task_id": "t1", "event_id": "e1", "meta": {"parent_task_id": "p"}})");
  const auto set = [&](store::Store& store) {
    ServiceEventFeed feed(store, this->Options(FeedOptions()));
    StatusStore statuses(
        store, this->Options(StatusOptions{.feed = &feed, .hardening = {.atomic_events = true}}));
    return this->Run(statuses.SetHistory("t1", event));
  };
  const auto expect_whole = [&](size_t steps) {
    EXPECT_EQ(this->Length("task:history:t1"), 1) << steps;
    EXPECT_EQ(this->Length("relayna-service-events:feed"), 1) << steps;
    EXPECT_EQ(this->Ask({"SISMEMBER", "task:children:p", "t1"}), Reply::Integer(1)) << steps;
  };
  bool ended = true;
  for (size_t steps = 0; ended; ++steps) {
    ASSERT_LT(steps, 10u);
    this->Ask({"FLUSHALL"});
    InterceptedStore store(this->store());
    store.on_request = [steps](size_t index) -> std::optional<absl::StatusOr<Reply>> {
      if (index < steps) return std::nullopt;
      return absl::StatusOr<Reply>(store::NotSentError("the process has ended"));
    };
    ended = !set(store).ok();
    // An event that the history has is in the feed, and its task is listed by the parent.
    if (this->Length("task:history:t1") == 1) expect_whole(steps);
    ASSERT_THAT(set(this->store()), IsOk());
    expect_whole(steps);
  }
}

TYPED_TEST(StatusStoreTest, ADuplicateTouchesNothing) {
  ASSERT_THAT(this->Set(Numbered(1)), IsOk());
  this->Advance(absl::Seconds(100));
  ASSERT_THAT(this->Set(Numbered(1)), IsOk());
  EXPECT_EQ(this->Ttl("task:event:t1:e1"), 86300);
  EXPECT_EQ(this->Ttl("task:history:t1"), 86300);
  EXPECT_EQ(this->Length("task:history:t1"), 1);
}

TYPED_TEST(StatusStoreTest, AMarkerExpiresBeforeItsList) {
  ASSERT_THAT(this->Set(Numbered(1)), IsOk());
  this->Advance(absl::Hours(23));
  ASSERT_THAT(this->Set(Numbered(2)), IsOk());
  this->Advance(absl::Hours(1));
  ASSERT_THAT(this->Set(Numbered(1)), IsOk());
  EXPECT_EQ(this->Length("task:history:t1"), 2) << "at its deadline the marker still exists";
  this->Advance(absl::Milliseconds(1));
  ASSERT_THAT(this->Set(Numbered(1)), IsOk());
  EXPECT_EQ(this->Length("task:history:t1"), 3);
}

TYPED_TEST(StatusStoreTest, NulloptAndZeroMeanNoTtl) {
  for (const std::optional<int64_t> ttl : {std::optional<int64_t>(), std::optional<int64_t>(0)}) {
    this->Ask({"FLUSHALL"});
    ASSERT_THAT(this->Set(Event(R"({"event_id": "e1", "meta": {"parent_task_id": "p"}})"),
                          {.ttl_seconds = ttl}),
                IsOk());
    EXPECT_EQ(this->Ttl("task:event:t1:e1"), -1);
    EXPECT_EQ(this->Ttl("task:history:t1"), -1);
    EXPECT_EQ(this->Ttl("task:children:p"), -1);
  }
}

TYPED_TEST(StatusStoreTest, RedisRefusesANegativeTtl) {
  const absl::Status status = this->Set(Numbered(1), {.ttl_seconds = -1});
  EXPECT_THAT(std::string(status.message()), HasSubstr("invalid expire time"));
  EXPECT_EQ(this->KeyCount(), 0);
}

TYPED_TEST(StatusStoreTest, TrimsToTheDocumentedLengths) {
  const std::pair<int64_t, int64_t> rows[] = {{2, 2}, {1, 1}, {0, 4}, {-1, 0}};
  for (const auto& [maxlen, length] : rows) {
    this->Ask({"FLUSHALL"});
    for (int i = 1; i <= 4; ++i) {
      ASSERT_THAT(this->Set(Numbered(i), {.history_maxlen = maxlen}), IsOk());
    }
    // 0 keeps everything. -1 removes one element from the end with every event, which is the event
    // itself.
    EXPECT_EQ(this->Length("task:history:t1"), length) << maxlen;
  }
}

TYPED_TEST(StatusStoreTest, ReadsNewestFirstAndAtLeastOne) {
  for (int i = 1; i <= 3; ++i) ASSERT_THAT(this->Set(Numbered(i)), IsOk());
  StatusStore statuses(this->store(), this->Options(StatusOptions()));
  EXPECT_THAT(this->Run(statuses.GetHistory("t1")),
              IsOkAndHolds(ElementsAre(Numbered(3), Numbered(2), Numbered(1))));
  EXPECT_THAT(this->Run(statuses.GetHistory("t1", 2)),
              IsOkAndHolds(ElementsAre(Numbered(3), Numbered(2))));
  for (const int64_t limit : {1, 0, -5}) {
    EXPECT_THAT(this->Run(statuses.GetHistory("t1", limit)), IsOkAndHolds(ElementsAre(Numbered(3))))
        << limit;
  }
  EXPECT_THAT(this->Run(statuses.GetHistory("t2")), IsOkAndHolds(IsEmpty()));
  EXPECT_THAT(this->Run(statuses.GetLatest("t1")), IsOkAndHolds(Optional(Numbered(3))));
  EXPECT_THAT(this->Run(statuses.GetLatest("t2")), IsOkAndHolds(Eq(std::nullopt)));
}

TYPED_TEST(StatusStoreTest, ListsChildrenByCodePoint) {
  const Value event = Event(R"({"event_id": "e", "meta": {"parent_task_id": "p"}})");
  for (const std::string_view child : {"b", "\u00E9", "a", "B"}) {
    ASSERT_THAT(this->Set(event, {}, child), IsOk());
  }
  StatusStore statuses(this->store(), this->Options(StatusOptions()));
  EXPECT_THAT(this->Run(statuses.GetChildTaskIds("p")),
              IsOkAndHolds(ElementsAre("B", "a", "b", "\u00E9")));
  EXPECT_THAT(this->Run(statuses.GetChildTaskIds("p", 2)), IsOkAndHolds(ElementsAre("B", "a")));
  EXPECT_THAT(this->Run(statuses.GetChildTaskIds("p", 9)), IsOkAndHolds(::testing::SizeIs(4)));
  EXPECT_THAT(this->Run(statuses.GetChildTaskIds("p", 0)), IsOkAndHolds(IsEmpty()));
  EXPECT_THAT(this->Run(statuses.GetChildTaskIds("p", -1)), IsOkAndHolds(IsEmpty()));
  EXPECT_THAT(this->Run(statuses.GetChildTaskIds("none")), IsOkAndHolds(IsEmpty()));
}

TYPED_TEST(StatusStoreTest, RejectsAValueWithoutAJsonFormBeforeSending) {
  InterceptedStore watched(this->store());
  StatusStore statuses(watched, this->Options(StatusOptions()));
  const std::pair<Value, std::string_view> rows[] = {
      {Value("text"), "TypeError"},
      {Object({{"x", python::Opaque{"set", "{}"}}}), "TypeError"},
      {Object({{"at", python::DateTime{this->now()}}}), "TypeError"},
      {Event(R"({"x": "\ud800"})"), "UnicodeEncodeError"},
  };
  for (const auto& [event, type] : rows) {
    EXPECT_EQ(python::ErrorType(this->Run(statuses.SetHistory("t1", event))), type);
  }
  EXPECT_THAT(this->Run(statuses.SetHistory("t1", Event(R"({"meta": {"parent_task_id": [1]}})"))),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_EQ(watched.requests(), 0u);
}

TYPED_TEST(StatusStoreTest, ACorruptElementFailsTheWholeRead) {
  ASSERT_THAT(this->Set(Numbered(1)), IsOk());
  this->Ask({"LPUSH", "task:history:t1", "{not json"});
  StatusStore statuses(this->store(), this->Options(StatusOptions()));
  const absl::Status status = this->Run(statuses.GetHistory("t1")).status();
  EXPECT_EQ(python::ErrorType(status), "JSONDecodeError");
  EXPECT_EQ(status.message(),
            "Expecting property name enclosed in double quotes: line 1 column 2 (char 1)");
  EXPECT_EQ(python::ErrorType(this->Run(statuses.GetLatest("t1")).status()), "JSONDecodeError");
  this->Ask({"LPUSH", "task:history:t1", "\xFF"});
  EXPECT_EQ(python::ErrorType(this->Run(statuses.GetLatest("t1")).status()), "UnicodeDecodeError");
}

TYPED_TEST(StatusStoreTest, AKeyOfTheWrongTypeFailsEveryOperation) {
  for (const std::string_view key : {"task:history:t1", "task:children:t1"}) {
    this->Ask({"SET", key, "x"});
  }
  StatusStore statuses(this->store(), this->Options(StatusOptions()));
  EXPECT_EQ(store::ServerErrorCode(this->Run(statuses.GetHistory("t1")).status()), "WRONGTYPE");
  EXPECT_EQ(store::ServerErrorCode(this->Run(statuses.GetLatest("t1")).status()), "WRONGTYPE");
  EXPECT_EQ(store::ServerErrorCode(this->Run(statuses.GetChildTaskIds("t1")).status()),
            "WRONGTYPE");
}

// R1, as in tests/data/golden/relayna/status_orphan_marker_event_loss.json.
TYPED_TEST(StatusStoreTest, AFailedTransactionLeavesAMarkerThatLosesTheEvent) {
  this->Ask({"SET", "task:history:t1", "oops"});
  EXPECT_EQ(store::ServerErrorCode(this->Set(Numbered(1))), "WRONGTYPE");
  this->Ask({"DEL", "task:history:t1"});
  EXPECT_THAT(this->Set(Numbered(1)), IsOk());
  EXPECT_EQ(this->Length("task:history:t1"), 0);
}

TYPED_TEST(StatusStoreTest, AtomicEventsWriteNothingOnAFailure) {
  for (const std::string_view key : {"task:history:t1", "task:children:p"}) {
    this->Ask({"FLUSHALL"});
    this->Ask({"SET", key, "oops"});
    const Value event = Event(R"({"event_id": "e1", "meta": {"parent_task_id": "p"}})");
    EXPECT_THAT(this->Set(event, {.hardening = {.atomic_events = true}}), Not(IsOk()));
    const bool has_child = this->in_cluster_layout() && key == "task:history:t1";
    EXPECT_EQ(this->KeyCount(), has_child ? 2 : 1);
    this->Ask({"DEL", key});
    EXPECT_THAT(this->Set(event, {.hardening = {.atomic_events = true}}), IsOk());
    EXPECT_EQ(this->Length("task:history:t1"), 1);
  }
}

TYPED_TEST(StatusStoreTest, AtomicEventsWriteWhatTheDefaultWrites) {
  const Value event = Event(R"({"event_id": "e1", "meta": {"parent_task_id": "p"}})");
  ASSERT_THAT(this->Set(event), IsOk());
  const std::vector<std::string> history = this->List("task:history:t1");
  this->Ask({"FLUSHALL"});
  InterceptedStore watched(this->store());
  StatusStore statuses(watched, this->Options(StatusOptions{.hardening = {.atomic_events = true}}));
  ASSERT_THAT(this->Run(statuses.SetHistory("t1", event)), IsOk());
  EXPECT_EQ(this->List("task:history:t1"), history);
  for (const std::string_view key : {"task:history:t1", "task:event:t1:e1", "task:children:p"}) {
    EXPECT_EQ(this->Ttl(key), 86400) << key;
  }
  const size_t first = watched.requests();
  ASSERT_THAT(this->Run(statuses.SetHistory("t1", event)), IsOk());
  EXPECT_EQ(watched.requests(), first + 1) << "one round trip if the server has the script";
  EXPECT_EQ(this->Length("task:history:t1"), 1);
}

TYPED_TEST(StatusStoreTest, AtomicEventsTrimWithoutATtl) {
  for (int i = 1; i <= 3; ++i) {
    ASSERT_THAT(this->Set(Numbered(i), {.ttl_seconds = std::nullopt,
                                        .history_maxlen = 2,
                                        .hardening = {.atomic_events = true}}),
                IsOk());
  }
  EXPECT_EQ(this->Length("task:history:t1"), 2);
  EXPECT_EQ(this->Ttl("task:history:t1"), -1);
  EXPECT_EQ(this->Ttl("task:event:t1:e3"), -1);
}

TYPED_TEST(StatusStoreTest, WritesTheFeedAfterTheHistory) {
  InterceptedStore watched(this->store());
  ServiceEventFeed feed(watched, this->Options(FeedOptions()));
  StatusStore statuses(watched, this->Options(StatusOptions{.feed = &feed}));
  ASSERT_THAT(this->Run(statuses.SetHistory("t1", Numbered(1))), IsOk());
  EXPECT_EQ(watched.requests(), 4u);
  EXPECT_EQ(this->Length("relayna-service-events:feed"), 1);
  // Neither a duplicate nor an event without a task id is added to the feed.
  ASSERT_THAT(this->Run(statuses.SetHistory("t1", Numbered(1))), IsOk());
  EXPECT_EQ(watched.requests(), 5u);
  ASSERT_THAT(this->Run(statuses.SetHistory("t1", Event(R"({"event_id": "x"})"))), IsOk());
  EXPECT_EQ(watched.requests(), 7u);
}

TYPED_TEST(StatusStoreTest, AnErrorOfTheFeedComesAfterTheHistory) {
  ServiceEventFeed feed(this->store(), this->Options(FeedOptions()));
  this->Ask({"SET", "relayna-service-events:feed", "x"});
  EXPECT_EQ(store::ServerErrorCode(this->Set(Numbered(1), {.feed = &feed})), "WRONGTYPE");
  EXPECT_EQ(this->Length("task:history:t1"), 1);
  const absl::Status status =
      this->Set(Numbered(2), {.feed = &feed, .hardening = {.atomic_events = true}});
  EXPECT_THAT(status, Not(IsOk()));
  EXPECT_EQ(this->Length("task:history:t1"), 1) << "both or neither";
}

TYPED_TEST(StatusStoreTest, AtomicEventsRejectAnEventThatTheFeedRejects) {
  ServiceEventFeed feed(this->store(), this->Options(FeedOptions()));
  const Value event = Event(R"({"task_id": "t1", "status": ["x"]})");
  EXPECT_THAT(this->Set(event, {.feed = &feed, .hardening = {.atomic_events = true}}),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_EQ(this->KeyCount(), 0);
}

TYPED_TEST(StatusStoreTest, NewestFirstOrdersEventsByTimestamp) {
  const auto at = [](int second) {
    const std::string digit = std::to_string(second);
    return Value(Object({{"event_id", "e" + digit}, {"timestamp", "2026-01-01T10:00:0" + digit}}));
  };
  const Value timeless = Event(R"({"event_id": "x"})");
  for (const Value& event : {at(5), at(1), at(9), timeless, at(3)}) {
    ASSERT_THAT(this->Set(event, {.hardening = {.newest_first = true}}), IsOk());
  }
  StatusStore statuses(this->store(), this->Options(StatusOptions()));
  EXPECT_THAT(this->Run(statuses.GetHistory("t1")),
              IsOkAndHolds(ElementsAre(at(9), at(5), at(3), at(1), timeless)));
}

TYPED_TEST(StatusStoreTest, NewestFirstRetriesAfterAConcurrentWrite) {
  InterceptedStore watched(this->store());
  const Value later = Event(R"({"event_id": "b", "timestamp": "2026-01-01T10:00:02Z"})");
  watched.on_request = [&](size_t index) -> std::optional<absl::StatusOr<Reply>> {
    if (index == 1) {
      EXPECT_THAT(this->Set(later), IsOk());
    }
    return std::nullopt;
  };
  StatusStore statuses(watched, this->Options(StatusOptions{.hardening = {.newest_first = true}}));
  const Value sooner = Event(R"({"event_id": "a", "timestamp": "2026-01-01T10:00:01Z"})");
  ASSERT_THAT(this->Run(statuses.SetHistory("t1", sooner)), IsOk());
  EXPECT_THAT(this->Run(statuses.GetHistory("t1")), IsOkAndHolds(ElementsAre(later, sooner)));
}

TYPED_TEST(StatusStoreTest, NewestFirstFailsOnACorruptHistory) {
  this->Ask({"LPUSH", "task:history:t1", "{"});
  EXPECT_EQ(python::ErrorType(this->Set(Numbered(1), {.hardening = {.newest_first = true}})),
            "JSONDecodeError");
  this->Ask({"DEL", "task:history:t1"});
  this->Ask({"SET", "task:history:t1", "x"});
  EXPECT_EQ(store::ServerErrorCode(this->Set(Numbered(1), {.hardening = {.newest_first = true}})),
            "WRONGTYPE");
}

TYPED_TEST(StatusStoreTest, ReturnsTheErrorsOfTheStore) {
  for (const size_t failing : {0u, 1u}) {
    this->Ask({"FLUSHALL"});
    InterceptedStore watched(this->store());
    watched.on_request = [&](size_t index) -> std::optional<absl::StatusOr<Reply>> {
      if (index != failing) return std::nullopt;
      return absl::StatusOr<Reply>(store::OutcomeUnknownError("gone"));
    };
    StatusStore statuses(watched, this->Options(StatusOptions()));
    EXPECT_THAT(this->Run(statuses.SetHistory("t1", Numbered(1))),
                StatusIs(absl::StatusCode::kUnavailable));
    EXPECT_EQ(this->KeyCount(), failing) << "a marker stays if the transaction fails";
  }
}

TYPED_TEST(StatusStoreTest, ReturnsTheErrorsOfTheScript) {
  InterceptedStore watched(this->store());
  watched.on_request = [](size_t) -> std::optional<absl::StatusOr<Reply>> {
    return absl::StatusOr<Reply>(store::OutcomeUnknownError("gone"));
  };
  for (const bool newest_first : {false, true}) {
    StatusStore statuses(watched,
                         this->Options(StatusOptions{
                             .hardening = {.atomic_events = true, .newest_first = newest_first}}));
    EXPECT_THAT(this->Run(statuses.SetHistory("t1", Numbered(1))),
                StatusIs(absl::StatusCode::kUnavailable));
  }
}

}  // namespace
}  // namespace redouble::inline v0_1::relayna
