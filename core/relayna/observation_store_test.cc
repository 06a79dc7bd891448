#include "redouble/core/relayna/observation_store.h"

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
using python::DateTime;
using python::Object;
using python::Value;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using tests::InterceptedStore;

constexpr std::string_view kHistory = "relayna-observations:history:t1";

// The observation of tests/data/golden/relayna/observation_basic.json.
Observation Received() {
  return {"TaskMessageReceived",
          Object({{"consumer_name", "c1"},
                  {"queue_name", "q1"},
                  {"task_id", "t1"},
                  {"delivery_tag", 3},
                  {"redelivered", false},
                  {"correlation_id", "c-1"},
                  {"retry_attempt", 0},
                  {"task_type", nullptr},
                  {"timestamp", DateTime{base::ParseRfc3339("2026-01-01T11:00:00Z").value()}},
                  {"component", "consumer"}})};
}

template <typename Backend>
class ObservationStoreTest : public RelaynaTest<Backend> {
 protected:
  absl::StatusOr<bool> Set(const Observation& observation, ObservationOptions options = {},
                           std::optional<TraceContext> trace = std::nullopt) {
    ObservationStore observations(this->store(), this->Options(std::move(options)));
    return this->Run(observations.SetEvent(observation, std::move(trace)));
  }
};
TYPED_TEST_SUITE(ObservationStoreTest, tests::LayoutBackends, tests::BackendNames);

TYPED_TEST(ObservationStoreTest, WritesAnObservationOnce) {
  EXPECT_THAT(this->Set(Received()), IsOkAndHolds(true));
  EXPECT_THAT(this->Set(Received()), IsOkAndHolds(false));
  EXPECT_EQ(this->Ttl("relayna-observations:event:t1:"
                      "010e30138934e2277e146e74910f46023758843c59d5be98be8444aa0972c347"),
            86400);
  EXPECT_EQ(this->Ask({"LINDEX", kHistory, "0"}).text(),
            R"({"consumer_name": "c1", "queue_name": "q1", "task_id": "t1", "delivery_tag": 3, )"
            R"("redelivered": false, "correlation_id": "c-1", "retry_attempt": 0, )"
            R"("task_type": null, "timestamp": "2026-01-01T11:00:00+00:00", )"
            R"("component": "consumer", "event_type": "TaskMessageReceived"})");
  EXPECT_EQ(this->Ttl(kHistory), 86400);
  EXPECT_EQ(this->KeyCount(), 2);
}

TYPED_TEST(ObservationStoreTest, DistinguishesClassesAndSpans) {
  Observation other = Received();
  other.class_name = "TaskMessageAcked";
  EXPECT_THAT(this->Set(Received()), IsOkAndHolds(true));
  EXPECT_THAT(this->Set(other), IsOkAndHolds(true));
  EXPECT_THAT(this->Set(Received(), {}, TraceContext{"trace", "span"}), IsOkAndHolds(true));
  EXPECT_THAT(this->Set(Received(), {}, TraceContext{"trace", "span"}), IsOkAndHolds(false));
  ObservationStore observations(this->store(), this->Options(ObservationOptions()));
  ASSERT_OK_AND_ASSIGN(const std::vector<Value> history, this->Run(observations.GetHistory("t1")));
  ASSERT_THAT(history, SizeIs(3));
  const auto& members = history[0].object()->members();
  EXPECT_EQ(members[members.size() - 3].name, "trace_id");
  EXPECT_EQ(members[members.size() - 2].name, "span_id");
  EXPECT_EQ(members[members.size() - 1].name, "event_type");
}

TYPED_TEST(ObservationStoreTest, KeysHaveTheStrippedTaskIdAndValuesTheOriginalOne) {
  Observation observation = Received();
  observation.fields->Set("task_id", " t1\u00A0");
  EXPECT_THAT(this->Set(observation), IsOkAndHolds(true));
  ObservationStore observations(this->store(), this->Options(ObservationOptions()));
  ASSERT_OK_AND_ASSIGN(const std::vector<Value> history, this->Run(observations.GetHistory("t1")));
  ASSERT_THAT(history, SizeIs(1));
  EXPECT_EQ(*history[0].Find("task_id"), Value(" t1\u00A0"));
}

TYPED_TEST(ObservationStoreTest, SendsNothingWithoutATaskId) {
  InterceptedStore watched(this->store());
  ObservationStore observations(watched, this->Options(ObservationOptions()));
  const Observation rows[] = {{"dict", std::nullopt},
                              {"Started", Object({{"component", "consumer"}})},
                              {"Started", Object({{"task_id", nullptr}})},
                              {"Started", Object({{"task_id", 0}})},
                              {"Started", Object({{"task_id", 0.0}})},
                              {"Started", Object({{"task_id", false}})},
                              {"Started", Object({{"task_id", " \t"}})}};
  for (const Observation& row : rows)
    EXPECT_THAT(this->Run(observations.SetEvent(row)), IsOkAndHolds(false));
  EXPECT_EQ(watched.requests(), 0u);
}

TYPED_TEST(ObservationStoreTest, RejectsAValueWithoutAJsonFormBeforeSending) {
  InterceptedStore watched(this->store());
  ObservationStore observations(watched, this->Options(ObservationOptions()));
  const Observation opaque = {"C", Object({{"task_id", "t1"}, {"x", python::Opaque{"set", ""}}})};
  EXPECT_EQ(python::ErrorType(this->Run(observations.SetEvent(opaque)).status()), "TypeError");
  const Observation array = {"C", Object({{"task_id", python::Array{1}}})};
  EXPECT_THAT(this->Run(observations.SetEvent(array)),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_EQ(watched.requests(), 0u);
}

TYPED_TEST(ObservationStoreTest, ReadsAtLeastOne) {
  Observation observation = Received();
  for (int i = 0; i < 3; ++i) {
    observation.fields->Set("delivery_tag", i);
    ASSERT_THAT(this->Set(observation, {.history_maxlen = 2}), IsOkAndHolds(true));
  }
  ObservationStore observations(this->store(),
                                this->Options(ObservationOptions{.history_maxlen = 2}));
  EXPECT_THAT(this->Run(observations.GetHistory("t1")), IsOkAndHolds(SizeIs(2)));
  EXPECT_THAT(this->Run(observations.GetHistory("t1", 0)), IsOkAndHolds(SizeIs(1)));
  EXPECT_THAT(this->Run(observations.GetHistory("none")), IsOkAndHolds(IsEmpty()));
  this->Ask({"LPUSH", kHistory, "{"});
  EXPECT_EQ(python::ErrorType(this->Run(observations.GetHistory("t1")).status()),
            "JSONDecodeError");
}

TYPED_TEST(ObservationStoreTest, ASharedPrefixMixesTheListsOfBothStores) {
  EXPECT_THAT(this->Set(Received(), {.prefix = "task"}), IsOkAndHolds(true));
  this->Ask({"LPUSH", "task:history:t1", R"({"status": "queued"})"});
  ObservationStore observations(this->store(), this->Options(ObservationOptions{.prefix = "task"}));
  EXPECT_THAT(this->Run(observations.GetHistory("t1")), IsOkAndHolds(SizeIs(2)));
}

// R2: as R1 in the status store, without a message to subscribers.
TYPED_TEST(ObservationStoreTest, AFailedTransactionLeavesAMarkerThatLosesTheObservation) {
  this->Ask({"SET", kHistory, "oops"});
  EXPECT_EQ(store::ServerErrorCode(this->Set(Received()).status()), "WRONGTYPE");
  this->Ask({"DEL", kHistory});
  EXPECT_THAT(this->Set(Received()), IsOkAndHolds(false));
  EXPECT_EQ(this->KeyCount(), 1);
}

TYPED_TEST(ObservationStoreTest, AtomicEventsWriteNothingOnAFailure) {
  this->Ask({"SET", kHistory, "oops"});
  EXPECT_THAT(this->Set(Received(), {.hardening = {.atomic_events = true}}), Not(IsOk()));
  this->Ask({"DEL", kHistory});
  EXPECT_THAT(this->Set(Received(), {.hardening = {.atomic_events = true}}), IsOkAndHolds(true));
  EXPECT_THAT(this->Set(Received(), {.hardening = {.atomic_events = true}}), IsOkAndHolds(false));
  EXPECT_EQ(this->KeyCount(), 2);
}

TYPED_TEST(ObservationStoreTest, WritesTheFeedAfterTheHistoryOrWithIt) {
  ServiceEventFeed feed(this->store(), this->Options(FeedOptions()));
  EXPECT_THAT(this->Set(Received(), {.feed = &feed}), IsOkAndHolds(true));
  const std::string item = this->Ask({"LINDEX", "relayna-service-events:feed", "0"}).text();
  EXPECT_NE(item.find(R"("timestamp":"2026-01-01 11:00:00+00:00")"), item.npos) << item;
  EXPECT_NE(item.find(R"("timestamp":"2026-01-01T11:00:00Z")"), item.npos) << item;
  this->Ask({"FLUSHALL"});
  EXPECT_THAT(this->Set(Received(), {.feed = &feed, .hardening = {.atomic_events = true}}),
              IsOkAndHolds(true));
  EXPECT_EQ(this->Ask({"LINDEX", "relayna-service-events:feed", "0"}).text(), item);
}

TYPED_TEST(ObservationStoreTest, AnErrorOfTheFeedComesAfterTheHistory) {
  ServiceEventFeed feed(this->store(), this->Options(FeedOptions()));
  Observation observation = Received();
  observation.fields->Set("component", python::Array{1});
  EXPECT_THAT(this->Set(observation, {.feed = &feed}),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_EQ(this->KeyCount(), 2);
  observation.fields->Set("delivery_tag", 4);
  EXPECT_THAT(this->Set(observation, {.feed = &feed, .hardening = {.atomic_events = true}}),
              Not(IsOk()));
  EXPECT_EQ(this->KeyCount(), 2);
}

}  // namespace
}  // namespace redouble::inline v0_1::relayna
