#include "redouble/core/orchestrator/app/engine.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/orchestrator/approvals/approval_worker.h"
#include "redouble/core/orchestrator/document_reader.h"
#include "redouble/core/orchestrator/graph/ir.h"
#include "redouble/core/orchestrator/graph/workflow.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/store/decode.h"
#include "redouble/core/store/typed/hashes.h"
#include "redouble/core/store/typed/strings.h"

namespace redouble::inline v0_1::orchestrator {
namespace {

constexpr std::string_view kOutputField = ":output";

RunStatus StatusOf(RunResult::Status status) {
  switch (status) {
    case RunResult::Status::kCompleted:
      return RunStatus::kCompleted;
    case RunResult::Status::kFailed:
      return RunStatus::kFailed;
    case RunResult::Status::kCancelled:
      break;
  }
  return RunStatus::kCancelled;
}

CoordinatorOptions OptionsOf(const EngineSettings& settings, Artifacts& outputs,
                             OnFinish on_finish) {
  CoordinatorOptions options;
  options.queue.consumer = settings.instance;
  options.queue.block = settings.block;
  options.token_ids = settings.token_ids;
  options.run_ttl = settings.run_ttl;
  options.hardening = settings.hardening;
  options.on_finish = std::move(on_finish);
  options.stream_max_length = settings.stream_max_length;
  options.artifacts = &outputs;
  options.channels = settings.channels;
  return options;
}

ServiceOptions ServiceOptionsOf(const EngineSettings& settings) {
  return {.holder = settings.instance,
          .interval = settings.service_interval,
          .lease = settings.service_lease,
          .recover_after = settings.recover_after,
          .stuck_after = settings.stuck_after,
          .fail_stuck_runs = settings.fail_stuck_runs,
          .worker_group = settings.worker_group,
          .worker_min_idle = settings.worker_min_idle};
}

}  // namespace

absl::StatusOr<std::unique_ptr<Engine>> Engine::Create(store::Store& store, base::Clock& clock,
                                                       EngineStores stores,
                                                       const EngineSettings& settings) {
  REDOUBLE_RETURN_IF_ERROR(Keys(settings.key_layout).ProcessingSignals(settings.instance).status());
  if (settings.queue_shards < 1 || settings.queue_shards > kMaxQueueShards) {
    return absl::InvalidArgumentError(absl::StrCat("queue_shards: expected 1 to ", kMaxQueueShards,
                                                   ", got ", settings.queue_shards));
  }
  return std::unique_ptr<Engine>(new Engine(store, clock, stores, settings));
}

Engine::Engine(store::Store& store, base::Clock& clock, EngineStores stores,
               const EngineSettings& settings)
    : store_(store),
      clock_(clock),
      keys_(settings.key_layout, settings.queue_shards),
      stores_(stores),
      settings_(settings),
      coordinator_options_(OptionsOf(settings_, stores.outputs,
                                     [this](const RunResult& result) { return Record(result); })),
      coordinator_(store, clock, keys_, coordinator_options_),
      approvals_(store, clock, keys_,
                 {.run_ttl = settings_.run_ttl, .hardening = settings_.hardening}),
      monitor_(store, keys_),
      service_coordinator_(store, clock, keys_, coordinator_options_),
      service_(store, clock, keys_,
               {.coordinator = service_coordinator_,
                .approvals = approvals_,
                .workers = &workers_,
                .runs = &stores.runs},
               ServiceOptionsOf(settings_)) {}

base::Task<absl::StatusOr<RunStart>> Engine::StartRun(std::string_view run_id,
                                                      std::string_view ir) {
  REDOUBLE_CO_RETURN_IF_ERROR(keys_.Ir(run_id).status());
  REDOUBLE_CO_RETURN_IF_ERROR(ParseIr(ir).status());
  RunRecord record;
  record.run_id = std::string(run_id);
  record.ir = std::string(ir);
  record.started_at = clock_.Now();
  REDOUBLE_CO_ASSIGN_OR_RETURN(const bool inserted, co_await stores_.runs.Insert(record));
  if (inserted) co_return co_await CreateKeys(run_id, ir);
  REDOUBLE_CO_ASSIGN_OR_RETURN(auto found, co_await stores_.runs.Find(run_id));
  co_return co_await Restart(run_id, ir, found.value_or(record));
}

base::Task<absl::StatusOr<RunStart>> Engine::StartWorkflow(std::string_view run_id,
                                                           std::string_view source_json) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const Ir ir, CompileWorkflow(source_json));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string text, FormatIr(ir));
  co_return co_await StartRun(run_id, text);
}

// Starts a run that has a record: it is running, has ended, or its start was interrupted.
base::Task<absl::StatusOr<RunStart>> Engine::Restart(std::string_view run_id, std::string_view ir,
                                                     RunRecord record) {
  RunStart start;
  start.status = record.status;
  if (record.status != RunStatus::kRunning || record.cancel_requested) co_return start;
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string ir_key, keys_.Ir(run_id));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto graph, co_await store::Get(store_, ir_key));
  const absl::Duration age = clock_.Now() - record.started_at.value_or(clock_.Now());
  if (!graph && age >= settings_.run_ttl) {
    // The keys have expired; this is no interrupted start.
    start.status = RunStatus::kExpired;
    co_return start;
  }
  co_return co_await CreateKeys(run_id, ir);
}

base::Task<absl::StatusOr<RunStart>> Engine::CreateKeys(std::string_view run_id,
                                                        std::string_view ir) {
  // A coordinator of its own: the others may be at work.
  Coordinator coordinator(store_, clock_, keys_, coordinator_options_);
  REDOUBLE_CO_ASSIGN_OR_RETURN(const Started started, co_await coordinator.Start(run_id, ir));
  RunStart start;
  start.created = started.created;
  start.tokens = started.tokens;
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto record, co_await stores_.runs.Find(run_id));
  if (record) start.status = record->status;
  if (!started.created || started.completed || !record) co_return start;
  if (record->status == RunStatus::kRunning && !record->cancel_requested) co_return start;
  // The run was cancelled, or has already ended, before this call created its keys.
  NodeFailure reason = {"cancelled", "the run had ended before", false};
  REDOUBLE_CO_RETURN_IF_ERROR(
      (co_await coordinator.Abort(run_id, RunResult::Status::kCancelled, std::move(reason)))
          .status());
  start.created = false;
  if (start.status == RunStatus::kRunning) start.status = RunStatus::kCancelled;
  co_return start;
}

// Writes the result of a run to its record. The hook of the coordinator.
base::Task<absl::Status> Engine::Record(const RunResult& result) {
  std::vector<std::pair<std::string, std::string>> outputs;
  if (settings_.store_outputs) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(outputs, co_await OutputsOf(result.context));
  }
  const absl::Time now = clock_.Now();
  const auto change = [&result, &outputs, now](RunRecord& record) {
    const RunStatus status = StatusOf(result.status);
    const bool ended =
        record.status == RunStatus::kCompleted || record.status == RunStatus::kFailed;
    // A cancellation that came too late.
    if (ended && status == RunStatus::kCancelled) return;
    if (record.status != status) record.ended_at = now;
    record.status = status;
    record.cancel_requested = false;
    record.context = result.context;
    record.outputs = outputs;
    record.node_id = result.node_id;
    record.failure = result.failure;
  };
  co_return co_await stores_.runs.Update(result.run_id, change);
}

base::Task<absl::StatusOr<std::vector<std::pair<std::string, std::string>>>> Engine::OutputsOf(
    const HashFields& context) {
  std::vector<std::pair<std::string, std::string>> outputs;
  for (const auto& [field, ref] : context) {
    if (!field.ends_with(kOutputField)) continue;
    REDOUBLE_CO_ASSIGN_OR_RETURN(const auto output, co_await stores_.outputs.Get(ref));
    if (!output) continue;
    outputs.emplace_back(field.substr(0, field.size() - kOutputField.size()), *output);
  }
  co_return outputs;
}

base::Task<absl::StatusOr<std::optional<RunView>>> Engine::GetRun(std::string_view run_id) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string counter_key, keys_.Counter(run_id));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string pending_key, keys_.PendingApprovals(run_id));
  store::Batch batch(store::Batch::Atomicity::kPipeline);
  batch.Add(store::CommandId::kGet, {counter_key});
  batch.Add(store::CommandId::kSCard, {pending_key});
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<store::Reply> replies,
                               co_await store::Execute(store_, batch));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto text, store::DecodeStringOrNil(replies[0]));
  RunView view;
  REDOUBLE_CO_ASSIGN_OR_RETURN(view.pending_approvals, store::DecodeInteger(replies[1]));
  int64_t counter = 0;
  if (text && absl::SimpleAtoi(*text, &counter)) view.counter = counter;
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto record, co_await stores_.runs.Find(run_id));
  if (!record && !view.counter) co_return std::nullopt;
  view.record = record.value_or(RunRecord());
  view.record.run_id = std::string(run_id);
  co_return std::move(view);
}

base::Task<absl::StatusOr<std::vector<RunRecord>>> Engine::ListRuns(RunQuery query) {
  return stores_.runs.List(std::move(query));
}

base::Task<absl::StatusOr<CancelOutcome>> Engine::CancelRun(std::string_view run_id,
                                                            std::string_view reason) {
  REDOUBLE_CO_RETURN_IF_ERROR(keys_.Ir(run_id).status());
  NodeFailure failure = {"cancelled", std::string(reason), false};
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto before, co_await stores_.runs.Find(run_id));
  if (before && before->status == RunStatus::kRunning) {
    const auto request = [&failure](RunRecord& record) {
      if (record.status != RunStatus::kRunning) return;
      record.cancel_requested = true;
      record.failure = failure;
    };
    REDOUBLE_CO_RETURN_IF_ERROR(co_await stores_.runs.Update(run_id, request));
  } else if (before && before->status != RunStatus::kCancelled) {
    co_return CancelOutcome::kEnded;
  }
  Coordinator coordinator(store_, clock_, keys_, coordinator_options_);
  REDOUBLE_CO_ASSIGN_OR_RETURN(
      const bool ended, co_await coordinator.Abort(run_id, RunResult::Status::kCancelled, failure));
  if (!before) co_return ended ? CancelOutcome::kCancelled : CancelOutcome::kUnknown;
  // A run without keys: its start was interrupted, or it has expired.
  CancelOutcome outcome = CancelOutcome::kEnded;
  const absl::Time now = clock_.Now();
  const auto finish = [&outcome, now](RunRecord& record) {
    if (record.status == RunStatus::kRunning) {
      record.status = RunStatus::kCancelled;
      record.cancel_requested = false;
      record.ended_at = now;
    }
    outcome =
        record.status == RunStatus::kCancelled ? CancelOutcome::kCancelled : CancelOutcome::kEnded;
  };
  REDOUBLE_CO_RETURN_IF_ERROR(co_await stores_.runs.Update(run_id, finish));
  co_return outcome;
}

base::Task<absl::StatusOr<HashFields>> Engine::LoadContext(std::string_view run_id) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string key, keys_.Context(run_id));
  REDOUBLE_CO_ASSIGN_OR_RETURN(HashFields fields, co_await store::HGetAll(store_, key));
  std::sort(fields.begin(), fields.end());
  if (!fields.empty()) co_return std::move(fields);
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto record, co_await stores_.runs.Find(run_id));
  if (record) fields = record->context;
  co_return std::move(fields);
}

base::Task<absl::StatusOr<std::optional<std::string>>> Engine::NodeOutput(
    std::string_view run_id, std::string_view node_id) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string key, keys_.Context(run_id));
  const std::string field = absl::StrCat(base::ToAbsl(node_id), base::ToAbsl(kOutputField));
  REDOUBLE_CO_ASSIGN_OR_RETURN(std::optional<std::string> ref,
                               co_await store::HGet(store_, key, field));
  if (!ref) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(const auto record, co_await stores_.runs.Find(run_id));
    if (!record) co_return std::nullopt;
    for (const auto& [node, output] : record->outputs) {
      if (node == node_id) co_return output;
    }
    for (const auto& [name, value] : record->context) {
      if (name == field) ref = value;
    }
    if (!ref) co_return std::nullopt;
  }
  co_return co_await stores_.outputs.Get(*ref);
}

base::Task<absl::StatusOr<PatchOutcome>> Engine::Patch(std::string_view run_id,
                                                       std::string_view operations_json) {
  return PatchRun(store_, keys_, run_id, operations_json);
}

Worker& Engine::AddWorker(std::string_view type, std::string_view consumer, NodeFunction execute) {
  WorkerOptions options;
  options.type = std::string(type);
  options.group = settings_.worker_group;
  options.consumer = std::string(consumer);
  options.block = settings_.block;
  options.min_idle = settings_.worker_min_idle;
  options.keep_claims = settings_.worker_keep_claims;
  options.max_deliveries = settings_.worker_max_deliveries;
  options.reclaim_count = settings_.worker_reclaim_count;
  options.delete_acknowledged = settings_.worker_delete_acknowledged;
  options.hardening = settings_.hardening;
  workers_.push_back(
      std::make_unique<Worker>(store_, clock_, keys_, std::move(options), std::move(execute)));
  return *workers_.back();
}

Worker& Engine::AddApprovalWorker(std::string_view consumer) {
  return AddWorker("hitl", consumer, ApprovalFunction(approvals_));
}

base::Task<absl::StatusOr<int64_t>> Engine::RunUntilIdle() {
  int64_t total = 0;
  while (true) {
    int64_t handled = 0;
    for (const auto& worker : workers_) {
      REDOUBLE_CO_ASSIGN_OR_RETURN(const WorkReport report, co_await worker->Poll());
      handled += report.total();
    }
    while (true) {
      REDOUBLE_CO_ASSIGN_OR_RETURN(const auto outcome, co_await coordinator_.Poll());
      if (!outcome) break;
      ++handled;
    }
    if (handled == 0) co_return total;
    total += handled;
  }
}

}  // namespace redouble::inline v0_1::orchestrator
