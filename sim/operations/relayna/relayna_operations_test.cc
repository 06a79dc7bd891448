#include "redouble/sim/operations/relayna/relayna_operations.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "redouble/backends/memory/engine/engine.h"
#include "redouble/backends/memory/engine/session.h"
#include "redouble/core/base/random/rng.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/base/time/virtual_clock.h"
#include "redouble/core/python/error.h"
#include "redouble/sim/operations/arguments.h"
#include "redouble/sim/operations/python_json.h"

namespace redouble::inline v0_1::scenarios {
namespace {

using sim::Json;

class RelaynaOperationsTest : public ::testing::Test {
 protected:
  sim::OperationResult Call(std::string_view name, const Json& arguments) {
    const sim::Operation* operation = table_.Find(name);
    EXPECT_NE(operation, nullptr) << name;
    return base::Run((*operation)(sim::OperationContext(*session_, clock_, rng_), arguments));
  }
  // Returns the result, or null if the operation failed.
  Json Result(std::string_view name, const Json& arguments) {
    const sim::OperationResult result = Call(name, arguments);
    EXPECT_TRUE(result.ok()) << name << ": " << result.status();
    return result.value_or(Json());
  }

  const sim::OperationTable table_ = RelaynaOperations();
  base::VirtualClock clock_{absl::FromUnixSeconds(1767268800)};
  memory::Engine engine_{clock_};
  std::unique_ptr<memory::Session> session_ = engine_.Connect();
  base::Rng rng_{1};
};

TEST_F(RelaynaOperationsTest, RefuseArgumentsThatAreMissingOrUnknown) {
  for (const std::string& name : table_.Names()) {
    EXPECT_TRUE(sim::IsArgumentError(Call(name, Json{{"no_such", 1}}).status())) << name;
  }
}

TEST_F(RelaynaOperationsTest, TakeTheOptionsOfTheStores) {
  const Json event = {{"task_id", "t1"}, {"event_id", "e1"}};
  Result("status.set_history", {{"task_id", "t1"},
                                {"event", event},
                                {"prefix", "p"},
                                {"ttl_seconds", nullptr},
                                {"history_maxlen", 3},
                                {"atomic_events", true},
                                {"feed", {{"prefix", "f"}, {"feed_maxlen", 2}}}});
  EXPECT_EQ(Result("status.get_latest", {{"task_id", "t1"}, {"prefix", "p"}}), event);
  EXPECT_EQ(Result("feed.get_feed", {{"prefix", "f"}})["count"], 1);
  EXPECT_EQ(Result("status.get_latest", {{"task_id", "t1"}}), Json());
}

TEST_F(RelaynaOperationsTest, RefuseUnknownOptionsOfTheFeed) {
  const sim::OperationResult result =
      Call("status.get_latest", {{"task_id", "t1"}, {"feed", {{"no_such", 1}}}});
  EXPECT_TRUE(sim::IsArgumentError(result.status()));
  EXPECT_TRUE(sim::IsArgumentError(
      Call("observation.set_event",
           {{"cls", "C"}, {"fields", Json::object()}, {"trace", {{"trace_id", "a"}}}})
          .status()));
}

TEST_F(RelaynaOperationsTest, ReturnTheErrorsOfTheStores) {
  const sim::OperationResult added = Call("dlq.add", {{"record", {{"dlq_id", "d"}}}});
  EXPECT_EQ(python::ErrorType(added.status()), "ValidationError");
  const sim::OperationResult ensured =
      Call("contracts.ensure_status_event_id", {{"event", "text"}});
  EXPECT_EQ(python::ErrorType(ensured.status()), "TypeError");
  const sim::OperationResult set =
      Call("status.set_history", {{"task_id", "t"}, {"event", Json::array()}});
  EXPECT_EQ(python::ErrorType(set.status()), "TypeError");
}

TEST_F(RelaynaOperationsTest, ReplayADeadLetteredMessageThroughABroker) {
  const Json record = {{"dlq_id", "d1"},
                       {"queue_name", "q.dlq"},
                       {"source_queue_name", "q"},
                       {"retry_queue_name", "q.retry"},
                       {"reason", "handler_error"},
                       {"retry_attempt", 1},
                       {"body", "x"},
                       {"body_encoding", "text"},
                       {"raw_body_b64", "eA=="},
                       {"dead_lettered_at", "2026-01-01T11:00:00Z"},
                       {"state", "dead_lettered"}};
  Result("dlq.add", {{"record", record}});
  const Json down = {{"type", "ConnectionError"}, {"message", "down"}};
  const sim::OperationResult failed =
      Call("dlq.replay_message", {{"dlq_id", "d1"}, {"publish_error", down}});
  EXPECT_EQ(python::ErrorType(failed.status()), "ConnectionError");
  EXPECT_EQ(
      Call("dlq.replay_message", {{"dlq_id", "d1"}, {"publish_error", "down"}}).status().message(),
      "down");
  EXPECT_EQ(Result("dlq.replay_message", {{"dlq_id", "d1"}, {"now", "2026-01-01T12:00:00Z"}}),
            Json({{"dlq_id", "d1"},
                  {"target_queue_name", "q.retry"},
                  {"state", "replayed"},
                  {"replayed_at", "2026-01-01T12:00:00Z"},
                  {"replay_count", 1},
                  {"forced", false}}));
  EXPECT_EQ(Result("dlq.replay_message", {{"dlq_id", "none"}}), Json());
  EXPECT_TRUE(sim::IsArgumentError(
      Call("dlq.replay_message", {{"dlq_id", "d1"}, {"publish_error", {{"type", "X"}}}}).status()));
}

TEST_F(RelaynaOperationsTest, FeedObservationsWithoutAHistory) {
  const Json arguments = {{"cls", "Seen"},
                          {"fields", {{"task_id", "t1"}, {"timestamp", "2026-01-01T11:00:00Z"}}}};
  EXPECT_EQ(Result("feed.add_observation_event", arguments), true);
  EXPECT_EQ(Result("feed.add_observation_event", arguments), false);
  EXPECT_EQ(Result("feed.get_feed", Json::object())["items"][0]["timestamp"],
            "2026-01-01 11:00:00+00:00");
}

TEST_F(RelaynaOperationsTest, ParseTimestampsInAZone) {
  EXPECT_EQ(Result("timestamp.parse", {{"value", "2026-01-01"}}), "2026-01-01T00:00:00+00:00");
  EXPECT_EQ(Result("timestamp.parse", {{"value", "2026-01-01"}, {"zone_seconds", 3600}}),
            "2025-12-31T23:00:00+00:00");
  EXPECT_EQ(Result("timestamp.parse", {{"value", "soon"}}), Json());
}

TEST(PythonJson, RoundTrips) {
  const Json json = Json::parse(R"({"b": [1, 2.5, 1e16, true, null, "é"], "a": {}})");
  EXPECT_EQ(ToJson(ToValue(json)), json);
  EXPECT_EQ(ToJson(python::Value(python::Opaque{"set", ""})), Json());
  EXPECT_EQ(ToJson(std::optional<std::string>()), Json());
  EXPECT_EQ(ToJson(std::optional<std::string>("x")), "x");
}

}  // namespace
}  // namespace redouble::inline v0_1::scenarios
