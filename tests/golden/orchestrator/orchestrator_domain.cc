#include "redouble/tests/golden/orchestrator/orchestrator_domain.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/time/utc.h"
#include "redouble/core/orchestrator/events/run_events.h"
#include "redouble/core/orchestrator/keys.h"
#include "redouble/core/orchestrator/messages.h"
#include "redouble/core/orchestrator/result_cache.h"
#include "redouble/core/orchestrator/run/signal_queue.h"
#include "redouble/core/orchestrator/scripts/run_scripts.h"
#include "redouble/core/orchestrator/scripts/scripts.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/reply.h"
#include "redouble/core/store/typed/lists.h"
#include "redouble/core/store/typed/strings.h"
#include "redouble/sim/operations/orchestrator/orchestrator_operations.h"

namespace redouble::inline v0_1::golden {
namespace {

using orchestrator::CounterChange;
using orchestrator::Keys;
using store::Reply;
using store::Store;

using ReplyTask = base::Task<absl::StatusOr<Reply>>;
using Words = std::vector<std::string>;

// The parts of a recorded EVAL, copied because the task may outlive the recording.
struct Call {
  Words keys;
  Words arguments;
};

std::optional<Call> ReadCall(const Words& words) {
  size_t count = 0;
  if (words.size() < 3 || !absl::SimpleAtoi(words[2], &count) || words.size() < 3 + count) {
    return std::nullopt;
  }
  const auto keys = words.begin() + 3;
  return Call{Words(keys, keys + count), Words(keys + count, words.end())};
}

// Returns the value in a key of a family: ValueIn("counter:run_1", "orchestrator.counter") is
// run_1.
std::optional<std::string> ValueIn(std::string_view key, std::string_view family, size_t index) {
  const auto match = Keys(store::KeyLayout::kDocumented).Parse(key);
  if (!match || match->family->id != family || match->values.size() <= index) return std::nullopt;
  return std::string(match->values[index]);
}

std::optional<std::string> RunOf(const Call& call) {
  for (const std::string& key : call.keys) {
    if (auto run = ValueIn(key, "orchestrator.counter", 0)) return run;
  }
  return std::nullopt;
}

Reply Pair(int64_t first, int64_t second) {
  return Reply::Array({Reply::Integer(first), Reply::Integer(second)});
}

Reply ToReply(const CounterChange& change) {
  constexpr int kCodes[] = {1, 0, -1, -2};
  return Pair(kCodes[static_cast<size_t>(change.outcome)], change.counter);
}

ReplyTask Delta(Store& store, std::string run, Call call, int64_t delta, bool guarded) {
  const orchestrator::DeltaRequest request = {run, call.arguments[0], delta};
  if (!guarded) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(const auto counter,
                                 co_await orchestrator::ApplyDelta(store, Keys(), request));
    co_return Reply::Integer(counter);
  }
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto change,
                               co_await orchestrator::ApplyDeltaGuarded(store, Keys(), request));
  co_return ToReply(change);
}

std::optional<ReplyTask> AsDelta(Store& store, const Call& call, bool guarded) {
  const std::optional<std::string> run = RunOf(call);
  int64_t delta = 0;
  if (!run || call.arguments.size() != 2 || !absl::SimpleAtoi(call.arguments[1], &delta) ||
      std::to_string(delta) != call.arguments[1]) {
    return std::nullopt;
  }
  return Delta(store, *run, call, delta, guarded);
}

ReplyTask Pause(Store& store, std::string token, std::string id, orchestrator::Approval approval) {
  orchestrator::PauseRequest request;
  request.token_id = token;
  request.approval_id = id;
  request.approval = std::move(approval);
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto change,
                               co_await orchestrator::PauseForApproval(store, Keys(), request));
  co_return ToReply(change);
}

std::optional<ReplyTask> AsPause(Store& store, const Call& call) {
  constexpr std::string_view kConsume = "consume:";
  const std::optional<std::string> run = RunOf(call);
  const Words& arguments = call.arguments;
  if (!run || arguments.size() < 4 || arguments.size() % 2 != 0) return std::nullopt;
  if (!arguments[0].starts_with(kConsume)) return std::nullopt;
  const auto id = orchestrator::ParseApprovalMember(arguments[1]);
  orchestrator::HashFields fields;
  for (size_t i = 2; i < arguments.size(); i += 2) {
    fields.emplace_back(arguments[i], arguments[i + 1]);
  }
  const auto approval = orchestrator::ParseApproval(fields);
  if (!id || !approval.ok() || approval->run_id != *run) return std::nullopt;
  if (orchestrator::FormatApproval(*approval) != fields) return std::nullopt;
  return Pause(store, arguments[0].substr(kConsume.size()), std::string(*id), *approval);
}

ReplyTask Decide(Store& store, std::string run, std::string id, orchestrator::ApprovalStatus status,
                 absl::Time decided_at) {
  const orchestrator::DecisionRequest request = {run, id, status, decided_at};
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto decision,
                               co_await orchestrator::DecideApproval(store, Keys(), request));
  using Outcome = orchestrator::Decision::Outcome;
  if (decision.outcome == Outcome::kDecided) co_return Pair(1, decision.counter);
  co_return Pair(decision.outcome == Outcome::kNotPending ? 0 : -1, -1);
}

std::optional<ReplyTask> AsDecision(Store& store, const Call& call) {
  const std::optional<std::string> run = RunOf(call);
  if (!run || call.arguments.size() != 4) return std::nullopt;
  const auto id = orchestrator::ParseApprovalMember(call.arguments[0]);
  const absl::StatusOr<absl::Time> decided_at = base::ParseRfc3339(call.arguments[2]);
  if (!id || !decided_at.ok() || call.arguments[3] != orchestrator::ResumeOp(*id)) {
    return std::nullopt;
  }
  using Status = orchestrator::ApprovalStatus;
  for (const Status status :
       {Status::kApproved, Status::kRejected, Status::kTimeout, Status::kCancelled}) {
    if (orchestrator::ApprovalStatusName(status) != call.arguments[1]) continue;
    return Decide(store, *run, std::string(*id), status, *decided_at);
  }
  return std::nullopt;
}

ReplyTask Quiesce(Store& store, std::string run, Words joins) {
  const std::vector<std::string_view> views(joins.begin(), joins.end());
  const orchestrator::QuiesceRequest request = {run, views};
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto fired,
                               co_await orchestrator::QuiesceJoins(store, Keys(), request));
  if (!fired) co_return Pair(0, 0);
  co_return Pair(static_cast<int64_t>(fired->index) + 1, fired->join_count);
}

ReplyTask Finish(Store& store, std::string run, Words nodes, Words approvals) {
  const std::vector<std::string_view> node_views(nodes.begin(), nodes.end());
  const std::vector<std::string_view> approval_views(approvals.begin(), approvals.end());
  const orchestrator::FinishRequest request = {run, node_views, approval_views};
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto finish,
                               co_await orchestrator::FinishRun(store, Keys(), request));
  constexpr int kCodes[] = {1, 0, -1};  // In the order of the outcomes.
  co_return Reply::Integer(kCodes[static_cast<size_t>(finish.outcome)]);
}

// Replaces a call that deletes the whole run.
std::optional<ReplyTask> AsFinish(Store& store, const Call& call) {
  const std::optional<std::string> run = RunOf(call);
  if (!run) return std::nullopt;
  std::set<std::string> families;
  std::set<std::string> nodes;
  Words approvals;
  for (const std::string& key : call.keys) {
    const auto match = Keys(store::KeyLayout::kDocumented).Parse(key);
    if (!match) return std::nullopt;
    families.emplace(match->family->id);
    if (match->values.size() == 2) nodes.emplace(match->values[1]);
    if (match->family->id == "orchestrator.approval") approvals.emplace_back(match->values[0]);
  }
  for (const char* needed : {"orchestrator.ir", "orchestrator.context", "orchestrator.applied",
                             "orchestrator.pending_approvals"}) {
    if (!families.contains(needed)) return std::nullopt;
  }
  return Finish(store, *run, Words(nodes.begin(), nodes.end()), approvals);
}

std::optional<ReplyTask> AsScript(Store& store, const RecordedCommand& command) {
  const std::optional<Call> call = ReadCall(command.words);
  if (!call) return std::nullopt;
  if (command.script == "apply_delta_seed") return AsDelta(store, *call, /*guarded=*/false);
  if (command.script == "apply_delta_guarded") return AsDelta(store, *call, /*guarded=*/true);
  if (command.script == "hitl_pause") return AsPause(store, *call);
  if (command.script == "hitl_decide") return AsDecision(store, *call);
  if (command.script == "finish_run") return AsFinish(store, *call);
  const std::optional<std::string> run = RunOf(*call);
  if (command.script == "join_quiesce" && run && call->arguments.size() + 3 == call->keys.size()) {
    return Quiesce(store, *run, call->arguments);
  }
  return std::nullopt;
}

Reply BulkOrNil(const std::optional<std::string>& text) {
  return text ? Reply::Bulk(*text) : Reply::Nil();
}

ReplyTask Take(Store& store, std::string consumer) {
  orchestrator::SignalQueueOptions options;
  options.consumer = std::move(consumer);
  orchestrator::SignalQueue queue(store, Keys(), options);
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto text, co_await queue.TakeNow());
  co_return BulkOrNil(text);
}

ReplyTask Done(Store& store, std::string consumer, std::string text) {
  orchestrator::SignalQueueOptions options;
  options.consumer = std::move(consumer);
  orchestrator::SignalQueue queue(store, Keys(), options);
  REDOUBLE_CO_RETURN_IF_ERROR(co_await queue.Done(text));
  // The operation does not return the number removed; the keyspace shows it.
  co_return Reply::Integer(1);
}

ReplyTask Push(Store& store, orchestrator::CompletionSignal signal) {
  REDOUBLE_CO_RETURN_IF_ERROR(co_await orchestrator::PushSignal(store, Keys(), std::move(signal)));
  const std::string queue = Keys().CompletionSignals();
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto length, co_await store::LLen(store, queue));
  co_return Reply::Integer(length);
}

// Replaces the push of a signal in this project's format.
std::optional<ReplyTask> AsPush(Store& store, const Words& words) {
  const auto signal = orchestrator::ParseSignal(words[2]);
  if (!signal.ok()) return std::nullopt;
  const auto text = orchestrator::FormatSignal(*signal);
  if (!text.ok() || *text != words[2]) return std::nullopt;
  return Push(store, *signal);
}

ReplyTask Replace(Store& store, std::string run, std::string ir) {
  const std::string key = *Keys().Ir(run);
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto before, co_await store::Get(store, key));
  const std::string expected = before.value_or("");
  orchestrator::ReplaceIrRequest request;
  request.run_id = run;
  request.expected = expected;
  request.ir = ir;
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto outcome,
                               co_await orchestrator::ReplaceIr(store, Keys(), request));
  const bool replaced = outcome == orchestrator::ReplaceIrOutcome::kReplaced;
  co_return replaced ? Reply::Status("OK") : Reply::Nil();
}

// Replaces a patch that keeps the TTL of the graph and does not revive a run: SET key graph KEEPTTL
// XX.
std::optional<ReplyTask> AsPatch(Store& store, const Words& words) {
  const auto run = ValueIn(words[1], "orchestrator.ir", 0);
  const std::set<std::string> options(words.begin() + 3, words.end());
  if (!run || options != std::set<std::string>{"KEEPTTL", "XX"}) return std::nullopt;
  return Replace(store, *run, words[2]);
}

ReplyTask Announce(Store& store, orchestrator::Event event) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto heard,
                               co_await orchestrator::PublishRunEvent(store, std::move(event)));
  co_return Reply::Integer(heard);
}

std::optional<ReplyTask> AsEvent(Store& store, const Words& words) {
  const auto event = orchestrator::ParseEvent(words[2]);
  if (!event.ok()) return std::nullopt;
  const auto channel = Keys().EventChannel(event->run_id);
  const auto text = orchestrator::FormatEvent(*event);
  if (!channel.ok() || *channel != words[1] || !text.ok() || *text != words[2]) {
    return std::nullopt;
  }
  return Announce(store, *event);
}

ReplyTask Cached(Store& store, std::string scope, std::string key, std::string name,
                 std::string ref) {
  orchestrator::ResultCache cache(store);
  const orchestrator::CacheEntry entry = {scope, key};
  if (name == "GET") {
    REDOUBLE_CO_ASSIGN_OR_RETURN(const auto found, co_await cache.Get(entry));
    co_return BulkOrNil(found);
  }
  if (name == "SET") {
    REDOUBLE_CO_RETURN_IF_ERROR(co_await cache.Put(entry, ref));
    co_return Reply::Status("OK");
  }
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto removed, co_await cache.Invalidate(entry));
  co_return Reply::Integer(removed ? 1 : 0);
}

std::optional<ReplyTask> AsCache(Store& store, const Words& words) {
  const auto scope = ValueIn(words[1], "orchestrator.cache", 0);
  const auto key = ValueIn(words[1], "orchestrator.cache", 1);
  const bool sets =
      words[0] == "SET" && words.size() == 5 && words[3] == "EX" && words[4] == "3600";
  const bool asks = (words[0] == "GET" || words[0] == "DEL") && words.size() == 2;
  if (!scope || !key || (!sets && !asks)) return std::nullopt;
  return Cached(store, *scope, *key, words[0], sets ? words[2] : "");
}

std::optional<ReplyTask> FindOperation(const RecordedCommand& command, Store& store) {
  const Words& words = command.words;
  if (!command.script.empty()) return AsScript(store, command);
  const std::string queue = Keys().CompletionSignals();
  if (words[0] == "LMOVE" && words.size() == 5 && words[1] == queue && words[3] == "LEFT" &&
      words[4] == "RIGHT") {
    const auto consumer = ValueIn(words[2], "orchestrator.processing", 0);
    if (consumer) return Take(store, *consumer);
  }
  if (words[0] == "LREM" && words.size() == 4 && words[2] == "1" && command.reply == Json(1)) {
    const auto consumer = ValueIn(words[1], "orchestrator.processing", 0);
    if (consumer) return Done(store, *consumer, words[3]);
  }
  if (words[0] == "PUBLISH" && words.size() == 3) return AsEvent(store, words);
  if (words[0] == "RPUSH" && words.size() == 3 && words[1] == queue) return AsPush(store, words);
  if (words[0] == "SET" && words.size() == 5) {
    if (auto patch = AsPatch(store, words)) return patch;
  }
  if (words.size() >= 2) return AsCache(store, words);
  return std::nullopt;
}

// Converts an error of the server, which the operation returns as a status, to the recorded reply.
ReplyTask WithErrorReply(ReplyTask operation) {
  absl::StatusOr<Reply> reply = co_await std::move(operation);
  if (store::ServerErrorCode(reply.status()).empty()) co_return reply;
  const absl::string_view message = reply.status().message();
  co_return Reply::Error(std::string(message.data(), message.size()));
}

std::optional<ReplyTask> AsOperation(const RecordedCommand& command, Store& store) {
  std::optional<ReplyTask> operation = FindOperation(command, store);
  if (!operation) return std::nullopt;
  return WithErrorReply(*std::move(operation));
}

}  // namespace

Domain OrchestratorDomain() {
  Domain domain;
  domain.operations = scenarios::OrchestratorOperations();
  domain.record_error = [](const absl::Status& status) {
    return Json{{"error", std::string(status.message())}};
  };
  domain.substitute = AsOperation;
  return domain;
}

}  // namespace redouble::inline v0_1::golden
