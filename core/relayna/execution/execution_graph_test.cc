#include "redouble/core/relayna/execution/execution_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/time/utc.h"
#include "redouble/core/python/error.h"
#include "redouble/core/python/json.h"

namespace redouble::inline v0_1::relayna {
namespace {

using base::IsOkAndHolds;
using python::Object;
using python::Value;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr auto kShared = ExecutionTopology::kSharedTasks;
constexpr auto kWorkflow = ExecutionTopology::kWorkflow;

Value Json(std::string_view text) { return python::ParseJson(text).value(); }

// A record at the given second of one minute; `members` follow its type and timestamp.
Value At(std::string_view second, std::string_view type, Object members = {}) {
  members.Set("event_type", type);
  members.Set("timestamp", "2026-04-06T10:00:" + std::string(second) + "+00:00");
  return members;
}
Value StatusAt(std::string_view second, std::string_view status) {
  return At(second, "", Object({{"status", status}}));
}

std::vector<std::string> NodeIds(const ExecutionGraph& graph) {
  std::vector<std::string> ids;
  for (const ExecutionGraphNode& node : graph.nodes) ids.push_back(node.id);
  return ids;
}
std::vector<std::string> Arrows(const ExecutionGraph& graph) {
  std::vector<std::string> arrows;
  for (const ExecutionGraphEdge& edge : graph.edges) {
    arrows.push_back(edge.source + " " + edge.kind + " " + edge.target);
  }
  return arrows;
}
const ExecutionGraphNode& NodeOf(const ExecutionGraph& graph, std::string_view id) {
  return *std::find_if(graph.nodes.begin(), graph.nodes.end(),
                       [&](const ExecutionGraphNode& node) { return node.id == id; });
}
std::string ErrorOf(const std::vector<TaskRecords>& tasks, ExecutionTopology topology = kShared) {
  const absl::StatusOr<ExecutionGraph> graph = BuildExecutionGraph(topology, "t1", tasks);
  return python::ErrorType(graph.status()).value_or("none");
}

// A first attempt that is retried, a second one that is dead-lettered.
std::vector<Value> RetriedObservations() {
  return {
      At("03", "ConsumerDeadLetterPublished", Object({{"reason", "handler_error"}})),
      At("02.500000", "TaskMessageReceived",
         Object({{"retry_attempt", 1}, {"task_type", " ocr "}})),
      At("02", "ConsumerRetryScheduled", Object({{"retry_attempt", 1}, {"max_retries", 3}})),
      At("00", "TaskMessageReceived", Object({{"queue_name", "q"}})),
  };
}

TEST(ExecutionGraph, LinksAttemptsRetriesAndDeadLetters) {
  const ExecutionGraph graph =
      BuildExecutionGraph(kShared, "t1",
                          {{.task_id = "t1",
                            .statuses = {StatusAt("03", "failed"), StatusAt("01", "processing")},
                            .observations = RetriedObservations()}})
          .value();
  EXPECT_EQ(graph.topology_kind, "shared_tasks_shared_status");
  // Tasks have no timestamp and come first. "02.5" is after "02" because '.' is after '+'.
  EXPECT_THAT(NodeIds(graph),
              ElementsAre("task:t1", "task-attempt:t1:1", "status:t1:1", "retry:t1:1",
                          "task-attempt:t1:2", "dlq:t1:1", "status:t1:2"));
  EXPECT_THAT(Arrows(graph), ElementsAre("task:t1 received_by task-attempt:t1:1",
                                         "task-attempt:t1:1 published_status status:t1:1",
                                         "task-attempt:t1:1 retried_as retry:t1:1",
                                         "retry:t1:1 received_by task-attempt:t1:2",
                                         "task:t1 received_by task-attempt:t1:2",
                                         "task-attempt:t1:2 dead_lettered_to dlq:t1:1",
                                         "task-attempt:t1:2 published_status status:t1:2"));
  EXPECT_EQ(graph.summary, (ExecutionGraphSummary{.status = "failed",
                                                  .started_at = "2026-04-06T10:00:00+00:00",
                                                  .ended_at = "2026-04-06T10:00:03+00:00",
                                                  .duration_ms = 3000,
                                                  .graph_completeness = "full"}));
  EXPECT_EQ(graph.annotations, Object({{"task_types", python::Array{"ocr"}}}));
  EXPECT_EQ(NodeOf(graph, "retry:t1:1").annotations, Object({{"queue_name", Value()},
                                                             {"source_queue_name", Value()},
                                                             {"retry_attempt", 1},
                                                             {"max_retries", 3},
                                                             {"reason", Value()},
                                                             {"task_id", "t1"}}));
  EXPECT_EQ(NodeOf(graph, "dlq:t1:1").label, "handler_error");
  EXPECT_EQ(*NodeOf(graph, "task-attempt:t1:1").annotations.Find("retry_attempt"), Value(0))
      << "0 if the record has none";
}

TEST(ExecutionGraph, WritesTheModel) {
  const ExecutionGraph graph =
      BuildExecutionGraph(kShared, "t1", {{.task_id = "t1", .statuses = {Json(R"({
          "status": "completed", "meta": {"a": 1.0}, "timestamp": "2026-04-06T10:00:01Z"})")}}})
          .value();
  EXPECT_THAT(
      FormatExecutionGraph(graph),
      IsOkAndHolds(
          R"({"task_id":"t1","topology_kind":"shared_tasks_shared_status",)"
          R"("summary":{"status":"completed","started_at":"2026-04-06T10:00:01Z",)"
          R"("ended_at":"2026-04-06T10:00:01Z","duration_ms":0,"graph_completeness":"partial"},)"
          R"("nodes":[{"id":"task:t1","kind":"task","task_id":"t1","label":"t1",)"
          R"("timestamp":null,"annotations":{}},{"id":"status:t1:1","kind":"status_event",)"
          R"("task_id":"t1","label":"completed","timestamp":"2026-04-06T10:00:01Z",)"
          R"("annotations":{"status":"completed","message":null,"meta":{"a":1.0}}}],)"
          R"("edges":[{"source":"task:t1","target":"status:t1:1","kind":"published_status",)"
          R"("timestamp":"2026-04-06T10:00:01Z","annotations":{}}],)"
          R"("annotations":{},"related_task_ids":[]})"));
}

TEST(ExecutionGraph, FollowsMessagesBetweenStages) {
  const ExecutionGraph graph =
      BuildExecutionGraph(
          kWorkflow, "t1",
          {{.task_id = "t1",
            .statuses = {StatusAt("00", "early"), StatusAt("03", "completed")},
            .observations =
                {At("01", "WorkflowMessageReceived",
                    Object({{"message_id", "m1"}, {"stage", "planner"}})),
                 At("02", "WorkflowMessagePublished",
                    Object(
                        {{"message_id", "m2"}, {"stage", "writer"}, {"origin_stage", "planner"}})),
                 At("02.1", "WorkflowMessageReceived",
                    Object({{"message_id", "m2"}, {"stage", "writer"}})),
                 At("02.2", "WorkflowMessageReceived", Object({{"stage", "writer"}})),
                 At("02.3", "WorkflowMessagePublished", Object({{"message_id", " m3 "}})),
                 At("02.4", "WorkflowMessagePublished", Object({{"message_id", " "}})),
                 At("02.5", "WorkflowMessagePublished",
                    Object({{"message_id", "m4"}, {"origin_stage", "nowhere"}})),
                 At("02.6", "WorkflowMessageReceived")}}})
          .value();
  EXPECT_EQ(graph.topology_kind, "shared_status_workflow");
  EXPECT_THAT(Arrows(graph),
              ElementsAre("task:t1 published_status status:t1:1",
                          "workflow-message:m1 entered_stage stage-attempt:t1:planner:1",
                          "task:t1 received_by workflow-message:m1",
                          "stage-attempt:t1:planner:1 stage_transitioned_to workflow-message:m2",
                          "workflow-message:m2 entered_stage stage-attempt:t1:writer:1",
                          "task:t1 received_by workflow-message:m3",
                          "stage-attempt:t1:unknown:1 published_status status:t1:2"));
  EXPECT_THAT(NodeIds(graph), Contains("workflow-message:m4")) << "a node without an edge";
  EXPECT_EQ(NodeOf(graph, "workflow-message:m3").label, "m3");
  EXPECT_EQ(*NodeOf(graph, "stage-attempt:t1:writer:2").annotations.Find("message_id"), Value());
}

TEST(ExecutionGraph, AggregatesChildren) {
  const ExecutionGraph graph =
      BuildExecutionGraph(ExecutionTopology::kSharedTasksShardedAggregation, "t1",
                          {{.task_id = "t1"},
                           {.task_id = "c1",
                            .statuses = {StatusAt("02", "done")},
                            .observations = {At("01", "AggregationMessageReceived"),
                                             At("03", "AggregationRetryScheduled"),
                                             At("04", "AggregationDeadLetterPublished")}}},
                          {"c2", "c1", "", "t1", "c1"})
          .value();
  EXPECT_THAT(graph.related_task_ids, ElementsAre("c1", "c2"));
  EXPECT_THAT(Arrows(graph), ElementsAre("aggregation_child:c1 aggregated_into task:t1",
                                         "aggregation_child:c2 aggregated_into task:t1",
                                         "aggregation_child:c1 received_by task-attempt:c1:1",
                                         "task-attempt:c1:1 published_status status:c1:1",
                                         "task-attempt:c1:1 retried_as retry:c1:1",
                                         "task-attempt:c1:1 dead_lettered_to dlq:c1:1"));
  EXPECT_EQ(graph.summary.status, std::nullopt) << "the status of a child is not used";
  EXPECT_EQ(graph.summary.ended_at, "2026-04-06T10:00:04+00:00");
  EXPECT_EQ(graph.summary.duration_ms, 3000);
}

TEST(ExecutionGraph, LinksManualRetries) {
  const ExecutionGraph graph =
      BuildExecutionGraph(
          kShared, "t1",
          {{.task_id = "t1",
            .statuses = {StatusAt("02", "Manual_Retrying")},
            .observations = {At("01", "TaskMessageReceived"), At("03", "TaskMessageReceived")}}})
          .value();
  EXPECT_THAT(Arrows(graph), Contains("task-attempt:t1:1 manual_retry_to task-attempt:t1:2"));
}

DlqRecord Record(std::string reason) {
  DlqRecord record;
  record.dlq_id = "d1";
  record.queue_name = "q.dlq";
  record.task_id = "t1";
  record.reason = std::move(reason);
  record.headers = Object({{"secret", "x"}});
  record.SetBody("{}");
  record.dead_lettered_at = base::ParseRfc3339("2026-04-06T10:00:05Z").value();
  return record;
}

TEST(ExecutionGraph, AddsRecordsOfTheDlq) {
  const std::vector<TaskRecords> tasks = {
      {.task_id = "t1", .dead_letters = {Record("handler_error"), Record("")}}};
  const ExecutionGraph graph = BuildExecutionGraph(kShared, "t1", tasks).value();
  EXPECT_THAT(Arrows(graph), ElementsAre("task:t1 dead_lettered_to dlq:t1:record:1",
                                         "task:t1 dead_lettered_to dlq:t1:record:2"));
  EXPECT_EQ(NodeOf(graph, "dlq:t1:record:2").label, "q.dlq") << "without a reason";
  EXPECT_EQ(graph.summary.graph_completeness, "partial");
  // The members of the SDK's summary: without headers and body.
  const Object& annotations = NodeOf(graph, "dlq:t1:record:1").annotations;
  std::vector<std::string> names;
  for (const Object::Member& member : annotations.members()) names.push_back(member.name);
  EXPECT_THAT(
      names, ElementsAre("dlq_id", "queue_name", "source_queue_name", "retry_queue_name", "task_id",
                         "correlation_id", "reason", "exception_type", "retry_attempt",
                         "max_retries", "content_type", "body_encoding", "dead_lettered_at",
                         "state", "replay_count", "replayed_at", "replay_target_queue_name"));
  EXPECT_EQ(*annotations.Find("dead_lettered_at"), Value("2026-04-06T10:00:05Z"));
}

// Ids are joined by colons, and ids may have colons. The documented SDK skips the record.
TEST(ExecutionGraph, SkipsARecordWhoseIdIsTaken) {
  const ExecutionGraph graph =
      BuildExecutionGraph(kShared, "t1",
                          {{.task_id = "t1", .dead_letters = {Record("stored")}},
                           {.task_id = "t1:record",
                            .observations = {At("01", "ConsumerDeadLetterPublished",
                                                Object({{"reason", "seen"}}))}}},
                          {"t1:record"})
          .value();
  EXPECT_EQ(NodeOf(graph, "dlq:t1:record:1").label, "seen");
  EXPECT_THAT(Arrows(graph), ElementsAre("aggregation_child:t1:record aggregated_into task:t1"));
}

// Retries are numbered by their edges from attempts. A retry without an attempt has no edge, so the
// next retry gets the same id.
TEST(ExecutionGraph, MergesRetriesWithoutAnAttempt) {
  const ExecutionGraph graph =
      BuildExecutionGraph(
          kShared, "t1",
          {{.task_id = "t1",
            .observations = {At("01", "ConsumerRetryScheduled", Object({{"retry_attempt", 1}})),
                             At("02", "ConsumerRetryScheduled",
                                Object({{"retry_attempt", Value()}}))}}})
          .value();
  EXPECT_THAT(NodeIds(graph), ElementsAre("task:t1", "retry:t1:1"));
  const ExecutionGraphNode& retry = NodeOf(graph, "retry:t1:1");
  EXPECT_EQ(retry.label, "retry 1") << "of the first";
  EXPECT_EQ(*retry.annotations.Find("retry_attempt"), Value()) << "of the second";
  EXPECT_EQ(graph.summary.ended_at, "2026-04-06T10:00:01+00:00")
      << "the timestamp of a merged node does not count";
}

TEST(ExecutionGraph, OrdersTiesByEventIdAndThenAsGiven) {
  const std::vector<Value> statuses = {
      At("01", "", Object({{"status", "c"}, {"event_id", "b"}})),
      At("01", "", Object({{"status", "b"}, {"event_id", "a"}})),
      At("01", "", Object({{"status", "a"}})),
      At("01", "", Object({{"status", "a2"}})),
      At("01", "", Object({{"status", "none"}, {"event_id", Value()}})),  // Sorts as "None".
  };
  const ExecutionGraph graph =
      BuildExecutionGraph(kShared, "t1", {{.task_id = "t1", .statuses = statuses}}).value();
  std::vector<std::string> labels;
  for (const ExecutionGraphNode& node : graph.nodes) labels.push_back(*node.label);
  EXPECT_THAT(labels, ElementsAre("t1", "a", "a2", "none", "b", "c"));
  EXPECT_EQ(graph.summary.status, "c");
}

TEST(ExecutionGraph, KeepsRecordsWithoutTimestamps) {
  const ExecutionGraph graph =
      BuildExecutionGraph(kShared, "t1",
                          {{.task_id = "t1",
                            .statuses = {Json(R"({"status": " ", "meta": []})")},
                            .observations = {Json(R"({"event_type": "TaskMessageReceived"})"),
                                             Json(R"({"event_type": "Unknown"})"), Json("{}")}}})
          .value();
  EXPECT_THAT(NodeIds(graph), ElementsAre("status:t1:1", "task-attempt:t1:1", "task:t1"));
  EXPECT_EQ(NodeOf(graph, "task-attempt:t1:1").timestamp, "");
  EXPECT_EQ(graph.summary, (ExecutionGraphSummary{.status = std::nullopt,
                                                  .started_at = std::nullopt,
                                                  .ended_at = "",
                                                  .duration_ms = std::nullopt,
                                                  .graph_completeness = "full"}));
}

// Python multiplies the seconds, a float, by 1000: 1.001 * 1000 is a little less than 1001.
TEST(ExecutionGraph, RoundsTheDurationTowardsZero) {
  const auto duration = [](std::string_view from, std::string_view to) {
    return BuildExecutionGraph(kShared, "t1",
                               {{.task_id = "t1",
                                 .statuses = {StatusAt(to, "done")},
                                 .observations = {At(from, "TaskMessageReceived")}}})
        .value()
        .summary.duration_ms;
  };
  EXPECT_EQ(duration("00", "00.001999"), 1);
  EXPECT_EQ(duration("00", "00.000999"), 0);
  EXPECT_EQ(duration("00", "01.001"), 1000);
  EXPECT_EQ(duration("00", "02.001"), 2001);
}

TEST(ExecutionGraph, RefusesWhatPythonRefuses) {
  EXPECT_EQ(ErrorOf({{.task_id = "t1", .statuses = {Json("[]")}}}), "AttributeError");
  EXPECT_EQ(ErrorOf({{.task_id = "t1", .observations = {Json("1")}}}), "AttributeError");
  EXPECT_EQ(ErrorOf({{.task_id = "t1", .statuses = {Json(R"({"meta": 1})")}}}), "TypeError");
  EXPECT_EQ(ErrorOf({{.task_id = "t2", .statuses = {Json("{}")}}}), "KeyError");
  EXPECT_EQ(ErrorOf({{.task_id = "t2", .observations = {At("01", "TaskMessageReceived")}}}),
            "KeyError");
  EXPECT_EQ(ErrorOf({{.task_id = "t2", .dead_letters = {Record("x")}}}), "KeyError");
  EXPECT_EQ(ErrorOf({{.task_id = "t2",
                      .observations = {At("01", "WorkflowMessageReceived",
                                          Object({{"message_id", "m1"}}))}}}),
            "KeyError");
  EXPECT_EQ(ErrorOf({{.task_id = "t1", .statuses = {Json(R"({"timestamp": "noon"})")}}}),
            "ValueError");
  EXPECT_EQ(ErrorOf({{.task_id = "t1",
                      .statuses = {Json(R"({"timestamp": "2026-01-02T00:00:00Z"})"),
                                   Json(R"({"timestamp": "2026-01-01"})")}}}),
            "TypeError");
  EXPECT_FALSE(BuildExecutionGraph(kShared, "t1",
                                   {{.task_id = "t1", .statuses = {Json(R"({"status": [1]})")}}})
                   .ok());
  for (const std::string_view name : {"timestamp", "event_id", "event_type"}) {
    const Value record = Object({{std::string(name), python::Array{1}}});
    EXPECT_FALSE(
        BuildExecutionGraph(kShared, "t1", {{.task_id = "t1", .observations = {record}}}).ok())
        << name;
  }
}

// A message of an unknown task has a node without an edge, unlike any other observation.
TEST(ExecutionGraph, AcceptsPublicationsOfUnknownTasks) {
  const ExecutionGraph graph =
      BuildExecutionGraph(kWorkflow, "t1",
                          {{.task_id = "t2",
                            .observations = {At("01", "WorkflowMessagePublished",
                                                Object({{"message_id", "m1"}}))}}})
          .value();
  EXPECT_THAT(NodeIds(graph), ElementsAre("task:t1", "workflow-message:m1"));
  EXPECT_THAT(graph.edges, IsEmpty());
}

TEST(ExecutionGraph, NamesTheTopologies) {
  EXPECT_EQ(TopologyKind(kShared), "shared_tasks_shared_status");
  EXPECT_EQ(TopologyKind(ExecutionTopology::kSharedTasksShardedAggregation),
            "shared_tasks_shared_status_sharded_aggregation");
  EXPECT_EQ(TopologyKind(ExecutionTopology::kRoutedTasks), "routed_tasks_shared_status");
  EXPECT_EQ(TopologyKind(ExecutionTopology::kRoutedTasksShardedAggregation),
            "routed_tasks_shared_status_sharded_aggregation");
  EXPECT_EQ(TopologyKind(kWorkflow), "shared_status_workflow");
}

// The nodes differ in characters that Mermaid ids lack, so that their ids get numbers.
TEST(ExecutionGraph, WritesMermaid) {
  ExecutionGraph graph;
  graph.nodes = {{.id = "task:t-1", .kind = "task", .label = "t\"1"},
                 {.id = "task:té1", .kind = " ", .timestamp = "2026"},
                 {.id = "task:t_1", .kind = "", .label = ""},
                 {.id = "::", .kind = "retry", .label = "r"}};
  graph.edges = {{.source = "task:t-1", .target = "::", .kind = "a\"b"},
                 {.source = "task:t-1", .target = "unknown", .kind = "received_by"},
                 {.source = "unknown", .target = "::", .kind = "received_by"}};
  EXPECT_EQ(MermaidText(graph),
            "flowchart LR\n"
            "    node_task_t_1[\"t\\\"1\\ntask\"]\n"
            "    node_task_t_1_2[\"task:té1\\n2026\"]\n"
            "    node_task_t_1_3[\"task:t_1\"]\n"
            "    node_node[\"r\\nretry\"]\n"
            "    node_task_t_1 -->|a\\\"b| node_node");
}

TEST(ExecutionGraph, HasAView) {
  const ExecutionGraph graph = BuildExecutionGraph(kShared, "t1", {}, {"c1"}).value();
  const Value view = ExecutionView(graph);
  std::vector<std::string> names;
  for (const Object::Member& member : view.object()->members()) names.push_back(member.name);
  EXPECT_THAT(names, ElementsAre("task_id", "topology_kind", "summary", "related_task_ids", "graph",
                                 "mermaid"));
  EXPECT_EQ(*view.Find("graph"), ToValue(graph));
  EXPECT_EQ(*view.Find("related_task_ids"), Value(python::Array{"c1"}));
  EXPECT_THAT(*view.Find("mermaid")->text(), StartsWith("flowchart LR\n"));
}

// Observations of distinct times give one graph, whatever the order of their arrival.
RC_GTEST_PROP(ExecutionGraphProperty, DoesNotDependOnTheOrderOfArrival, ()) {
  static const std::vector<std::string> kTypes = {
      "TaskMessageReceived",     "ConsumerRetryScheduled",      "WorkflowMessagePublished",
      "WorkflowMessageReceived", "ConsumerDeadLetterPublished", "Other"};
  // At most 50, so that the seconds stay below 60.
  auto types = *rc::gen::container<std::vector<std::string>>(rc::gen::elementOf(kTypes));
  types.resize(std::min<size_t>(types.size(), 50));
  std::vector<Value> observations;
  for (size_t i = 0; i < types.size(); ++i) {
    observations.push_back(At(std::to_string(10 + i), types[i],
                              Object({{"message_id", *rc::gen::element("m1", "m2", "")},
                                      {"stage", *rc::gen::element("s1", "s2")},
                                      {"origin_stage", *rc::gen::element("s1", "")}})));
  }
  std::vector<Value> shuffled = observations;
  for (size_t i = shuffled.size(); i > 1; --i) {
    std::swap(shuffled[i - 1], shuffled[*rc::gen::inRange<size_t>(0, i)]);
  }
  const auto build = [](std::vector<Value> history) {
    return BuildExecutionGraph(kWorkflow, "t1",
                               {{.task_id = "t1", .observations = std::move(history)}});
  };
  const absl::StatusOr<ExecutionGraph> graph = build(observations);
  RC_ASSERT(graph.ok());
  RC_ASSERT(*graph == *build(shuffled));
}

}  // namespace
}  // namespace redouble::inline v0_1::relayna
