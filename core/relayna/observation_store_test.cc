#include "core/relayna/observation_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/python/error.h"
#include "core/python/json.h"
#include "core/store/errors.h"
#include "tests/support/backends.h"
#include "tests/support/intercepted_store.h"

namespace redouble::relayna {
namespace {

using python::DateTime;
using python::Object;
using python::Value;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using tests::InterceptedStore;

constexpr std::string_view kHistory = "relayna-observations:history:t1";

// Golden observation_basic.
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
                  {"timestamp", DateTime{*base::ParseRfc3339("2026-01-01T11:00:00Z")}},
                  {"component", "consumer"}})};
}

template <typename Backend>
class ObservationStoreTest : public tests::BackendTest<Backend> {
 protected:
  absl::StatusOr<bool> Set(const Observation& observation, ObservationOptions options = {},
                           std::optional<TraceContext> trace = std::nullopt) {
    ObservationStore observations(this->store(), std::move(options));
    return this->Run(observations.SetEvent(observation, std::move(trace)));
  }
};
TYPED_TEST_SUITE(ObservationStoreTest, tests::Backends, tests::BackendNames);

TYPED_TEST(ObservationStoreTest, WritesAnObservationOnce) {
  EXPECT_TRUE(*this->Set(Received()));
  EXPECT_FALSE(*this->Set(Received()));
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

TYPED_TEST(ObservationStoreTest, TellsClassesAndSpansApart) {
  Observation other = Received();
  other.class_name = "TaskMessageAcked";
  EXPECT_TRUE(*this->Set(Received()));
  EXPECT_TRUE(*this->Set(other));
  EXPECT_TRUE(*this->Set(Received(), {}, TraceContext{"trace", "span"}));
  EXPECT_FALSE(*this->Set(Received(), {}, TraceContext{"trace", "span"}));
  ObservationStore observations(this->store());
  const std::vector<Value> history = *this->Run(observations.GetHistory("t1"));
  ASSERT_THAT(history, SizeIs(3));
  const auto& members = history[0].object()->members();
  EXPECT_EQ(members[members.size() - 3].name, "trace_id");
  EXPECT_EQ(members[members.size() - 2].name, "span_id");
  EXPECT_EQ(members[members.size() - 1].name, "event_type");
}

TYPED_TEST(ObservationStoreTest, KeysHaveTheStrippedTaskIdAndValuesTheGivenOne) {
  Observation observation = Received();
  observation.fields->Set("task_id", " t1\u00A0");
  EXPECT_TRUE(*this->Set(observation));
  ObservationStore observations(this->store());
  const std::vector<Value> history = *this->Run(observations.GetHistory("t1"));
  ASSERT_THAT(history, SizeIs(1));
  EXPECT_EQ(*history[0].Find("task_id"), Value(" t1\u00A0"));
}

TYPED_TEST(ObservationStoreTest, SendsNothingForWhatHasNoTask) {
  InterceptedStore watched(this->store());
  ObservationStore observations(watched);
  const Observation rows[] = {{"dict", std::nullopt},
                              {"Started", Object({{"component", "consumer"}})},
                              {"Started", Object({{"task_id", nullptr}})},
                              {"Started", Object({{"task_id", " \t"}})}};
  for (const Observation& row : rows) EXPECT_FALSE(*this->Run(observations.SetEvent(row)));
  EXPECT_EQ(watched.requests(), 0u);
}

TYPED_TEST(ObservationStoreTest, RefusesWhatCannotBeSerialisedBeforeItSendsAnything) {
  InterceptedStore watched(this->store());
  ObservationStore observations(watched);
  const Observation opaque = {"C", Object({{"task_id", "t1"}, {"x", python::Opaque{"set", ""}}})};
  EXPECT_EQ(python::ErrorType(this->Run(observations.SetEvent(opaque)).status()), "TypeError");
  const Observation array = {"C", Object({{"task_id", python::Array{1}}})};
  EXPECT_TRUE(absl::IsInvalidArgument(this->Run(observations.SetEvent(array)).status()));
  EXPECT_EQ(watched.requests(), 0u);
}

TYPED_TEST(ObservationStoreTest, ReadsAtLeastOne) {
  Observation observation = Received();
  for (int i = 0; i < 3; ++i) {
    observation.fields->Set("delivery_tag", i);
    ASSERT_TRUE(*this->Set(observation, {.history_maxlen = 2}));
  }
  ObservationStore observations(this->store(), {.history_maxlen = 2});
  EXPECT_THAT(*this->Run(observations.GetHistory("t1")), SizeIs(2));
  EXPECT_THAT(*this->Run(observations.GetHistory("t1", 0)), SizeIs(1));
  EXPECT_THAT(*this->Run(observations.GetHistory("none")), IsEmpty());
  this->Ask({"LPUSH", kHistory, "{"});
  EXPECT_EQ(python::ErrorType(this->Run(observations.GetHistory("t1")).status()),
            "JSONDecodeError");
}

TYPED_TEST(ObservationStoreTest, ASharedPrefixMixesTheListsOfBothStores) {
  EXPECT_TRUE(*this->Set(Received(), {.prefix = "task"}));
  this->Ask({"LPUSH", "task:history:t1", R"({"status": "queued"})"});
  ObservationStore observations(this->store(), {.prefix = "task"});
  EXPECT_THAT(*this->Run(observations.GetHistory("t1")), SizeIs(2));
}

// R2: as the status store's, but nothing is published.
TYPED_TEST(ObservationStoreTest, AFailedTransactionLeavesAMarkerThatLosesTheObservation) {
  this->Ask({"SET", kHistory, "oops"});
  EXPECT_EQ(store::ServerErrorCode(this->Set(Received()).status()), "WRONGTYPE");
  this->Ask({"DEL", kHistory});
  EXPECT_FALSE(*this->Set(Received()));
  EXPECT_EQ(this->KeyCount(), 1);
}

TYPED_TEST(ObservationStoreTest, AtomicEventsLeaveNothingBehindAFailure) {
  this->Ask({"SET", kHistory, "oops"});
  EXPECT_FALSE(this->Set(Received(), {.atomic_events = true}).ok());
  this->Ask({"DEL", kHistory});
  EXPECT_TRUE(*this->Set(Received(), {.atomic_events = true}));
  EXPECT_FALSE(*this->Set(Received(), {.atomic_events = true}));
  EXPECT_EQ(this->KeyCount(), 2);
}

TYPED_TEST(ObservationStoreTest, WritesTheFeedBehindTheHistoryOrWithIt) {
  ServiceEventFeed feed(this->store());
  EXPECT_TRUE(*this->Set(Received(), {.feed = &feed}));
  const std::string item = this->Ask({"LINDEX", "relayna-service-events:feed", "0"}).text();
  EXPECT_NE(item.find(R"("timestamp":"2026-01-01 11:00:00+00:00")"), item.npos) << item;
  EXPECT_NE(item.find(R"("timestamp":"2026-01-01T11:00:00Z")"), item.npos) << item;
  this->Ask({"FLUSHALL"});
  EXPECT_TRUE(*this->Set(Received(), {.feed = &feed, .atomic_events = true}));
  EXPECT_EQ(this->Ask({"LINDEX", "relayna-service-events:feed", "0"}).text(), item);
}

TYPED_TEST(ObservationStoreTest, AnErrorOfTheFeedComesAfterTheHistory) {
  ServiceEventFeed feed(this->store());
  Observation observation = Received();
  observation.fields->Set("component", python::Array{1});
  EXPECT_TRUE(absl::IsInvalidArgument(this->Set(observation, {.feed = &feed}).status()));
  EXPECT_EQ(this->KeyCount(), 2);
  observation.fields->Set("delivery_tag", 4);
  EXPECT_FALSE(this->Set(observation, {.feed = &feed, .atomic_events = true}).ok());
  EXPECT_EQ(this->KeyCount(), 2);
}

}  // namespace
}  // namespace redouble::relayna
