#include "redouble/core/relayna/execution/execution_graph.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "absl/container/btree_map.h"
#include "absl/container/btree_set.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/python/error.h"
#include "redouble/core/python/iso_time.h"
#include "redouble/core/python/json.h"
#include "redouble/core/python/text.h"

namespace redouble::inline v0_1::relayna {
namespace {

using python::Object;
using python::Value;

Value MemberOf(const Value& item, std::string_view name) {
  const Value* const member = item.Find(name);
  return member == nullptr ? Value() : *member;
}

// The members of `item` with these names, null where it has none.
Object MembersOf(const Value& item, std::initializer_list<std::string_view> names) {
  Object members;
  for (const std::string_view name : names) members.Set(name, MemberOf(item, name));
  return members;
}

// The text of a member, or `otherwise` if it is falsy.
absl::StatusOr<std::string> TextOr(const Value& item, std::string_view name,
                                   std::string_view otherwise) {
  const Value member = MemberOf(item, name);
  if (!member.IsTruthy()) return std::string(otherwise);
  return python::TextOf(member);
}

absl::StatusOr<std::string> StrippedText(const Value& item, std::string_view name) {
  REDOUBLE_ASSIGN_OR_RETURN(const std::string text, TextOr(item, name, ""));
  return std::string(python::Strip(text));
}

// Unlike other members, an absent timestamp and a null are the empty text, and 0 is "0".
absl::StatusOr<std::string> TimestampOf(const Value& item) {
  const Value timestamp = MemberOf(item, "timestamp");
  if (timestamp.is_null()) return std::string();
  return python::TextOf(timestamp);
}

// The number of attempts before this one: 0 if the record does not say, but null if it says null.
Value RetryAttemptOf(const Value& item) {
  const Value* const attempt = item.Find("retry_attempt");
  return attempt == nullptr ? Value(0) : *attempt;
}

struct Record {
  std::string timestamp;
  std::string event_id;
  const Value* value;
};

// The records by timestamp and event id; equal ones stay in their order.
absl::StatusOr<std::vector<Record>> Sorted(const std::vector<Value>& values) {
  std::vector<Record> records;
  for (const Value& value : values) {
    if (value.object() == nullptr) {
      return python::Error(absl::StatusCode::kInvalidArgument, "AttributeError",
                           "a status or an observation is not an object");
    }
    REDOUBLE_ASSIGN_OR_RETURN(std::string timestamp, TimestampOf(value));
    const Value* const event_id = value.Find("event_id");
    REDOUBLE_ASSIGN_OR_RETURN(std::string id,
                              python::TextOf(event_id == nullptr ? Value("") : *event_id));
    records.push_back({std::move(timestamp), std::move(id), &value});
  }
  std::stable_sort(records.begin(), records.end(), [](const Record& a, const Record& b) {
    return std::tie(a.timestamp, a.event_id) < std::tie(b.timestamp, b.event_id);
  });
  return records;
}

absl::StatusOr<python::DateTime> ParsedTimestamp(const std::string& text) {
  const std::optional<python::DateTime> time = python::ParseDateTime(text);
  if (time) return *time;
  return python::ValueError(absl::StrCat("Invalid isoformat string: '", text, "'"));
}

// Whole milliseconds from one timestamp to another, rounded towards zero from the float that
// timedelta.total_seconds returns.
absl::StatusOr<int64_t> DurationMs(const std::string& from, const std::string& to) {
  REDOUBLE_ASSIGN_OR_RETURN(const python::DateTime start, ParsedTimestamp(from));
  REDOUBLE_ASSIGN_OR_RETURN(const python::DateTime end, ParsedTimestamp(to));
  if (start.offset.has_value() != end.offset.has_value()) {
    return python::TypeError("can't subtract offset-naive and offset-aware datetimes");
  }
  const auto microseconds = static_cast<double>(absl::ToInt64Microseconds(end.time - start.time));
  return static_cast<int64_t>(microseconds / 1e6 * 1000);
}

// What the SDK's summary of a DLQ record has, as JSON values.
absl::StatusOr<Object> SummaryOf(const DlqRecord& record) {
  Value value = ToValue(record);
  for (const std::string_view name : {"headers", "body", "raw_body_b64"}) {
    value.object()->Erase(name);
  }
  REDOUBLE_ASSIGN_OR_RETURN(const std::string text, python::PydanticJson(value));
  REDOUBLE_ASSIGN_OR_RETURN(value, python::ParseJson(text));
  return std::move(*value.object());
}

class GraphBuilder {
 public:
  GraphBuilder(ExecutionTopology topology, std::string_view task_id)
      : topology_(topology), task_id_(task_id) {}

  void AddTasks(const absl::btree_set<std::string>& children);
  absl::Status AddObservations(const TaskRecords& task);
  absl::Status AddStatuses(const TaskRecords& task);
  void LinkRetries();
  absl::Status AddDeadLetters(const TaskRecords& task);
  absl::StatusOr<ExecutionGraph> Finish(const std::vector<TaskRecords>& tasks);

 private:
  // A node, by its place in nodes_. The order of attempts is that in which they were found.
  using Place = size_t;
  using Attempts = std::vector<Place>;

  struct PendingRetry {
    std::string task_id;
    std::string node_id;
    std::string timestamp;
  };

  Place AddNode(ExecutionGraphNode node);
  void AddEdge(std::string source, std::string target, std::string_view kind,
               std::optional<std::string> timestamp, Object annotations = {});
  absl::StatusOr<std::string> TaskNode(const std::string& task_id) const;
  Place AddMessage(const std::string& task_id, const Record& record, const std::string& message_id,
                   const std::string& label);

  absl::Status AddObservation(const std::string& task_id, const Record& record);
  absl::Status AddTaskAttempt(const std::string& task_id, const Record& record);
  absl::Status AddPublication(const std::string& task_id, const Record& record);
  absl::Status AddStageAttempt(const std::string& task_id, const Record& record);
  absl::Status AddRetry(const std::string& task_id, const Record& record);
  absl::Status AddDeadLetterEvent(const std::string& task_id, const Record& record);
  absl::Status AddStatus(const std::string& task_id, size_t number, const Record& record);
  absl::StatusOr<std::string> StatusSource(const std::string& task_id,
                                           const std::string& timestamp) const;
  absl::StatusOr<ExecutionGraphSummary> Summary(const std::vector<TaskRecords>& tasks) const;

  const std::string& TimestampAt(Place place) const { return *nodes_[place].timestamp; }
  const std::string& IdAt(Place place) const { return nodes_[place].id; }
  Attempts StageAttempts(const std::string& stage) const;
  std::optional<Place> LastUntil(const Attempts& attempts, const std::string& timestamp) const;
  std::optional<Place> LatestAttempt(const std::string& task_id,
                                     const std::string& timestamp) const;
  std::optional<Place> NextAttempt(const std::string& task_id, const std::string& timestamp) const;

  const ExecutionTopology topology_;
  const std::string task_id_;
  std::vector<ExecutionGraphNode> nodes_;
  std::vector<ExecutionGraphEdge> edges_;
  absl::btree_map<std::string, Place> places_;  // By the id of the node.
  std::vector<std::string> timestamps_;         // Of new nodes and of edges, without empty ones.
  absl::btree_map<std::string, std::string> task_nodes_;
  absl::btree_map<std::string, Attempts> attempts_;
  Attempts stage_attempts_;  // Of all tasks.
  absl::btree_set<std::string> messages_;
  absl::btree_map<std::string, size_t> retries_;       // Edges to retries, by task.
  absl::btree_map<std::string, size_t> dead_letters_;  // Nodes, by task.
  std::vector<PendingRetry> pending_retries_;
  absl::btree_set<std::string> task_types_;
};

// Ids can collide: a message is published twice, retries have no attempt, or colons in ids make two
// ids equal. The first node stays, with the annotations of both.
GraphBuilder::Place GraphBuilder::AddNode(ExecutionGraphNode node) {
  const auto [it, is_new] = places_.try_emplace(node.id, nodes_.size());
  if (!is_new) {
    for (const Object::Member& member : node.annotations.members()) {
      nodes_[it->second].annotations.Set(member.name, member.value);
    }
    return it->second;
  }
  if (!node.timestamp.value_or("").empty()) timestamps_.push_back(*node.timestamp);
  nodes_.push_back(std::move(node));
  return it->second;
}

void GraphBuilder::AddEdge(std::string source, std::string target, std::string_view kind,
                           std::optional<std::string> timestamp, Object annotations) {
  if (!timestamp.value_or("").empty()) timestamps_.push_back(*timestamp);
  edges_.push_back({.source = std::move(source),
                    .target = std::move(target),
                    .kind = std::string(kind),
                    .timestamp = std::move(timestamp),
                    .annotations = std::move(annotations)});
}

absl::StatusOr<std::string> GraphBuilder::TaskNode(const std::string& task_id) const {
  const auto it = task_nodes_.find(task_id);
  if (it != task_nodes_.end()) return it->second;
  return python::Error(absl::StatusCode::kInvalidArgument, "KeyError",
                       absl::StrCat("'", task_id, "'"));
}

void GraphBuilder::AddTasks(const absl::btree_set<std::string>& children) {
  const auto add = [this](const std::string& task_id, std::string_view kind) {
    const Place place = AddNode({.id = absl::StrCat(base::ToAbsl(kind), ":", task_id),
                                 .kind = std::string(kind),
                                 .task_id = task_id,
                                 .label = task_id,
                                 .timestamp = std::nullopt,
                                 .annotations = {}});
    return task_nodes_[task_id] = IdAt(place);
  };
  const std::string root = add(task_id_, "task");
  for (const std::string& child : children) {
    AddEdge(add(child, "aggregation_child"), root, "aggregated_into", std::nullopt);
  }
}

// The attempts of one stage, of all tasks.
GraphBuilder::Attempts GraphBuilder::StageAttempts(const std::string& stage) const {
  Attempts attempts;
  for (const Place place : stage_attempts_) {
    if (*nodes_[place].annotations.Find("stage") == Value(stage)) attempts.push_back(place);
  }
  return attempts;
}

std::optional<GraphBuilder::Place> GraphBuilder::LastUntil(const Attempts& attempts,
                                                           const std::string& timestamp) const {
  const auto last = std::find_if(attempts.rbegin(), attempts.rend(),
                                 [&](Place place) { return TimestampAt(place) <= timestamp; });
  return last == attempts.rend() ? std::nullopt : std::optional<Place>(*last);
}

// The last attempt that had begun, else the first one.
std::optional<GraphBuilder::Place> GraphBuilder::LatestAttempt(const std::string& task_id,
                                                               const std::string& timestamp) const {
  const auto attempts = attempts_.find(task_id);
  if (attempts == attempts_.end()) return std::nullopt;
  const std::optional<Place> last = LastUntil(attempts->second, timestamp);
  return last ? last : attempts->second.front();
}

std::optional<GraphBuilder::Place> GraphBuilder::NextAttempt(const std::string& task_id,
                                                             const std::string& timestamp) const {
  const auto attempts = attempts_.find(task_id);
  if (attempts == attempts_.end()) return std::nullopt;
  const auto next = std::find_if(attempts->second.begin(), attempts->second.end(),
                                 [&](Place place) { return TimestampAt(place) > timestamp; });
  return next == attempts->second.end() ? std::nullopt : std::optional<Place>(*next);
}

absl::Status GraphBuilder::AddObservations(const TaskRecords& task) {
  REDOUBLE_ASSIGN_OR_RETURN(const std::vector<Record> records, Sorted(task.observations));
  for (const Record& record : records) {
    REDOUBLE_RETURN_IF_ERROR(AddObservation(task.task_id, record));
  }
  return absl::OkStatus();
}

absl::Status GraphBuilder::AddObservation(const std::string& task_id, const Record& record) {
  struct Handler {
    std::string_view event_type;
    absl::Status (GraphBuilder::*add)(const std::string&, const Record&);
  };
  static constexpr Handler kHandlers[] = {
      {"TaskMessageReceived", &GraphBuilder::AddTaskAttempt},
      {"AggregationMessageReceived", &GraphBuilder::AddTaskAttempt},
      {"WorkflowMessagePublished", &GraphBuilder::AddPublication},
      {"WorkflowMessageReceived", &GraphBuilder::AddStageAttempt},
      {"ConsumerRetryScheduled", &GraphBuilder::AddRetry},
      {"AggregationRetryScheduled", &GraphBuilder::AddRetry},
      {"ConsumerDeadLetterPublished", &GraphBuilder::AddDeadLetterEvent},
      {"AggregationDeadLetterPublished", &GraphBuilder::AddDeadLetterEvent},
  };
  REDOUBLE_ASSIGN_OR_RETURN(const std::string event_type, TextOr(*record.value, "event_type", ""));
  for (const Handler& handler : kHandlers) {
    if (handler.event_type == event_type) return (this->*handler.add)(task_id, record);
  }
  return absl::OkStatus();
}

absl::Status GraphBuilder::AddTaskAttempt(const std::string& task_id, const Record& record) {
  REDOUBLE_ASSIGN_OR_RETURN(std::string task_node, TaskNode(task_id));
  Object annotations = MembersOf(*record.value, {"queue_name", "correlation_id", "retry_attempt",
                                                 "task_type", "parent_task_id", "consumer_name"});
  annotations.Set("retry_attempt", RetryAttemptOf(*record.value));
  const Value task_type = *annotations.Find("task_type");
  if (task_type.text() != nullptr) {
    const std::string_view text = python::Strip(*task_type.text());
    if (!text.empty()) task_types_.emplace(text);
  }
  Attempts& attempts = attempts_[task_id];
  const size_t number = attempts.size() + 1;
  const Place place = AddNode({.id = absl::StrCat("task-attempt:", task_id, ":", number),
                               .kind = "task_attempt",
                               .task_id = task_id,
                               .label = absl::StrCat(task_id, " attempt ", number),
                               .timestamp = record.timestamp,
                               .annotations = std::move(annotations)});
  attempts.push_back(place);
  AddEdge(std::move(task_node), IdAt(place), "received_by", record.timestamp);
  return absl::OkStatus();
}

GraphBuilder::Place GraphBuilder::AddMessage(const std::string& task_id, const Record& record,
                                             const std::string& message_id,
                                             const std::string& label) {
  Object annotations = MembersOf(*record.value, {"message_id", "stage", "origin_stage",
                                                 "routing_key", "queue_name", "correlation_id"});
  annotations.Set("message_id", message_id);
  messages_.insert(message_id);
  return AddNode({.id = absl::StrCat("workflow-message:", message_id),
                  .kind = "workflow_message",
                  .task_id = task_id,
                  .label = label,
                  .timestamp = record.timestamp,
                  .annotations = std::move(annotations)});
}

absl::Status GraphBuilder::AddPublication(const std::string& task_id, const Record& record) {
  REDOUBLE_ASSIGN_OR_RETURN(const std::string message_id,
                            StrippedText(*record.value, "message_id"));
  if (message_id.empty()) return absl::OkStatus();
  REDOUBLE_ASSIGN_OR_RETURN(const std::string label, TextOr(*record.value, "stage", message_id));
  REDOUBLE_ASSIGN_OR_RETURN(const std::string origin, StrippedText(*record.value, "origin_stage"));
  const Place message = AddMessage(task_id, record, message_id, label);
  if (!origin.empty()) {
    const std::optional<Place> source = LastUntil(StageAttempts(origin), record.timestamp);
    if (source) {
      AddEdge(IdAt(*source), IdAt(message), "stage_transitioned_to", record.timestamp);
    }
    return absl::OkStatus();
  }
  const absl::StatusOr<std::string> task_node = TaskNode(task_id);
  if (task_node.ok()) AddEdge(*task_node, IdAt(message), "received_by", record.timestamp);
  return absl::OkStatus();
}

absl::Status GraphBuilder::AddStageAttempt(const std::string& task_id, const Record& record) {
  REDOUBLE_ASSIGN_OR_RETURN(const std::string message_id,
                            StrippedText(*record.value, "message_id"));
  REDOUBLE_ASSIGN_OR_RETURN(const std::string label, TextOr(*record.value, "stage", message_id));
  if (!message_id.empty() && !messages_.contains(message_id)) {
    REDOUBLE_ASSIGN_OR_RETURN(std::string task_node, TaskNode(task_id));
    const Place message = AddMessage(task_id, record, message_id, label);
    AddEdge(std::move(task_node), IdAt(message), "received_by", record.timestamp);
  }
  REDOUBLE_ASSIGN_OR_RETURN(const std::string stage, TextOr(*record.value, "stage", "unknown"));
  const size_t number = StageAttempts(stage).size() + 1;
  Object annotations =
      MembersOf(*record.value, {"stage", "message_id", "origin_stage", "queue_name",
                                "correlation_id", "retry_attempt", "consumer_name"});
  annotations.Set("stage", stage);
  annotations.Set("message_id", message_id.empty() ? Value() : Value(message_id));
  annotations.Set("retry_attempt", RetryAttemptOf(*record.value));
  const Place attempt =
      AddNode({.id = absl::StrCat("stage-attempt:", task_id, ":", stage, ":", number),
               .kind = "stage_attempt",
               .task_id = task_id,
               .label = absl::StrCat(stage, " attempt ", number),
               .timestamp = record.timestamp,
               .annotations = std::move(annotations)});
  stage_attempts_.push_back(attempt);
  if (!message_id.empty()) {
    AddEdge(absl::StrCat("workflow-message:", message_id), IdAt(attempt), "entered_stage",
            record.timestamp);
  }
  return absl::OkStatus();
}

absl::Status GraphBuilder::AddRetry(const std::string& task_id, const Record& record) {
  REDOUBLE_ASSIGN_OR_RETURN(const std::string attempt,
                            python::TextOf(RetryAttemptOf(*record.value)));
  Object annotations = MembersOf(
      *record.value, {"queue_name", "source_queue_name", "retry_attempt", "max_retries", "reason"});
  annotations.Set("task_id", task_id);
  const Place retry = AddNode({.id = absl::StrCat("retry:", task_id, ":", retries_[task_id] + 1),
                               .kind = "retry",
                               .task_id = task_id,
                               .label = absl::StrCat("retry ", attempt),
                               .timestamp = record.timestamp,
                               .annotations = std::move(annotations)});
  if (const std::optional<Place> source = LatestAttempt(task_id, record.timestamp)) {
    AddEdge(IdAt(*source), IdAt(retry), "retried_as", record.timestamp,
            Object({{"task_id", task_id}}));
    ++retries_[task_id];
  }
  pending_retries_.push_back({task_id, IdAt(retry), record.timestamp});
  return absl::OkStatus();
}

absl::Status GraphBuilder::AddDeadLetterEvent(const std::string& task_id, const Record& record) {
  REDOUBLE_ASSIGN_OR_RETURN(const std::string label, TextOr(*record.value, "reason", "dlq"));
  const Place dead_letter = AddNode(
      {.id = absl::StrCat("dlq:", task_id, ":", ++dead_letters_[task_id]),
       .kind = "dlq_record",
       .task_id = task_id,
       .label = label,
       .timestamp = record.timestamp,
       .annotations = MembersOf(*record.value, {"queue_name", "source_queue_name", "retry_attempt",
                                                "max_retries", "reason"})});
  if (const std::optional<Place> source = LatestAttempt(task_id, record.timestamp)) {
    AddEdge(IdAt(*source), IdAt(dead_letter), "dead_lettered_to", record.timestamp);
  }
  return absl::OkStatus();
}

absl::Status GraphBuilder::AddStatuses(const TaskRecords& task) {
  REDOUBLE_ASSIGN_OR_RETURN(const std::vector<Record> records, Sorted(task.statuses));
  for (size_t i = 0; i < records.size(); ++i) {
    REDOUBLE_RETURN_IF_ERROR(AddStatus(task.task_id, i + 1, records[i]));
  }
  return absl::OkStatus();
}

// In a workflow a status belongs to the last attempt of any stage of any task.
absl::StatusOr<std::string> GraphBuilder::StatusSource(const std::string& task_id,
                                                       const std::string& timestamp) const {
  const std::optional<Place> attempt = topology_ == ExecutionTopology::kWorkflow
                                           ? LastUntil(stage_attempts_, timestamp)
                                           : LatestAttempt(task_id, timestamp);
  if (attempt) return IdAt(*attempt);
  return TaskNode(task_id);
}

absl::Status GraphBuilder::AddStatus(const std::string& task_id, size_t number,
                                     const Record& record) {
  const Value meta = MemberOf(*record.value, "meta");
  if (meta.IsTruthy() && meta.object() == nullptr) {
    return python::TypeError("the meta of a status is not an object");
  }
  REDOUBLE_ASSIGN_OR_RETURN(const std::string label, TextOr(*record.value, "status", "status"));
  REDOUBLE_ASSIGN_OR_RETURN(std::string source, StatusSource(task_id, record.timestamp));
  Object annotations = MembersOf(*record.value, {"status", "message"});
  annotations.Set("meta", meta.object() == nullptr ? Value(Object()) : meta);
  const Place status = AddNode({.id = absl::StrCat("status:", task_id, ":", number),
                                .kind = "status_event",
                                .task_id = task_id,
                                .label = label,
                                .timestamp = record.timestamp,
                                .annotations = std::move(annotations)});
  AddEdge(std::move(source), IdAt(status), "published_status", record.timestamp);
  if (python::Lower(label) != "manual_retrying") return absl::OkStatus();
  const std::optional<Place> from = LatestAttempt(task_id, record.timestamp);
  const std::optional<Place> to = NextAttempt(task_id, record.timestamp);
  if (from && to) AddEdge(IdAt(*from), IdAt(*to), "manual_retry_to", record.timestamp);
  return absl::OkStatus();
}

void GraphBuilder::LinkRetries() {
  for (const PendingRetry& retry : pending_retries_) {
    const std::optional<Place> next = NextAttempt(retry.task_id, retry.timestamp);
    if (next) AddEdge(retry.node_id, IdAt(*next), "received_by", TimestampAt(*next));
  }
}

absl::Status GraphBuilder::AddDeadLetters(const TaskRecords& task) {
  size_t number = 0;
  for (const DlqRecord& record : task.dead_letters) {
    const std::string id = absl::StrCat("dlq:", task.task_id, ":record:", ++number);
    if (places_.contains(id)) continue;
    REDOUBLE_ASSIGN_OR_RETURN(Object summary, SummaryOf(record));
    const std::string timestamp = *summary.Find("dead_lettered_at")->text();
    const std::string& name = record.reason.empty() ? record.queue_name : record.reason;
    const std::optional<Place> attempt = LatestAttempt(task.task_id, timestamp);
    std::string source;
    if (attempt) {
      source = IdAt(*attempt);
    } else {
      REDOUBLE_ASSIGN_OR_RETURN(source, TaskNode(task.task_id));
    }
    AddNode({.id = id,
             .kind = "dlq_record",
             .task_id = task.task_id,
             .label = name.empty() ? "dlq" : name,
             .timestamp = timestamp,
             .annotations = std::move(summary)});
    AddEdge(std::move(source), id, "dead_lettered_to", timestamp);
  }
  return absl::OkStatus();
}

absl::StatusOr<ExecutionGraphSummary> GraphBuilder::Summary(
    const std::vector<TaskRecords>& tasks) const {
  ExecutionGraphSummary summary;
  for (const TaskRecords& task : tasks) {
    if (!task.observations.empty()) summary.graph_completeness = "full";
    if (task.task_id != task_id_ || task.statuses.empty()) continue;
    REDOUBLE_ASSIGN_OR_RETURN(const std::vector<Record> statuses, Sorted(task.statuses));
    REDOUBLE_ASSIGN_OR_RETURN(const std::string status,
                              StrippedText(*statuses.back().value, "status"));
    if (!status.empty()) summary.status = status;
    summary.ended_at = statuses.back().timestamp;
  }
  if (!timestamps_.empty()) {
    const auto [first, last] = std::minmax_element(timestamps_.begin(), timestamps_.end());
    summary.started_at = *first;
    if (!summary.ended_at) summary.ended_at = *last;
  }
  if (summary.started_at && !summary.ended_at.value_or("").empty()) {
    REDOUBLE_ASSIGN_OR_RETURN(summary.duration_ms,
                              DurationMs(*summary.started_at, *summary.ended_at));
  }
  return summary;
}

absl::StatusOr<ExecutionGraph> GraphBuilder::Finish(const std::vector<TaskRecords>& tasks) {
  ExecutionGraph graph;
  graph.task_id = task_id_;
  graph.topology_kind = std::string(TopologyKind(topology_));
  REDOUBLE_ASSIGN_OR_RETURN(graph.summary, Summary(tasks));
  if (!task_types_.empty()) {
    graph.annotations.Set("task_types", python::Array(task_types_.begin(), task_types_.end()));
  }
  graph.nodes = std::move(nodes_);
  std::sort(graph.nodes.begin(), graph.nodes.end(),
            [](const ExecutionGraphNode& a, const ExecutionGraphNode& b) {
              return std::tuple(a.timestamp.value_or(""), a.id) <
                     std::tuple(b.timestamp.value_or(""), b.id);
            });
  graph.edges = std::move(edges_);
  std::stable_sort(graph.edges.begin(), graph.edges.end(),
                   [](const ExecutionGraphEdge& a, const ExecutionGraphEdge& b) {
                     return std::tuple(a.timestamp.value_or(""), a.kind, a.source, a.target) <
                            std::tuple(b.timestamp.value_or(""), b.kind, b.source, b.target);
                   });
  return graph;
}

}  // namespace

std::string_view TopologyKind(ExecutionTopology topology) {
  switch (topology) {
    case ExecutionTopology::kSharedTasks:
      return "shared_tasks_shared_status";
    case ExecutionTopology::kSharedTasksShardedAggregation:
      return "shared_tasks_shared_status_sharded_aggregation";
    case ExecutionTopology::kRoutedTasks:
      return "routed_tasks_shared_status";
    case ExecutionTopology::kRoutedTasksShardedAggregation:
      return "routed_tasks_shared_status_sharded_aggregation";
    case ExecutionTopology::kWorkflow:
      return "shared_status_workflow";
  }
  return "";
}

absl::StatusOr<ExecutionGraph> BuildExecutionGraph(ExecutionTopology topology,
                                                   std::string_view task_id,
                                                   const std::vector<TaskRecords>& tasks,
                                                   const std::vector<std::string>& children) {
  absl::btree_set<std::string> related(children.begin(), children.end());
  related.erase("");
  related.erase(std::string(task_id));
  GraphBuilder builder(topology, task_id);
  builder.AddTasks(related);
  for (const TaskRecords& task : tasks) {
    REDOUBLE_RETURN_IF_ERROR(builder.AddObservations(task));
  }
  // Nodes and edges are sorted at the end, and a status looks at attempts only: the order of the
  // tasks does not matter here.
  for (const TaskRecords& task : tasks) {
    REDOUBLE_RETURN_IF_ERROR(builder.AddStatuses(task));
  }
  builder.LinkRetries();
  for (const TaskRecords& task : tasks) {
    REDOUBLE_RETURN_IF_ERROR(builder.AddDeadLetters(task));
  }
  REDOUBLE_ASSIGN_OR_RETURN(ExecutionGraph graph, builder.Finish(tasks));
  graph.related_task_ids.assign(related.begin(), related.end());
  return graph;
}

}  // namespace redouble::inline v0_1::relayna
