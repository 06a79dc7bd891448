#include "redouble/sim/operations/orchestrator/orchestrator_operations.h"

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/orchestrator/approvals/approvals.h"
#include "redouble/core/orchestrator/events/run_events.h"
#include "redouble/core/orchestrator/graph/patch.h"
#include "redouble/core/orchestrator/result_cache.h"
#include "redouble/core/orchestrator/run/coordinator.h"
#include "redouble/core/orchestrator/run/monitor.h"
#include "redouble/core/orchestrator/run/worker.h"
#include "redouble/core/orchestrator/scripts/scripts.h"
#include "redouble/sim/operations/arguments.h"
#include "redouble/sim/operations/key_layout.h"
#include "redouble/sim/operations/orchestrator/unguarded_store.h"

namespace redouble::inline v0_1::scenarios {
namespace {

using orchestrator::Approvals;
using orchestrator::Coordinator;
using orchestrator::Keys;
using orchestrator::NodeResult;
using orchestrator::Token;
using orchestrator::Worker;
using sim::ArgumentReader;
using sim::Json;
using sim::OperationContext;
using sim::OperationResult;

Keys ReadKeys(ArgumentReader& reader) { return Keys(sim::ReadKeyLayout(reader)); }

std::string TextOr(ArgumentReader& reader, std::string_view name, std::string_view otherwise) {
  return reader.OptionalString(name).value_or(std::string(otherwise));
}

// Returns the argument as JSON text; empty if it is absent.
std::string JsonTextOr(ArgumentReader& reader, std::string_view name) {
  const Json* const json = reader.Find(name);
  return json == nullptr ? "" : json->dump();
}

OperationResult OkOr(const absl::Status& status) {
  REDOUBLE_RETURN_IF_ERROR(status);
  return Json("ok");
}

template <typename T>
OperationResult ValueOr(const absl::StatusOr<T>& value) {
  REDOUBLE_RETURN_IF_ERROR(value.status());
  return Json(*value);
}

// A guarded step of the library that an operation can leave out.
struct Guard {
  std::string_view argument;  // False: without it.
  Unguarded unguarded;
};

// Returns which step is left out. Refuses more than one.
Unguarded ReadUnguarded(ArgumentReader& reader, std::initializer_list<Guard> guards) {
  Unguarded unguarded = Unguarded::kNone;
  for (const Guard& guard : guards) {
    if (reader.BoolOr(guard.argument, true)) continue;
    if (unguarded != Unguarded::kNone)
      reader.Refuse(guard.argument, "one step at most is left out");
    unguarded = guard.unguarded;
  }
  return unguarded;
}

orchestrator::CoordinatorOptions OptionsOf(std::string consumer) {
  orchestrator::CoordinatorOptions options;
  options.queue.consumer = std::move(consumer);
  options.token_ids = orchestrator::TokenIdForm::kPath;
  return options;
}

std::string_view KindName(orchestrator::SignalOutcome::Kind kind) {
  using Kind = orchestrator::SignalOutcome::Kind;
  switch (kind) {
    case Kind::kCommitted:
      return "committed";
    case Kind::kDuplicate:
      return "duplicate";
    case Kind::kRunGone:
      return "run_gone";
    case Kind::kMalformed:
      return "malformed";
    case Kind::kRefused:
      return "refused";
    case Kind::kRunFailed:
      return "run_failed";
  }
  return "";
}

base::Task<OperationResult> StartRun(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  const Keys keys = ReadKeys(reader);
  const std::string run_id = reader.String("run_id");
  const Json& ir = reader.Any("ir");
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());
  Coordinator coordinator(context.store, context.clock, keys, OptionsOf("main"));
  const std::string text = ir.is_string() ? ir.get<std::string>() : ir.dump();
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto started, co_await coordinator.Start(run_id, text));
  co_return Json{
      {"created", started.created}, {"tokens", started.tokens}, {"completed", started.completed}};
}

base::Task<OperationResult> ProcessSignal(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  const Keys keys = ReadKeys(reader);
  const std::string consumer = TextOr(reader, "consumer", "c1");
  orchestrator::CoordinatorOptions options = OptionsOf(consumer);
  options.hardening.reliable_pop = reader.BoolOr("reliable_pop", true);
  options.hardening.atomic_hops = reader.BoolOr("atomic_hops", false);
  options.hardening.extend_on_commit = reader.BoolOr("extend_on_commit", false);
  const Unguarded unguarded =
      ReadUnguarded(reader, {{"emit_first", Unguarded::kPublishBeforeEmit},
                             {"atomic_arrival", Unguarded::kJoinInTwoSteps},
                             {"iteration_of_token", Unguarded::kLoopByIncrement}});
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());
  UnguardedStore store(context.store, keys, unguarded);
  Coordinator coordinator(store, context.clock, keys, std::move(options));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto text, co_await coordinator.queue().TakeNow());
  if (!text) co_return Json();
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto outcome, co_await coordinator.ProcessSignal(*text));
  REDOUBLE_CO_RETURN_IF_ERROR(co_await coordinator.queue().Done(*text));
  co_return Json{{"kind", KindName(outcome.kind)},
                 {"node_id", outcome.node_id},
                 {"counter", outcome.counter},
                 {"tokens", outcome.tokens},
                 {"completed", outcome.completed}};
}

base::Task<OperationResult> RecoverSignals(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  const Keys keys = ReadKeys(reader);
  const std::string consumer = reader.String("consumer");
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());
  orchestrator::SignalQueue queue(context.store, keys, {});
  co_return ValueOr(co_await queue.Recover(consumer));
}

base::Task<OperationResult> SweepRun(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  const Keys keys = ReadKeys(reader);
  const std::string run_id = reader.String("run_id");
  const Unguarded unguarded = ReadUnguarded(reader, {{"atomic_check", Unguarded::kTwoStepCheck}});
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());
  UnguardedStore store(context.store, keys, unguarded);
  Coordinator coordinator(store, context.clock, keys, OptionsOf("main"));
  co_return ValueOr(co_await coordinator.Sweep(run_id));
}

// Reads the members that all signals have.
orchestrator::CompletionSignal ReadSignal(ArgumentReader& reader) {
  orchestrator::CompletionSignal signal;
  signal.run_id = reader.String("run_id");
  signal.node_id = reader.String("node_id");
  signal.job_id = TextOr(reader, "job_id", "node:" + signal.node_id);
  return signal;
}

base::Task<OperationResult> PushSignal(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  const Keys keys = ReadKeys(reader);
  orchestrator::CompletionSignal signal = ReadSignal(reader);
  signal.result_ref = TextOr(reader, "result_ref", "");
  signal.result_data_json = JsonTextOr(reader, "result_data");
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());
  co_return OkOr(co_await orchestrator::PushSignal(context.store, keys, std::move(signal)));
}

base::Task<OperationResult> FailNode(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  const Keys keys = ReadKeys(reader);
  orchestrator::CompletionSignal signal = ReadSignal(reader);
  signal.failure =
      orchestrator::NodeFailure{reader.String("error_type"), reader.String("error_message"), false};
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());
  co_return OkOr(co_await orchestrator::PushSignal(context.store, keys, std::move(signal)));
}

// A worker whose result is given by the arguments.
struct WorkArguments {
  explicit WorkArguments(ArgumentReader& reader)
      : keys(ReadKeys(reader)), error(reader.OptionalString("error")) {
    options.type = reader.String("type");
    options.consumer = TextOr(reader, "consumer", "worker-1");
    options.block = std::nullopt;
    result.ref = TextOr(reader, "result_ref", "");
    result.data_json = JsonTextOr(reader, "result_data");
  }

  orchestrator::NodeFunction Function() const {
    return [this](const Token&) -> base::Task<absl::StatusOr<NodeResult>> {
      if (error) co_return absl::InternalError(*error);
      co_return result;
    };
  }

  Keys keys;
  std::optional<std::string> error;
  orchestrator::WorkerOptions options;
  NodeResult result;
};

OperationResult ReportToJson(const absl::StatusOr<orchestrator::WorkReport>& report) {
  REDOUBLE_RETURN_IF_ERROR(report.status());
  return Json{{"executed", report->executed},
              {"failed", report->failed},
              {"skipped", report->skipped},
              {"dead_lettered", report->dead_lettered}};
}

base::Task<OperationResult> Work(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  const WorkArguments work(reader);
  const bool reclaims = reader.BoolOr("reclaim", false);
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());
  Worker worker(context.store, context.clock, work.keys, work.options, work.Function());
  if (reclaims) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(const auto report, co_await worker.Reclaim());
    if (report.total() > 0) co_return ReportToJson(report);
  }
  co_return ReportToJson(co_await worker.Poll());
}

base::Task<OperationResult> Reclaim(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  WorkArguments work(reader);
  work.options.min_idle = absl::Milliseconds(reader.IntegerOr("min_idle_ms", 60000));
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());
  Worker worker(context.store, context.clock, work.keys, work.options, work.Function());
  co_return ReportToJson(co_await worker.Reclaim());
}

base::Task<OperationResult> RequestApproval(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  const Keys keys = ReadKeys(reader);
  orchestrator::WorkerOptions options;
  options.type = "hitl";
  options.consumer = TextOr(reader, "consumer", "hitl-1");
  options.block = std::nullopt;
  orchestrator::ApprovalTerms terms;
  terms.approver = TextOr(reader, "approver", "");
  terms.approval_id = TextOr(reader, "approval_id", "");
  const std::optional<int64_t> timeout_s = reader.OptionalInteger("timeout_s");
  if (timeout_s) terms.timeout = absl::Seconds(*timeout_s);
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());
  Approvals approvals(context.store, context.clock, keys);
  Json asked;
  Worker worker(context.store, context.clock, keys, options,
                [&](const Token& token) -> base::Task<absl::StatusOr<NodeResult>> {
                  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto requested,
                                               co_await approvals.Request(token, terms));
                  asked = requested.approval_id;
                  NodeResult result;
                  result.deferred = true;
                  co_return result;
                });
  REDOUBLE_CO_RETURN_IF_ERROR((co_await worker.Poll()).status());
  co_return asked;
}

base::Task<OperationResult> Decide(OperationContext context, const Json& arguments, bool approve) {
  ArgumentReader reader(arguments);
  const Keys keys = ReadKeys(reader);
  const std::string run_id = reader.String("run_id");
  const std::string approval_id = reader.String("approval_id");
  orchestrator::DecisionDetails details;
  details.decided_by = TextOr(reader, "decided_by", "");
  details.comment = TextOr(reader, "comment", "");
  orchestrator::ApprovalOptions options;
  options.hardening.keep_decision_details = reader.BoolOr("keep_decision_details", false);
  const Unguarded unguarded =
      ReadUnguarded(reader, {{"atomic_decision", Unguarded::kDecideStepByStep}});
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());
  UnguardedStore store(context.store, keys, unguarded);
  Approvals approvals(store, context.clock, keys, options);
  absl::StatusOr<orchestrator::DecisionOutcome> outcome =
      orchestrator::DecisionOutcome::kNotPending;
  if (approve) {
    outcome = co_await approvals.Approve(run_id, approval_id, details);
  } else {
    outcome = co_await approvals.Reject(run_id, approval_id, details);
  }
  REDOUBLE_CO_RETURN_IF_ERROR(outcome.status());
  switch (*outcome) {
    case orchestrator::DecisionOutcome::kDecided:
      co_return Json("decided");
    case orchestrator::DecisionOutcome::kNotPending:
      co_return Json("not_pending");
    case orchestrator::DecisionOutcome::kRunGone:
      break;
  }
  co_return Json("run_gone");
}

base::Task<OperationResult> DecideOverdue(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  const Keys keys = ReadKeys(reader);
  const std::string run_id = reader.String("run_id");
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());
  Approvals approvals(context.store, context.clock, keys);
  co_return ValueOr(co_await approvals.DecideOverdue(run_id));
}

base::Task<OperationResult> PushUndelivered(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  const Keys keys = ReadKeys(reader);
  const std::string run_id = reader.String("run_id");
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());
  Approvals approvals(context.store, context.clock, keys);
  co_return ValueOr(co_await approvals.PushUndelivered(run_id));
}

base::Task<OperationResult> PatchRun(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  const Keys keys = ReadKeys(reader);
  const std::string run_id = reader.String("run_id");
  const std::string operations = reader.Any("operations").dump();
  const Unguarded unguarded = ReadUnguarded(reader, {{"compare_and_set", Unguarded::kPatchBySet}});
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());
  UnguardedStore store(context.store, keys, unguarded);
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto outcome,
                               co_await orchestrator::PatchRun(store, keys, run_id, operations));
  co_return Json(outcome == orchestrator::PatchOutcome::kPatched ? "patched" : "run_gone");
}

struct DeltaArguments {
  explicit DeltaArguments(ArgumentReader& reader)
      : keys(ReadKeys(reader)),
        run_id(reader.String("run_id")),
        op(reader.String("op")),
        delta(reader.Integer("delta")) {}
  orchestrator::DeltaRequest request() const { return {run_id, op, delta}; }

  Keys keys;
  std::string run_id;
  std::string op;
  int64_t delta;
};

base::Task<OperationResult> ChangeGuarded(store::Store& store, const DeltaArguments& given) {
  const orchestrator::DeltaRequest request = given.request();
  REDOUBLE_CO_ASSIGN_OR_RETURN(
      const auto change, co_await orchestrator::ApplyDeltaGuarded(store, given.keys, request));
  constexpr int kCodes[] = {1, 0, -1, -2};  // In the order of the outcomes.
  co_return Json::array({kCodes[static_cast<size_t>(change.outcome)], change.counter});
}

base::Task<OperationResult> ApplyDelta(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  const DeltaArguments given(reader);
  const bool guarded = reader.BoolOr("guarded", false);
  const Unguarded unguarded = ReadUnguarded(reader, {{"one_script", Unguarded::kLookUpThenApply}});
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());
  if (guarded) co_return co_await ChangeGuarded(context.store, given);
  UnguardedStore store(context.store, given.keys, unguarded);
  const orchestrator::DeltaRequest request = given.request();
  co_return ValueOr(co_await orchestrator::ApplyDelta(store, given.keys, request));
}

base::Task<OperationResult> ApplyDeltaGuarded(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  const DeltaArguments given(reader);
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());
  co_return co_await ChangeGuarded(context.store, given);
}

struct CacheArguments {
  explicit CacheArguments(ArgumentReader& reader)
      : scope(reader.String("scope")), key(reader.String("key")) {}
  orchestrator::CacheEntry entry() const { return {scope, key}; }

  std::string scope;
  std::string key;
};

base::Task<OperationResult> GetCachedResult(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  const CacheArguments cached(reader);
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());
  orchestrator::ResultCache cache(context.store);
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto ref, co_await cache.Get(cached.entry()));
  co_return ref ? Json(*ref) : Json();
}

base::Task<OperationResult> PutCachedResult(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  const CacheArguments cached(reader);
  const std::string ref = reader.String("ref");
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());
  orchestrator::ResultCache cache(context.store);
  co_return OkOr(co_await cache.Put(cached.entry(), ref));
}

base::Task<OperationResult> InvalidateCachedResult(OperationContext context,
                                                   const Json& arguments) {
  ArgumentReader reader(arguments);
  const CacheArguments cached(reader);
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());
  orchestrator::ResultCache cache(context.store);
  co_return ValueOr(co_await cache.Invalidate(cached.entry()));
}

base::Task<OperationResult> PublishEvent(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  const std::string text = reader.Any("event").dump();
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());
  REDOUBLE_CO_ASSIGN_OR_RETURN(const orchestrator::Event event, orchestrator::ParseEvent(text));
  co_return ValueOr(co_await orchestrator::PublishRunEvent(context.store, event));
}

base::Task<OperationResult> RunKeys(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  const Keys keys = ReadKeys(reader);
  const std::string run_id = reader.String("run_id");
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());
  orchestrator::Monitor monitor(context.store, keys);
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto found, co_await monitor.KeysOf(run_id));
  Json names = Json::array();
  for (const orchestrator::RunKey& key : found) names.push_back(key.key);
  co_return names;
}

base::Task<OperationResult> QueueDepths(OperationContext context, const Json& arguments) {
  ArgumentReader reader(arguments);
  const Keys keys = ReadKeys(reader);
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());
  orchestrator::Monitor monitor(context.store, keys);
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto depths, co_await monitor.Depths());
  Json streams = Json::object();
  for (const orchestrator::StreamDepth& stream : depths.streams) {
    int64_t pending = 0;
    for (const orchestrator::GroupDepth& group : stream.groups) pending += group.info.pending;
    streams[stream.type] = {{"length", stream.length}, {"pending", pending}};
  }
  Json processing = Json::object();
  for (const auto& list : depths.processing) processing[list.consumer] = list.length;
  co_return Json{{"streams", streams}, {"signals", depths.signals}, {"processing", processing}};
}

}  // namespace

sim::OperationTable OrchestratorOperations() {
  sim::OperationTable table;
  table.Add("start_run", StartRun);
  table.Add("process_signal", ProcessSignal);
  table.Add("recover_signals", RecoverSignals);
  table.Add("sweep_run", SweepRun);
  table.Add("push_signal", PushSignal);
  table.Add("fail_node", FailNode);
  table.Add("work", Work);
  table.Add("reclaim", Reclaim);
  table.Add("request_approval", RequestApproval);
  table.Add("approve", [](OperationContext context, const Json& arguments) {
    return Decide(context, arguments, /*approve=*/true);
  });
  table.Add("reject", [](OperationContext context, const Json& arguments) {
    return Decide(context, arguments, /*approve=*/false);
  });
  table.Add("decide_overdue", DecideOverdue);
  table.Add("push_undelivered", PushUndelivered);
  table.Add("patch_run", PatchRun);
  table.Add("apply_delta", ApplyDelta);
  table.Add("apply_delta_guarded", ApplyDeltaGuarded);
  table.Add("get_cached_result", GetCachedResult);
  table.Add("put_cached_result", PutCachedResult);
  table.Add("invalidate_cached_result", InvalidateCachedResult);
  table.Add("publish_event", PublishEvent);
  table.Add("run_keys", RunKeys);
  table.Add("queue_depths", QueueDepths);
  return table;
}

}  // namespace redouble::inline v0_1::scenarios
