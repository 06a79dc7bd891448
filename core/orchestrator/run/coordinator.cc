#include "redouble/core/orchestrator/run/coordinator.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/base/time/utc.h"
#include "redouble/core/orchestrator/errors.h"
#include "redouble/core/orchestrator/events/run_events.h"
#include "redouble/core/orchestrator/run/run_scan.h"
#include "redouble/core/orchestrator/run/token_commands.h"
#include "redouble/core/orchestrator/scripts/scripts.h"
#include "redouble/core/orchestrator/store_errors.h"
#include "redouble/core/store/decode.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/typed/hashes.h"
#include "redouble/core/store/typed/keys.h"
#include "redouble/core/store/typed/sets.h"
#include "redouble/core/store/typed/strings.h"

namespace redouble::inline v0_1::orchestrator {
namespace {

using base::ToAbsl;
using store::CommandId;
using store::Reply;

std::vector<std::string_view> JoinsOf(const Ir& ir) {
  std::vector<std::string_view> joins;
  for (const Node& node : ir.nodes) {
    if (node.wait_for_all) joins.push_back(node.id);
  }
  return joins;
}

// The signal that represents the start of a run. Its token id is the run id.
CompletionSignal StartSignal(std::string_view run_id) {
  CompletionSignal signal;
  signal.run_id = std::string(run_id);
  signal.job_id = std::string(run_id);
  return signal;
}

}  // namespace

// The state of a run that a signal needs.
struct Coordinator::Run {
  std::string run_id;
  bool found = false;
  bool consumed = false;  // Whether the token of the signal was consumed before.
  Ir ir;
};

// What the completion of a node changes.
struct Coordinator::Step {
  Routing routing;
  std::string route;    // The hops, as they are recorded.
  HashFields context;   // The fields to be stored.
  bool atomic = false;  // Emission, publication and consumption are one script.
};

// Tokens that are about to be added to the streams.
struct Coordinator::Publication {
  Publication(const Run& run, const CompletionSignal& signal, TokenWriter writer)
      : run(run), signal(signal), writer(std::move(writer)) {}

  const Run& run;
  const CompletionSignal& signal;
  const TokenWriter writer;
  ResolvedConfigs configs;
  store::Batch batch{store::Batch::Atomicity::kPipeline};
  std::vector<std::string> ids;
  bool run_gone = false;
};

Coordinator::Coordinator(store::Store& store, base::Clock& clock, Keys keys,
                         CoordinatorOptions options)
    : store_(store),
      clock_(clock),
      keys_(keys),
      options_(std::move(options)),
      queue_(store, keys, options_.queue, options_.hardening) {}

base::Task<absl::StatusOr<Started>> Coordinator::Start(std::string_view run_id,
                                                       std::string_view ir_text) {
  Run run;
  run.run_id = std::string(run_id);
  REDOUBLE_CO_ASSIGN_OR_RETURN(run.ir, ParseIr(ir_text));
  const Routing entry = Route(run.ir, Completion());
  Started started;
  REDOUBLE_CO_ASSIGN_OR_RETURN(started.created, co_await Create(run, ir_text, entry));
  CompletionSignal signal = StartSignal(run_id);
  std::vector<Hop> hops = entry.hops;
  if (!started.created) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(auto unconsumed, co_await ReadUnconsumedEntries(signal, run));
    if (!run.found) co_return started;
    hops = std::move(unconsumed);
  }
  SignalOutcome outcome;
  outcome.run_id = run.run_id;
  REDOUBLE_CO_RETURN_IF_ERROR((co_await Publish(run, signal, hops, outcome)).status());
  started.tokens = static_cast<int64_t>(outcome.tokens.size());
  if (started.created) Note(EventType::kWorkflowStarted, outcome);
  if (!entry.absorbers.empty()) {
    REDOUBLE_CO_RETURN_IF_ERROR(co_await SettleRetry(run, signal, outcome));
  }
  started.completed = outcome.completed;
  REDOUBLE_CO_RETURN_IF_ERROR(co_await PublishEvents());
  co_return started;
}

// Creates graph and counter. False if the run exists.
base::Task<absl::StatusOr<bool>> Coordinator::Create(const Run& run, std::string_view ir_text,
                                                     const Routing& entry) {
  // Arrivals at a join require an applied set, which shows them that the run exists. A patch may
  // also change where the absorbers lead before the start is repeated.
  const std::string op = entry.absorbers.empty() ? "" : EmitOp(run.run_id);
  const std::string route = FormatHops(entry.hops);
  const StartRequest request = {.run_id = run.run_id,
                                .ir = ir_text,
                                .tokens = static_cast<int64_t>(entry.hops.size()),
                                .op = op,
                                .route = route,
                                .ttl = options_.run_ttl};
  co_return co_await StartRun(store_, keys_, request);
}

// Reads a run that exists already, and the entry tokens of its stored graph that are not consumed.
base::Task<absl::StatusOr<std::vector<Hop>>> Coordinator::ReadUnconsumedEntries(
    CompletionSignal& signal, Run& run) {
  REDOUBLE_CO_RETURN_IF_ERROR(co_await ReadRun(signal, run));
  if (!run.found) co_return std::vector<Hop>();
  const std::string route_prefix = RouteOp(run.run_id);
  std::vector<std::string_view> prefixes = {"consume:", route_prefix};
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto applied,
                               co_await AppliedOf(run.run_id, std::move(prefixes)));
  std::vector<Hop> hops = Route(run.ir, Completion()).hops;
  for (const std::string_view member : applied) {
    if (!member.starts_with(route_prefix)) continue;
    std::optional<std::vector<Hop>> recorded = ParseHops(member.substr(route_prefix.size()));
    if (!recorded)
      co_return MakeError(ErrorCode::kRouteUnreadable, "the recorded route cannot be read");
    hops = *std::move(recorded);
  }
  std::erase_if(hops, [&](const Hop& hop) {
    const std::string id = ChildTokenId(options_.token_ids, {run.run_id, hop.target}, {});
    return std::find(applied.begin(), applied.end(), ConsumeOp(id)) != applied.end();
  });
  co_return hops;
}

base::Task<absl::StatusOr<std::optional<SignalOutcome>>> Coordinator::Poll() {
  if (recover_) {
    REDOUBLE_CO_RETURN_IF_ERROR((co_await queue_.Recover(queue_.options().consumer)).status());
    recover_ = false;
  }
  if (!in_hand_) {
    absl::StatusOr<std::optional<std::string>> taken = co_await queue_.Take();
    recover_ = options_.hardening.reliable_pop &&
               store::ErrorKindOf(taken.status()) == store::ErrorKind::kOutcomeUnknown;
    REDOUBLE_CO_ASSIGN_OR_RETURN(in_hand_, std::move(taken));
    if (!in_hand_) co_return std::nullopt;
  }
  const std::string text = *in_hand_;
  absl::Status status;
  if (!outcome_) {
    absl::StatusOr<SignalOutcome> processed = co_await Process(text);
    status = processed.status();
    if (processed.ok()) outcome_ = *std::move(processed);
  }
  if (status.ok()) status = co_await PublishEventsAndRemove(text);
  if (IsTemporary(status)) co_return status;
  in_hand_.reset();
  std::optional<SignalOutcome> outcome = std::exchange(outcome_, std::nullopt);
  REDOUBLE_CO_RETURN_IF_ERROR(status);
  co_return std::move(outcome);
}

base::Task<absl::StatusOr<SignalOutcome>> Coordinator::ProcessSignal(std::string_view text) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(SignalOutcome outcome, co_await Process(text));
  REDOUBLE_CO_RETURN_IF_ERROR(co_await PublishEvents());
  co_return outcome;
}

// Processes a signal and notes its events.
base::Task<absl::StatusOr<SignalOutcome>> Coordinator::Process(std::string_view text) {
  events_.clear();
  absl::StatusOr<CompletionSignal> signal = ParseSignal(text);
  if (!signal.ok()) {
    SignalOutcome malformed;
    malformed.kind = SignalOutcome::Kind::kMalformed;
    malformed.error = signal.status();
    co_return malformed;
  }
  co_return co_await Advance(*std::move(signal));
}

base::Task<absl::StatusOr<SignalOutcome>> Coordinator::Advance(CompletionSignal signal) {
  SignalOutcome outcome;
  outcome.run_id = signal.run_id;
  outcome.node_id = signal.node_id;
  Run run;
  run.run_id = signal.run_id;
  REDOUBLE_CO_RETURN_IF_ERROR(co_await ReadRun(signal, run));
  if (!run.found) co_return outcome;
  if (run.consumed) {
    outcome.kind = SignalOutcome::Kind::kDuplicate;
    REDOUBLE_CO_RETURN_IF_ERROR(co_await SettleRetry(run, signal, outcome));
    co_return outcome;
  }
  if (signal.failure) {
    REDOUBLE_CO_RETURN_IF_ERROR(co_await Fail(run, signal, RunResult::Status::kFailed, outcome));
    co_return outcome;
  }
  outcome.unknown_node = run.ir.Find(signal.node_id) == nullptr;
  bool done = false;
  if (!outcome.unknown_node) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(const Step step, co_await Plan(run, signal));
    REDOUBLE_CO_ASSIGN_OR_RETURN(done, co_await EmitAndPublish(run, signal, step, outcome));
  }
  if (!done) REDOUBLE_CO_RETURN_IF_ERROR(co_await Commit(run, signal, outcome));
  co_return outcome;
}

// Emits the successors of a node and publishes them. True if nothing is left to be done: the token
// was consumed in the same step, the run is gone, or it has no such token.
base::Task<absl::StatusOr<bool>> Coordinator::EmitAndPublish(const Run& run,
                                                             const CompletionSignal& signal,
                                                             const Step& step,
                                                             SignalOutcome& outcome) {
  using Outcome = Emission::Outcome;
  Publication publication(run, signal, Writer());
  if (step.atomic) {
    REDOUBLE_CO_RETURN_IF_ERROR(co_await Prepare(step.routing.hops, step.context, publication));
  }
  REDOUBLE_CO_ASSIGN_OR_RETURN(const Emission emission,
                               co_await Emit(run, signal, step, publication.batch));
  switch (emission.outcome) {
    case Outcome::kRunGone:
      co_return true;
    case Outcome::kRefused:
      outcome.kind = SignalOutcome::Kind::kRefused;
      outcome.counter = emission.counter;
      co_return true;
    case Outcome::kConsumedBefore:
      co_return false;
    case Outcome::kEmitted:
      if (!step.atomic) break;
      outcome.tokens = std::move(publication.ids);
      REDOUBLE_CO_RETURN_IF_ERROR(co_await Committed(run, signal, emission.counter, outcome));
      co_return true;
    case Outcome::kEmittedBefore:
      break;
  }
  // A retry follows the recorded route even if a patch has changed the graph since.
  const std::optional<std::vector<Hop>> hops = ParseHops(emission.route);
  if (!hops) co_return MakeError(ErrorCode::kRouteUnreadable, "the recorded route cannot be read");
  REDOUBLE_CO_ASSIGN_OR_RETURN(const bool published, co_await Publish(run, signal, *hops, outcome));
  co_return !published;
}

base::Task<absl::Status> Coordinator::ReadRun(CompletionSignal& signal, Run& run) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string ir_key, keys_.Ir(run.run_id));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string applied_key, keys_.Applied(run.run_id));
  const std::string op = ConsumeOp(signal.job_id);
  store::Batch batch(store::Batch::Atomicity::kPipeline);
  batch.Add(CommandId::kGet, {ir_key});
  batch.Add(CommandId::kSIsMember, {applied_key, op});
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<Reply> replies,
                               co_await store::Execute(store_, batch));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::optional<std::string> text,
                               store::DecodeStringOrNil(replies[0]));
  REDOUBLE_CO_ASSIGN_OR_RETURN(run.consumed, store::DecodeBool(replies[1]));
  run.found = text.has_value();
  if (!run.found) co_return absl::OkStatus();
  REDOUBLE_CO_ASSIGN_OR_RETURN(run.ir, ParseIr(*text));
  co_return absl::OkStatus();
}

// Chooses the successors, and loads the outputs that conditions need. Sets the signal's reference
// if the signal carries only the output itself.
base::Task<absl::StatusOr<Routing>> Coordinator::Decide(const Run& run, CompletionSignal& signal) {
  Artifacts* const artifacts = options_.artifacts;
  std::string output = signal.result_data_json;
  if (signal.result_ref.empty() && !output.empty()) {
    absl::StatusOr<std::string> ref = ContentRef(output);
    if (artifacts != nullptr) ref = co_await artifacts->Put(output);
    REDOUBLE_CO_ASSIGN_OR_RETURN(signal.result_ref, std::move(ref));
  }
  const RoutingNeeds needs = NeedsOf(run.ir, signal.node_id);
  if (needs.output && output.empty() && !signal.result_ref.empty() && artifacts != nullptr) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(const auto loaded, co_await artifacts->Get(signal.result_ref));
    output = loaded.value_or("");
  }
  std::vector<std::pair<std::string, std::string>> others;  // Node id and output.
  if (needs.other_outputs && artifacts != nullptr) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string key, keys_.Context(run.run_id));
    REDOUBLE_CO_ASSIGN_OR_RETURN(const auto fields, co_await store::HGetAll(store_, key));
    for (const auto& [field, ref] : fields) {
      constexpr std::string_view kOutput = ":output";
      if (!field.ends_with(kOutput)) continue;
      REDOUBLE_CO_ASSIGN_OR_RETURN(const auto loaded, co_await artifacts->Get(ref));
      if (loaded) others.emplace_back(field.substr(0, field.size() - kOutput.size()), *loaded);
    }
  }
  std::vector<NodeOutput> outputs;
  for (const auto& [node, json] : others) outputs.push_back({node, json});
  Completion completion;
  completion.node = signal.node_id;
  completion.output_json = output;
  completion.outputs = outputs;
  completion.loops = ParseTokenMark(signal.job_id).loops;
  co_return Route(run.ir, completion);
}

// Chooses the successors and the fields of the context.
base::Task<absl::StatusOr<Coordinator::Step>> Coordinator::Plan(const Run& run,
                                                                CompletionSignal& signal) {
  Step step;
  REDOUBLE_CO_ASSIGN_OR_RETURN(step.routing, co_await Decide(run, signal));
  const Routing& routing = step.routing;
  step.route = FormatHops(routing.hops);
  const bool joins = std::any_of(routing.hops.begin(), routing.hops.end(),
                                 [](const Hop& hop) { return hop.needed > 0; });
  // The streams are in other slots than the tagged keys of a run.
  step.atomic =
      options_.hardening.atomic_hops && !joins && keys_.layout() == store::KeyLayout::kDocumented;
  const auto add = [&step](const std::string& node, const char* field, std::string value) {
    if (!value.empty()) step.context.emplace_back(absl::StrCat(node, ":", field), std::move(value));
  };
  add(signal.node_id, "output", signal.result_ref);
  add(signal.node_id, "completed_at", base::FormatRfc3339(clock_.Now()));
  if (const auto duration_ms = IntegerIn(signal.metadata_json, "duration_ms")) {
    add(signal.node_id, "duration_ms", absl::StrCat(*duration_ms));
  }
  for (const std::string& absorber : routing.absorbers) add(absorber, "output", signal.result_ref);
  co_return std::move(step);
}

base::Task<absl::StatusOr<Emission>> Coordinator::Emit(const Run& run,
                                                       const CompletionSignal& signal,
                                                       const Step& step,
                                                       const store::Batch& publications) {
  EmitRequest request;
  request.run_id = run.run_id;
  request.token_id = signal.job_id;
  request.count = static_cast<int64_t>(step.routing.hops.size());
  request.route = step.route;
  request.loops = step.routing.loops;
  request.context = step.context;
  request.publications = publications.commands();
  if (step.atomic) request.consume = ParseTokenMark(signal.job_id).join_count;
  co_return co_await EmitTokens(store_, keys_, request);
}

// Adds the tokens of the hops to the streams. False if the run is gone.
base::Task<absl::StatusOr<bool>> Coordinator::Publish(const Run& run,
                                                      const CompletionSignal& signal,
                                                      std::span<const Hop> hops,
                                                      SignalOutcome& outcome) {
  Publication publication(run, signal, Writer());
  REDOUBLE_CO_RETURN_IF_ERROR(co_await Prepare(hops, /*context=*/{}, publication));
  if (publication.run_gone) co_return false;
  REDOUBLE_CO_RETURN_IF_ERROR(co_await Send(publication.batch));
  outcome.tokens = std::move(publication.ids);
  co_return true;
}

// Adds the tokens of the hops to the publication; hops to a join arrive there first. `context` has
// the fields that are not stored yet.
base::Task<absl::Status> Coordinator::Prepare(
    std::span<const Hop> hops, std::span<const std::pair<std::string, std::string>> context,
    Publication& publication) {
  const Run& run = publication.run;
  const CompletionSignal& signal = publication.signal;
  ConfigRequest configs = {.ir = run.ir, .signal = signal, .context = context};
  for (const Hop& hop : hops) configs.targets.push_back(hop.target);
  REDOUBLE_CO_ASSIGN_OR_RETURN(publication.configs, co_await ConfigsOf(std::move(configs)));
  std::map<std::string_view, int64_t> seen;
  for (const Hop& hop : hops) {
    TokenMark mark;
    mark.loops = hop.loops;
    const ChildToken child = {signal.job_id, hop.target, seen[hop.target]++};
    const std::string id = ChildTokenId(options_.token_ids, child, mark);
    if (hop.needed > 0) {
      REDOUBLE_CO_RETURN_IF_ERROR(co_await Arrive(run, hop, id, publication));
      if (publication.run_gone) co_return absl::OkStatus();
      continue;
    }
    Token token;
    token.id = id;
    token.to_node = hop.target;
    token.iteration = hop.loops.contains(signal.node_id) ? hop.loops.at(signal.node_id) : 0;
    REDOUBLE_CO_RETURN_IF_ERROR(AddToken(publication.writer, run.ir, publication.configs,
                                         std::move(token), signal, publication.batch));
    publication.ids.push_back(id);
  }
  co_return absl::OkStatus();
}

// Parks a token at a join, and adds the join's own token to the publication when that fires it.
base::Task<absl::Status> Coordinator::Arrive(const Run& run, const Hop& hop,
                                             std::string_view child_id, Publication& publication) {
  const CompletionSignal& signal = publication.signal;
  // A signal can reach one join through several absorbers; each path is a separate arrival.
  const std::string arrival_id =
      hop.via == signal.node_id ? signal.job_id : absl::StrCat(signal.job_id, "/", hop.via);
  const ArrivalRequest request = {run.run_id, hop.target, hop.via, arrival_id, hop.needed};
  REDOUBLE_CO_ASSIGN_OR_RETURN(const Arrival arrival,
                               co_await ArriveAtJoin(store_, keys_, request));
  if (arrival.outcome == Arrival::Outcome::kRunGone) {
    publication.run_gone = true;
    co_return absl::OkStatus();
  }
  if (arrival.outcome == Arrival::Outcome::kPredecessorTwice) {
    // The dropped token was counted, and no worker will consume it.
    const std::string op = ConsumeOp(child_id);
    const DeltaRequest drop = {run.run_id, op, -1};
    const auto dropped = co_await ApplyDeltaGuarded(store_, keys_, drop);
    co_return dropped.status();
  }
  if (!arrival.fire) co_return absl::OkStatus();
  TokenMark mark;
  mark.join_count = arrival.count;
  mark.loops = hop.loops;
  Token token;
  token.id = JoinTokenId(options_.token_ids, {hop.target, arrival_id}, mark);
  token.to_node = hop.target;
  token.join_count = arrival.count;
  publication.ids.push_back(token.id);
  co_return AddToken(publication.writer, run.ir, publication.configs, std::move(token), signal,
                     publication.batch);
}

base::Task<absl::Status> Coordinator::Send(const store::Batch& batch) {
  if (batch.empty()) co_return absl::OkStatus();
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<Reply> replies,
                               co_await store::Execute(store_, batch));
  co_return store::FirstError(replies);
}

base::Task<absl::Status> Coordinator::Commit(const Run& run, const CompletionSignal& signal,
                                             SignalOutcome& outcome) {
  using Outcome = CounterChange::Outcome;
  const std::string op = ConsumeOp(signal.job_id);
  const DeltaRequest consume = {run.run_id, op, -ParseTokenMark(signal.job_id).join_count};
  REDOUBLE_CO_ASSIGN_OR_RETURN(const CounterChange change,
                               co_await ApplyDeltaGuarded(store_, keys_, consume));
  outcome.counter = change.counter;
  switch (change.outcome) {
    case Outcome::kRunGone:
      outcome.kind = SignalOutcome::Kind::kRunGone;
      co_return absl::OkStatus();
    case Outcome::kRefused:
      outcome.kind = SignalOutcome::Kind::kRefused;
      co_return absl::OkStatus();
    case Outcome::kDuplicate:
      outcome.kind = SignalOutcome::Kind::kDuplicate;
      co_return co_await SettleRetry(run, signal, outcome);
    case Outcome::kApplied:
      break;
  }
  co_return co_await Committed(run, signal, change.counter, outcome);
}

// Continues after the token of the signal was consumed by this call.
base::Task<absl::Status> Coordinator::Committed(const Run& run, const CompletionSignal& signal,
                                                int64_t counter, SignalOutcome& outcome) {
  outcome.counter = counter;
  outcome.kind = SignalOutcome::Kind::kCommitted;
  Note(EventType::kNodeCompleted, outcome, signal.result_ref);
  co_return co_await Settle(run, signal, outcome);
}

// Completes the run if its counter is 0. Otherwise keeps it alive and fires a starved join.
base::Task<absl::Status> Coordinator::Settle(const Run& run, const CompletionSignal& signal,
                                             SignalOutcome& outcome) {
  if (outcome.counter == 0) {
    co_return co_await Complete(run, outcome);
  }
  REDOUBLE_CO_RETURN_IF_ERROR(co_await Extend(run));
  co_return co_await FireStarvedJoin(run, signal, outcome);
}

// As Settle, after a retry. The first attempt may have crashed anywhere, so fired tokens may be
// unpublished, and the counter of this signal's commit is unknown.
base::Task<absl::Status> Coordinator::SettleRetry(const Run& run, const CompletionSignal& signal,
                                                  SignalOutcome& outcome) {
  REDOUBLE_CO_RETURN_IF_ERROR(co_await RepublishFirings(run, signal, outcome));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string key, keys_.Counter(run.run_id));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto counter, co_await store::Get(store_, key));
  if (!counter) co_return absl::OkStatus();
  outcome.counter = *counter == "0" ? 0 : std::max<int64_t>(outcome.counter, 1);
  co_return co_await Settle(run, signal, outcome);
}

base::Task<absl::Status> Coordinator::Extend(const Run& run) {
  if (!options_.hardening.extend_on_commit) co_return absl::OkStatus();
  const std::vector<std::string_view> nodes = run.ir.NodeIds();
  const ExtendRequest request = {run.run_id, nodes, options_.run_ttl};
  co_return (co_await ExtendRun(store_, keys_, request)).status();
}

// Fires a join that holds tokens when no other token of the run can reach it, and publishes its
// token.
base::Task<absl::Status> Coordinator::FireStarvedJoin(const Run& run,
                                                      const CompletionSignal& signal,
                                                      SignalOutcome& outcome) {
  const std::vector<std::string_view> joins = JoinsOf(run.ir);
  if (joins.empty()) co_return absl::OkStatus();
  TokenMark mark;
  mark.loops = ParseTokenMark(signal.job_id).loops;
  REDOUBLE_CO_RETURN_IF_ERROR(co_await AdvanceLoops(run, mark));
  const std::string loops = FormatTokenMark(mark);
  const QuiesceRequest request = {run.run_id, joins, loops};
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto fired, co_await QuiesceJoins(store_, keys_, request));
  if (!fired) co_return absl::OkStatus();
  Token token;
  token.id = fired->token_id;
  token.to_node = std::string(joins[fired->index]);
  token.join_count = fired->join_count;
  ConfigRequest request_of_configs = {.ir = run.ir, .signal = signal};
  request_of_configs.targets.push_back(token.to_node);
  REDOUBLE_CO_ASSIGN_OR_RETURN(const ResolvedConfigs configs,
                               co_await ConfigsOf(std::move(request_of_configs)));
  store::Batch batch(store::Batch::Atomicity::kPipeline);
  outcome.tokens.push_back(token.id);
  REDOUBLE_CO_RETURN_IF_ERROR(AddToken(Writer(), run.ir, configs, std::move(token), signal, batch));
  co_return co_await Send(batch);
}

base::Task<absl::StatusOr<ResolvedConfigs>> Coordinator::ConfigsOf(ConfigRequest request) {
  return ResolveConfigs(store_, keys_, options_.artifacts, std::move(request));
}

TokenWriter Coordinator::Writer() const {
  return {keys_, clock_.Now(), options_.stream_max_length};
}

// Raises the iterations of `mark` to the stored ones: a parked token may be in a later iteration
// than the token that came last. One round trip per loop.
base::Task<absl::Status> Coordinator::AdvanceLoops(const Run& run, TokenMark& mark) {
  for (const Node& node : run.ir.nodes) {
    if (!node.HasLoop()) continue;
    REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string key, keys_.Loop({run.run_id, node.id}));
    REDOUBLE_CO_ASSIGN_OR_RETURN(const auto iteration,
                                 co_await store::HGet(store_, key, "current_iteration"));
    int64_t count = 0;
    if (!iteration || !absl::SimpleAtoi(*iteration, &count) || count < 1) continue;
    mark.loops[node.id] = std::max(mark.loops[node.id], count);
  }
  co_return absl::OkStatus();
}

// Publishes again the tokens of joins that fired and whose token is not consumed.
base::Task<absl::Status> Coordinator::RepublishFirings(const Run& run,
                                                       const CompletionSignal& signal,
                                                       SignalOutcome& outcome) {
  if (JoinsOf(run.ir).empty()) co_return absl::OkStatus();
  std::vector<std::string_view> prefixes = {"fire:", "publish:", "consume:join:"};
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto applied,
                               co_await AppliedOf(run.run_id, std::move(prefixes)));
  const std::vector<FiredToken> unpublished = FindUnpublished(applied);
  ConfigRequest request = {.ir = run.ir, .signal = signal};
  for (const FiredToken& fired : unpublished) request.targets.push_back(fired.join);
  REDOUBLE_CO_ASSIGN_OR_RETURN(const ResolvedConfigs configs,
                               co_await ConfigsOf(std::move(request)));
  store::Batch batch(store::Batch::Atomicity::kPipeline);
  for (const FiredToken& fired : unpublished) {
    Token token;
    token.id = fired.token_id;
    token.to_node = fired.join;
    token.join_count = ParseTokenMark(fired.token_id).join_count;
    outcome.tokens.push_back(token.id);
    REDOUBLE_CO_RETURN_IF_ERROR(
        AddToken(Writer(), run.ir, configs, std::move(token), signal, batch));
  }
  co_return co_await Send(batch);
}

// Deletes the run if it is complete, and notes its end.
base::Task<absl::Status> Coordinator::Complete(const Run& run, SignalOutcome& outcome) {
  std::vector<std::string> approvals;
  if (options_.on_finish) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(CompleteRun complete,
                                 co_await ReadIfComplete(store_, keys_, run.run_id));
    if (!complete.complete) co_return absl::OkStatus();
    approvals = std::move(complete.decided_approvals);
    RunResult result;
    result.run_id = run.run_id;
    result.context = std::move(complete.context);
    REDOUBLE_CO_RETURN_IF_ERROR(co_await options_.on_finish(result));
  } else {
    REDOUBLE_CO_ASSIGN_OR_RETURN(approvals, co_await DecidedApprovals(store_, keys_, run.run_id));
  }
  const std::vector<std::string_view> nodes = run.ir.NodeIds();
  const std::vector<std::string_view> ids(approvals.begin(), approvals.end());
  const FinishRequest request = {run.run_id, nodes, ids};
  REDOUBLE_CO_ASSIGN_OR_RETURN(Finish finish, co_await FinishRun(store_, keys_, request));
  outcome.completed = finish.outcome == FinishOutcome::kFinished;
  if (!outcome.completed) co_return absl::OkStatus();
  outcome.context = std::move(finish.context);
  Note(EventType::kWorkflowCompleted, outcome);
  co_return absl::OkStatus();
}

base::Task<absl::Status> Coordinator::ReportFailure(const Run& run, const CompletionSignal& signal,
                                                    RunResult::Status status) {
  RunResult result;
  result.run_id = run.run_id;
  result.status = status;
  result.node_id = signal.node_id;
  result.failure = signal.failure;
  REDOUBLE_CO_ASSIGN_OR_RETURN(result.context, co_await ContextOf(run));
  co_return co_await options_.on_finish(result);
}

// The fields of the run's context, sorted.
base::Task<absl::StatusOr<HashFields>> Coordinator::ContextOf(const Run& run) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string key, keys_.Context(run.run_id));
  REDOUBLE_CO_ASSIGN_OR_RETURN(HashFields fields, co_await store::HGetAll(store_, key));
  std::sort(fields.begin(), fields.end());
  co_return std::move(fields);
}

base::Task<absl::Status> Coordinator::Fail(const Run& run, const CompletionSignal& signal,
                                           RunResult::Status status, SignalOutcome& outcome) {
  if (options_.on_finish) {
    REDOUBLE_CO_RETURN_IF_ERROR(co_await ReportFailure(run, signal, status));
  }
  REDOUBLE_CO_ASSIGN_OR_RETURN(auto approvals,
                               co_await DecidedApprovals(store_, keys_, run.run_id));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string pending_key, keys_.PendingApprovals(run.run_id));
  std::vector<std::string_view> all = {""};
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto pending,
                               co_await SortedMembers(store_, pending_key, std::move(all)));
  for (const std::string& member : pending) {
    if (const auto id = ParseApprovalMember(member)) approvals.emplace_back(*id);
  }
  const std::vector<std::string_view> nodes = run.ir.NodeIds();
  const std::vector<std::string_view> ids(approvals.begin(), approvals.end());
  FailRequest request;
  request.run_id = run.run_id;
  request.token_id = signal.job_id;
  request.nodes = nodes;
  request.approvals = ids;
  request.failed_at = clock_.Now();
  REDOUBLE_CO_ASSIGN_OR_RETURN(const FailOutcome failed, co_await FailRun(store_, keys_, request));
  if (failed == FailOutcome::kConsumedBefore) outcome.kind = SignalOutcome::Kind::kDuplicate;
  if (failed != FailOutcome::kFailed) co_return absl::OkStatus();
  outcome.kind = SignalOutcome::Kind::kRunFailed;
  if (!outcome.node_id.empty()) Note(EventType::kNodeFailed, outcome);
  Note(EventType::kWorkflowFailed, outcome);
  co_return absl::OkStatus();
}

base::Task<absl::StatusOr<std::vector<std::string>>> Coordinator::AppliedOf(
    std::string_view run_id, std::vector<std::string_view> prefixes) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string key, keys_.Applied(run_id));
  co_return co_await SortedMembers(store_, key, std::move(prefixes));
}

base::Task<absl::StatusOr<bool>> Coordinator::Sweep(std::string_view run_id) {
  events_.clear();
  CompletionSignal signal = StartSignal(run_id);
  Run run;
  run.run_id = std::string(run_id);
  REDOUBLE_CO_RETURN_IF_ERROR(co_await ReadRun(signal, run));
  if (!run.found) co_return false;
  SignalOutcome outcome;
  outcome.run_id = run.run_id;
  outcome.counter = 1;
  REDOUBLE_CO_RETURN_IF_ERROR(co_await SettleRetry(run, signal, outcome));
  REDOUBLE_CO_RETURN_IF_ERROR(co_await PublishEvents());
  co_return outcome.completed;
}

base::Task<absl::StatusOr<bool>> Coordinator::Abort(std::string_view run_id,
                                                    RunResult::Status status, NodeFailure reason) {
  events_.clear();
  CompletionSignal signal = StartSignal(run_id);
  signal.failure = std::move(reason);
  Run run;
  run.run_id = std::string(run_id);
  REDOUBLE_CO_RETURN_IF_ERROR(co_await ReadRun(signal, run));
  if (!run.found) co_return false;
  SignalOutcome outcome;
  outcome.run_id = run.run_id;
  REDOUBLE_CO_RETURN_IF_ERROR(co_await Fail(run, signal, status, outcome));
  REDOUBLE_CO_RETURN_IF_ERROR(co_await PublishEvents());
  co_return outcome.kind == SignalOutcome::Kind::kRunFailed;
}

base::Task<absl::StatusOr<SweepReport>> Coordinator::SweepAll() {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<std::string> run_ids,
                               co_await FindRuns(store_, keys_));
  SweepReport report;
  for (const std::string& run_id : run_ids) {
    const absl::StatusOr<bool> completed = co_await Sweep(run_id);
    // An error that concerns the keys of this run only.
    const bool skipped = !completed.ok() && !IsTemporary(completed.status());
    if (skipped) {
      report.skipped.push_back({run_id, completed.status()});
      continue;
    }
    REDOUBLE_CO_RETURN_IF_ERROR(completed.status());
    ++report.swept;
    if (*completed) ++report.completed;
  }
  co_return report;
}

void Coordinator::Note(EventType type, const SignalOutcome& outcome, std::string_view result_ref) {
  Event event;
  event.type = type;
  event.run_id = outcome.run_id;
  event.timestamp = clock_.Now();
  if (type == EventType::kNodeCompleted || type == EventType::kNodeFailed) {
    event.node_id = outcome.node_id;
  }
  if (type == EventType::kNodeCompleted) {
    event.status = "completed";
    event.result_ref = std::string(result_ref);
    event.counter = outcome.counter;
  }
  if (type == EventType::kWorkflowCompleted) event.counter = 0;
  events_.push_back(std::move(event));
}

absl::Status Coordinator::AddEvents(store::Batch& batch) const {
  for (const Event& event : events_) {
    REDOUBLE_ASSIGN_OR_RETURN(store::PublishedChannels channels,
                              RunChannels(event.run_id, options_.channels));
    REDOUBLE_ASSIGN_OR_RETURN(std::string text, FormatEvent(event));
    store::AddPublish(batch, std::move(channels), std::move(text));
  }
  return absl::OkStatus();
}

base::Task<absl::Status> Coordinator::PublishEvents() {
  store::Batch batch(store::Batch::Atomicity::kPipeline);
  REDOUBLE_CO_RETURN_IF_ERROR(AddEvents(batch));
  events_.clear();
  co_return co_await Send(batch);
}

// The last step of a signal. The events stay noted until it has succeeded.
base::Task<absl::Status> Coordinator::PublishEventsAndRemove(std::string_view text) {
  store::Batch batch(store::Batch::Atomicity::kPipeline);
  REDOUBLE_CO_RETURN_IF_ERROR(AddEvents(batch));
  REDOUBLE_CO_RETURN_IF_ERROR(queue_.AddDone(text, batch));
  REDOUBLE_CO_RETURN_IF_ERROR(co_await Send(batch));
  events_.clear();
  co_return absl::OkStatus();
}

}  // namespace redouble::inline v0_1::orchestrator
