#include "redouble/sim/operations/relayna/relayna_operations.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/python/error.h"
#include "redouble/core/python/iso_time.h"
#include "redouble/core/relayna/dlq/dlq_replay_service.h"
#include "redouble/core/relayna/dlq/dlq_store.h"
#include "redouble/core/relayna/service_event_feed.h"
#include "redouble/core/relayna/tokens.h"
#include "redouble/core/relayna/workflow_contract_store.h"
#include "redouble/sim/operations/arguments.h"
#include "redouble/sim/operations/python_json.h"
#include "redouble/sim/operations/relayna/relayna_arguments.h"

namespace redouble::inline v0_1::scenarios {
namespace {

using python::Value;
using relayna::DlqRecord;
using relayna::DlqStore;
using relayna::Observation;
using relayna::ServiceEventFeed;
using relayna::WorkflowContract;
using relayna::WorkflowContractStore;
using sim::ArgumentReader;
using sim::Json;
using sim::OperationContext;
using sim::OperationResult;

OperationResult NullOr(const absl::Status& status) {
  REDOUBLE_RETURN_IF_ERROR(status);
  return Json();
}

OperationResult BoolOr(const absl::StatusOr<bool>& result) {
  REDOUBLE_RETURN_IF_ERROR(result.status());
  return Json(*result);
}

OperationResult ValuesOr(const absl::StatusOr<std::vector<Value>>& values) {
  REDOUBLE_RETURN_IF_ERROR(values.status());
  Json array = Json::array();
  for (const Value& value : *values) array.push_back(ToJson(value));
  return array;
}

OperationResult RecordOr(const absl::StatusOr<std::optional<DlqRecord>>& record) {
  REDOUBLE_RETURN_IF_ERROR(record.status());
  return *record ? ToJson(relayna::ToValue(**record)) : Json();
}

// Reads a store whose records have an owner.
template <typename Store, typename Options>
Store ReadOwnedStore(ArgumentReader& reader, OperationContext context, Options options = {}) {
  options.prefix = ReadPrefix(reader, options.prefix);
  options.ttl_seconds = ReadTtl(reader, options.ttl_seconds);
  options.hardening.owner_token = reader.OptionalString("owner_token").value_or("");
  return Store(context.store, std::move(options));
}

DlqStore ReadDlq(ArgumentReader& reader, OperationContext context) {
  relayna::DlqOptions options;
  options.hardening.atomic_marks = reader.BoolOr("atomic_marks", false);
  options.hardening.mark_before_publish = reader.BoolOr("mark_before_publish", false);
  options.hardening.forget_expired_ids = reader.BoolOr("forget_expired_ids", false);
  options.hardening.add_once = reader.BoolOr("add_once", false);
  return ReadOwnedStore<DlqStore>(reader, context, std::move(options));
}

WorkflowContractStore ReadWorkflow(ArgumentReader& reader, OperationContext context) {
  return ReadOwnedStore<WorkflowContractStore, relayna::WorkflowContractOptions>(reader, context);
}

// Reads a contract without its stage, which is not part of a signature.
WorkflowContract ReadAction(ArgumentReader& reader) {
  WorkflowContract contract;
  contract.task_id = reader.String("task_id");
  contract.action = reader.OptionalString("action");
  contract.payload = ToValue(reader.Any("payload"));
  contract.dedup_key_fields = reader.Strings("dedup_key_fields");
  return contract;
}

WorkflowContract ReadContract(ArgumentReader& reader) {
  WorkflowContract contract = ReadAction(reader);
  contract.stage = reader.String("stage");
  return contract;
}

// `event_type` is not a field of an observation: the store adds it.
Observation ReadObservation(ArgumentReader& reader) {
  Observation observation;
  observation.class_name = reader.String("cls");
  const Value fields = ToValue(reader.Any("fields"));
  if (observation.class_name == "dict" || fields.object() == nullptr) return observation;
  observation.fields = *fields.object();
  observation.fields->Erase("event_type");
  const Value* timestamp = observation.fields->Find("timestamp");
  if (timestamp == nullptr || timestamp->text() == nullptr) return observation;
  if (const auto time = python::ParseTimestamp(*timestamp->text(), absl::UTCTimeZone())) {
    observation.fields->Set("timestamp", python::DateTime{*time});
  }
  return observation;
}

std::optional<relayna::TraceContext> ReadTrace(ArgumentReader& reader) {
  const Json* trace = reader.Find("trace");
  if (trace == nullptr) return std::nullopt;
  ArgumentReader inner(*trace, "/trace");
  relayna::TraceContext context{inner.String("trace_id"), inner.String("span_id")};
  if (!inner.Finish().ok()) reader.Refuse("trace", "expected trace_id and span_id");
  return context;
}

base::Task<OperationResult> SetHistory(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  const std::string task_id = reader.String("task_id");
  const Value event = ToValue(reader.Any("event"));
  StatusArguments status(reader, context);
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());
  co_return NullOr(co_await status.store().SetHistory(task_id, event));
}

base::Task<OperationResult> GetHistory(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  const std::string task_id = reader.String("task_id");
  const std::optional<int64_t> limit = reader.OptionalInteger("limit");
  StatusArguments status(reader, context);
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());
  co_return ValuesOr(co_await status.store().GetHistory(task_id, limit));
}

base::Task<OperationResult> GetLatest(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  const std::string task_id = reader.String("task_id");
  StatusArguments status(reader, context);
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::optional<Value> latest,
                               co_await status.store().GetLatest(task_id));
  co_return latest ? ToJson(*latest) : Json();
}

base::Task<OperationResult> GetChildTaskIds(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  const std::string parent = reader.String("parent_task_id");
  const std::optional<int64_t> limit = reader.OptionalInteger("limit");
  StatusArguments status(reader, context);
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<std::string> ids,
                               co_await status.store().GetChildTaskIds(parent, limit));
  co_return Json(ids);
}

base::Task<OperationResult> EnsureStatusEventId(OperationContext, const Json& arguments) {
  ArgumentReader reader(arguments);
  const Value event = ToValue(reader.Any("event"));
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());
  REDOUBLE_CO_ASSIGN_OR_RETURN(const Value with_id, relayna::WithStatusEventId(event));
  co_return ToJson(with_id);
}

base::Task<OperationResult> SetObservation(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  const Observation observation = ReadObservation(reader);
  std::optional<relayna::TraceContext> trace = ReadTrace(reader);
  ObservationArguments observations(reader, context);
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());
  co_return BoolOr(co_await observations.store().SetEvent(observation, std::move(trace)));
}

base::Task<OperationResult> GetObservations(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  const std::string task_id = reader.String("task_id");
  const std::optional<int64_t> limit = reader.OptionalInteger("limit");
  ObservationArguments observations(reader, context);
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());
  co_return ValuesOr(co_await observations.store().GetHistory(task_id, limit));
}

base::Task<OperationResult> AddStatusEvent(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  const Value event = ToValue(reader.Any("event"));
  ServiceEventFeed feed(context.store, ReadFeedOptions(reader));
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());
  co_return BoolOr(co_await feed.AddStatusEvent(event));
}

base::Task<OperationResult> AddObservation(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  const Observation observation = ReadObservation(reader);
  ServiceEventFeed feed(context.store, ReadFeedOptions(reader));
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());
  co_return BoolOr(co_await feed.AddObservation(observation));
}

base::Task<OperationResult> GetFeed(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  relayna::FeedQuery query;
  query.after = reader.OptionalString("after");
  query.limit = reader.IntegerOr("limit", query.limit);
  ServiceEventFeed feed(context.store, ReadFeedOptions(reader));
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());
  REDOUBLE_CO_ASSIGN_OR_RETURN(const relayna::FeedPage page,
                               co_await feed.GetFeed(std::move(query)));
  Json items = Json::array();
  for (const Value& item : page.items) items.push_back(ToJson(item));
  co_return Json{{"count", page.items.size()},
                 {"items", std::move(items)},
                 {"next_cursor", ToJson(page.next_cursor)}};
}

base::Task<OperationResult> AddRecord(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  const absl::StatusOr<DlqRecord> record = relayna::DlqRecordOf(ToValue(reader.Any("record")));
  DlqStore dlq = ReadDlq(reader, context);
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());
  REDOUBLE_CO_RETURN_IF_ERROR(record.status());
  co_return NullOr(co_await dlq.Add(*record));
}

base::Task<OperationResult> GetRecord(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  const std::string dlq_id = reader.String("dlq_id");
  DlqStore dlq = ReadDlq(reader, context);
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());
  co_return RecordOr(co_await dlq.Get(dlq_id));
}

base::Task<OperationResult> ListRecords(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  relayna::DlqQuery query;
  query.cursor = reader.OptionalString("cursor");
  query.limit = reader.IntegerOr("limit", query.limit);
  query.queue_name = reader.OptionalString("queue_name");
  query.task_id = reader.OptionalString("task_id");
  query.reason = reader.OptionalString("reason");
  query.source_queue_name = reader.OptionalString("source_queue_name");
  query.state = reader.OptionalString("state");
  DlqStore dlq = ReadDlq(reader, context);
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());
  REDOUBLE_CO_ASSIGN_OR_RETURN(const relayna::DlqPage page,
                               co_await dlq.ListRecords(std::move(query)));
  Json records = Json::array();
  for (const DlqRecord& record : page.records) records.push_back(ToJson(relayna::ToValue(record)));
  co_return Json::array({std::move(records), ToJson(page.next_cursor)});
}

base::Task<OperationResult> SummarizeQueues(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  DlqStore dlq = ReadDlq(reader, context);
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<relayna::DlqQueueSummary> queues,
                               co_await dlq.SummarizeQueues());
  Json rows = Json::array();
  for (const relayna::DlqQueueSummary& queue : queues) {
    rows.push_back(Json::array(
        {queue.queue_name, queue.count, python::FormatIso(queue.last_dead_lettered_at)}));
  }
  co_return rows;
}

base::Task<OperationResult> ClaimReplay(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  const std::string dlq_id = reader.String("dlq_id");
  const bool force = reader.BoolOr("force", false);
  DlqStore dlq = ReadDlq(reader, context);
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());
  co_return RecordOr(co_await dlq.ClaimReplay(dlq_id, force));
}

base::Task<OperationResult> ReleaseReplayClaim(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  const std::string dlq_id = reader.String("dlq_id");
  DlqStore dlq = ReadDlq(reader, context);
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());
  co_return NullOr(co_await dlq.ReleaseReplayClaim(dlq_id));
}

base::Task<OperationResult> MarkReplayed(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  const std::string dlq_id = reader.String("dlq_id");
  relayna::DlqReplay replay;
  replay.replayed_at = reader.TimeOr("replayed_at", context.clock.Now());
  replay.target_queue_name = reader.OptionalString("target_queue_name").value_or("");
  DlqStore dlq = ReadDlq(reader, context);
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());
  co_return RecordOr(co_await dlq.MarkReplayed(dlq_id, std::move(replay)));
}

// A broker that accepts every message, or fails as the argument `publish_error` says: a text, or
// {"type", "message"}.
class ScriptedBroker final : public relayna::QueuePublisher {
 public:
  explicit ScriptedBroker(ArgumentReader& reader) {
    const Json* error = reader.Find("publish_error");
    if (error == nullptr) return;
    if (error->is_string()) {
      failure_ = absl::UnavailableError(error->get<std::string>());
      return;
    }
    ArgumentReader inner(*error, "/publish_error");
    const std::string type = inner.String("type");
    const std::string message = inner.String("message");
    failure_ = python::Error(absl::StatusCode::kUnavailable, type, message);
    if (!inner.Finish().ok()) reader.Refuse("publish_error", "expected type and message");
  }

  base::Task<absl::Status> Publish(relayna::QueueMessage) override { co_return failure_; }

 private:
  absl::Status failure_;
};

base::Task<OperationResult> ReplayMessage(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  relayna::DlqReplayRequest request;
  request.dlq_id = reader.String("dlq_id");
  request.now = reader.TimeOr("now", context.clock.Now());
  request.force = reader.BoolOr("force", false);
  ScriptedBroker broker(reader);
  DlqStore dlq = ReadDlq(reader, context);
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());
  relayna::DlqReplayService replays(dlq, broker);
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::optional<relayna::DlqReplayResult> replayed,
                               co_await replays.ReplayMessage(request));
  co_return replayed ? ToJson(relayna::ToValue(*replayed)) : Json();
}

base::Task<OperationResult> AcquireDedup(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  const WorkflowContract contract = ReadContract(reader);
  WorkflowContractStore contracts = ReadWorkflow(reader, context);
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());
  co_return BoolOr(co_await contracts.AcquireDedup(contract));
}

// The three operations without a result.
template <base::Task<absl::Status> (WorkflowContractStore::*kOperation)(const WorkflowContract&)>
base::Task<OperationResult> OnContract(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  const WorkflowContract contract = ReadContract(reader);
  WorkflowContractStore contracts = ReadWorkflow(reader, context);
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());
  co_return NullOr(co_await (contracts.*kOperation)(contract));
}

base::Task<OperationResult> Signature(OperationContext, const Json& arguments) {
  ArgumentReader reader(arguments);
  // The stage is not signed, but may be among the arguments of a contract.
  (void)reader.OptionalString("stage");
  const WorkflowContract contract = ReadAction(reader);
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string signature,
                               WorkflowContractStore::SignatureOf(contract));
  co_return Json(signature);
}

base::Task<OperationResult> ParseTimestamp(OperationContext, const Json& arguments) {
  ArgumentReader reader(arguments);
  const std::string value = reader.String("value");
  const int64_t zone_seconds = reader.IntegerOr("zone_seconds", 0);
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());
  const std::optional<absl::Time> time =
      python::ParseTimestamp(value, absl::FixedTimeZone(static_cast<int>(zone_seconds)));
  co_return time ? Json(python::FormatIso(*time)) : Json();
}

}  // namespace

sim::OperationTable RelaynaOperations() {
  sim::OperationTable table;
  table.Add("status.set_history", SetHistory);
  table.Add("status.get_history", GetHistory);
  table.Add("status.get_latest", GetLatest);
  table.Add("status.get_child_task_ids", GetChildTaskIds);
  table.Add("contracts.ensure_status_event_id", EnsureStatusEventId);
  table.Add("observation.set_event", SetObservation);
  table.Add("observation.get_history", GetObservations);
  table.Add("feed.add_status_event", AddStatusEvent);
  table.Add("feed.add_observation_event", AddObservation);
  table.Add("feed.get_feed", GetFeed);
  table.Add("dlq.add", AddRecord);
  table.Add("dlq.get", GetRecord);
  table.Add("dlq.list_records", ListRecords);
  table.Add("dlq.summarize_queues", SummarizeQueues);
  table.Add("dlq.claim_replay", ClaimReplay);
  table.Add("dlq.release_replay_claim", ReleaseReplayClaim);
  table.Add("dlq.mark_replayed", MarkReplayed);
  table.Add("dlq.replay_message", ReplayMessage);
  table.Add("workflow.acquire_dedup", AcquireDedup);
  table.Add("workflow.mark_inflight", OnContract<&WorkflowContractStore::MarkInflight>);
  table.Add("workflow.clear_inflight", OnContract<&WorkflowContractStore::ClearInflight>);
  table.Add("workflow.release_dedup", OnContract<&WorkflowContractStore::ReleaseDedup>);
  table.Add("workflow.signature", Signature);
  table.Add("timestamp.parse", ParseTimestamp);
  return table;
}

}  // namespace redouble::inline v0_1::scenarios
