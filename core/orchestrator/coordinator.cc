#include "core/orchestrator/coordinator.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "core/base/string_bridge.h"
#include "core/base/utc.h"
#include "core/orchestrator/json_object.h"
#include "core/orchestrator/run_events.h"
#include "core/orchestrator/scripts.h"
#include "core/store/decode.h"
#include "core/store/hashes.h"
#include "core/store/keys.h"
#include "core/store/sets.h"
#include "core/store/strings.h"

namespace redouble::orchestrator {
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

// A member of a JSON object that came from elsewhere; nothing when it is not there.
std::optional<int64_t> IntegerIn(const std::string& json_text, const char* name) {
  const Json json = Json::parse(json_text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return std::nullopt;
  const auto found = json.find(name);
  if (found == json.end() || !found->is_number_integer()) return std::nullopt;
  return found->get<int64_t>();
}

std::string TextIn(const std::string& json_text, const char* name) {
  const Json json = Json::parse(json_text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return "";
  const auto found = json.find(name);
  return found != json.end() && found->is_string() ? found->get<std::string>() : "";
}

// The signal that stands for the start of a run, whose "token" has the run's id.
CompletionSignal StartSignal(std::string_view run_id) {
  CompletionSignal signal;
  signal.run_id = std::string(run_id);
  signal.job_id = std::string(run_id);
  return signal;
}

}  // namespace

// What was read of a run before its signal is processed.
struct Coordinator::Run {
  std::string run_id;
  bool found = false;
  bool consumed = false;  // The signal's token.
  Ir ir;
};

// Tokens on their way to the streams.
struct Coordinator::Publication {
  Publication(const Run& run, const CompletionSignal& signal) : run(run), signal(signal) {}

  const Run& run;
  const CompletionSignal& signal;
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
      queue_(store, keys, options_.queue) {}

base::Task<absl::StatusOr<Started>> Coordinator::Start(std::string_view run_id,
                                                       std::string_view ir_text) {
  absl::StatusOr<Ir> ir = ParseIr(ir_text);
  if (!ir.ok()) co_return ir.status();
  Run run;
  run.run_id = std::string(run_id);
  run.ir = *std::move(ir);
  CompletionSignal signal = StartSignal(run_id);
  Routing routing = Route(run.ir, Completion());
  // Arrivals at a join need an applied set, by which they know that there is a run; and where
  // absorbers lead, a patch may change before the start is repeated.
  const std::string op = routing.absorbers.empty() ? "" : EmitOp(run_id);
  const std::string route = FormatHops(routing.hops);
  const StartRequest request = {.run_id = run_id,
                                .ir = ir_text,
                                .tokens = static_cast<int64_t>(routing.hops.size()),
                                .op = op,
                                .route = route,
                                .ttl = options_.run_ttl};
  const absl::StatusOr<bool> created = co_await StartRun(store_, keys_, request);
  if (!created.ok()) co_return created.status();
  Started started;
  started.created = *created;
  if (!*created) {
    // Its own graph counts, and only the tokens that nobody has executed.
    absl::Status read = co_await ReadRun(signal, run);
    if (!read.ok() || !run.found) co_return read.ok() ? absl::StatusOr<Started>(started) : read;
    const std::string route_prefix = RouteOp(run_id);
    std::vector<std::string_view> prefixes = {"consume:", route_prefix};
    const auto applied = co_await AppliedOf(run_id, std::move(prefixes));
    if (!applied.ok()) co_return applied.status();
    routing = Route(run.ir, Completion());
    for (const std::string_view member : *applied) {
      if (!member.starts_with(route_prefix)) continue;
      const std::optional<std::vector<Hop>> hops = ParseHops(member.substr(route_prefix.size()));
      if (!hops) co_return absl::DataLossError("the run's recorded route cannot be read");
      routing.hops = *hops;
    }
    std::erase_if(routing.hops, [&](const Hop& hop) {
      const std::string id = ChildTokenId(options_.token_ids, {run_id, hop.target}, {});
      return std::find(applied->begin(), applied->end(), ConsumeOp(id)) != applied->end();
    });
  }
  SignalOutcome outcome;
  outcome.run_id = run.run_id;
  const auto published = co_await Publish(run, signal, routing.hops, outcome);
  if (!published.ok()) co_return published.status();
  started.tokens = static_cast<int64_t>(outcome.tokens.size());
  if (*created) Note(EventType::kWorkflowStarted, outcome);
  if (!op.empty()) {
    absl::Status settled = co_await Settle(run, signal, /*is_retry=*/true, outcome);
    if (!settled.ok()) co_return settled;
  }
  started.completed = outcome.completed;
  absl::Status announced = co_await PublishEvents();
  if (!announced.ok()) co_return announced;
  co_return started;
}

base::Task<absl::StatusOr<std::optional<SignalOutcome>>> Coordinator::Poll() {
  const absl::StatusOr<std::optional<std::string>> text = co_await queue_.Take();
  if (!text.ok()) co_return text.status();
  if (!*text) co_return std::nullopt;
  absl::StatusOr<SignalOutcome> outcome = co_await ProcessSignal(**text);
  if (!outcome.ok()) co_return outcome.status();
  absl::Status done = co_await queue_.Done(**text);
  if (!done.ok()) co_return done;
  co_return *std::move(outcome);
}

base::Task<absl::StatusOr<SignalOutcome>> Coordinator::ProcessSignal(std::string_view text) {
  absl::StatusOr<CompletionSignal> signal = ParseSignal(text);
  if (!signal.ok()) {
    SignalOutcome malformed;
    malformed.kind = SignalOutcome::Kind::kMalformed;
    malformed.error = signal.status();
    co_return malformed;
  }
  events_.clear();
  absl::StatusOr<SignalOutcome> outcome = co_await Advance(*std::move(signal));
  if (!outcome.ok()) co_return outcome.status();
  absl::Status announced = co_await PublishEvents();
  if (!announced.ok()) co_return announced;
  co_return outcome;
}

base::Task<absl::StatusOr<SignalOutcome>> Coordinator::Advance(CompletionSignal signal) {
  SignalOutcome outcome;
  outcome.run_id = signal.run_id;
  outcome.node_id = signal.node_id;
  Run run;
  run.run_id = signal.run_id;
  absl::Status status = co_await ReadRun(signal, run);
  if (!status.ok()) co_return status;
  if (!run.found) co_return outcome;
  if (run.consumed) {
    outcome.kind = SignalOutcome::Kind::kDuplicate;
    status = co_await Settle(run, signal, /*is_retry=*/true, outcome);
    if (!status.ok()) co_return status;
    co_return outcome;
  }
  if (signal.failure) {
    status = co_await Fail(run, signal, outcome);
    if (!status.ok()) co_return status;
    co_return outcome;
  }
  outcome.unknown_node = run.ir.Find(signal.node_id) == nullptr;
  if (!outcome.unknown_node) {
    const absl::StatusOr<Routing> routing = co_await Decide(run, signal);
    if (!routing.ok()) co_return routing.status();
    const std::string route = FormatHops(routing->hops);
    const absl::StatusOr<Emission> emission = co_await Emit(run, signal, *routing, route);
    if (!emission.ok()) co_return emission.status();
    if (emission->outcome == Emission::Outcome::kRunGone) co_return outcome;
    if (emission->outcome != Emission::Outcome::kConsumedBefore) {
      // A retry goes where the first attempt went, whatever the graph says by now.
      const std::optional<std::vector<Hop>> hops = ParseHops(emission->route);
      if (!hops) co_return absl::DataLossError("the run's recorded route cannot be read");
      const auto published = co_await Publish(run, signal, *hops, outcome);
      if (!published.ok()) co_return published.status();
      if (!*published) co_return outcome;
    }
  }
  status = co_await Commit(run, signal, outcome);
  if (!status.ok()) co_return status;
  co_return outcome;
}

std::string Coordinator::ConsumedToken(const CompletionSignal& signal) const {
  if (options_.mutation == Mutation::kNodeConsumeKey) return absl::StrCat("node:", signal.node_id);
  return signal.job_id;
}

base::Task<absl::Status> Coordinator::ReadRun(CompletionSignal& signal, Run& run) {
  const absl::StatusOr<std::string> ir_key = keys_.Ir(run.run_id);
  const absl::StatusOr<std::string> applied_key = keys_.Applied(run.run_id);
  if (!ir_key.ok()) co_return ir_key.status();
  const std::string op = ConsumeOp(ConsumedToken(signal));
  store::Batch batch(store::Batch::Atomicity::kPipeline);
  batch.Add(CommandId::kGet, {*ir_key});
  batch.Add(CommandId::kSIsMember, {*applied_key, op});
  const absl::StatusOr<std::vector<Reply>> replies = co_await store::Execute(store_, batch);
  if (!replies.ok()) co_return replies.status();
  const absl::StatusOr<std::optional<std::string>> text = store::DecodeStringOrNil((*replies)[0]);
  if (!text.ok()) co_return text.status();
  const absl::StatusOr<bool> consumed = store::DecodeBool((*replies)[1]);
  if (!consumed.ok()) co_return consumed.status();
  run.found = text->has_value();
  run.consumed = *consumed;
  if (!run.found) co_return absl::OkStatus();
  absl::StatusOr<Ir> ir = ParseIr(**text);
  if (!ir.ok()) co_return ir.status();
  run.ir = *std::move(ir);
  co_return absl::OkStatus();
}

// Finds out where the run goes, and for that the outputs that conditions ask for. Gives the signal
// a reference when it brings only the output itself.
base::Task<absl::StatusOr<Routing>> Coordinator::Decide(const Run& run, CompletionSignal& signal) {
  Artifacts* const artifacts = options_.artifacts;
  std::string output = signal.result_data_json;
  if (signal.result_ref.empty() && !output.empty()) {
    absl::StatusOr<std::string> ref = ContentRef(output);
    if (artifacts != nullptr) ref = co_await artifacts->Put(output);
    if (!ref.ok()) co_return ref.status();
    signal.result_ref = *std::move(ref);
  }
  const RoutingNeeds needs = NeedsOf(run.ir, signal.node_id);
  if (needs.output && output.empty() && !signal.result_ref.empty() && artifacts != nullptr) {
    const auto loaded = co_await artifacts->Get(signal.result_ref);
    if (!loaded.ok()) co_return loaded.status();
    output = loaded->value_or("");
  }
  std::vector<std::pair<std::string, std::string>> others;  // Node id and output.
  if (needs.other_outputs && artifacts != nullptr) {
    const absl::StatusOr<std::string> key = keys_.Context(run.run_id);
    const auto fields = co_await store::HGetAll(store_, *key);
    if (!fields.ok()) co_return fields.status();
    for (const auto& [field, ref] : *fields) {
      constexpr std::string_view kOutput = ":output";
      if (!field.ends_with(kOutput)) continue;
      const auto loaded = co_await artifacts->Get(ref);
      if (!loaded.ok()) co_return loaded.status();
      if (*loaded) others.emplace_back(field.substr(0, field.size() - kOutput.size()), **loaded);
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

base::Task<absl::StatusOr<Emission>> Coordinator::Emit(const Run& run,
                                                       const CompletionSignal& signal,
                                                       const Routing& routing,
                                                       std::string_view route) {
  std::vector<std::pair<std::string, std::string>> context;
  const auto add = [&context](const std::string& node, const char* what, std::string value) {
    if (!value.empty()) context.emplace_back(absl::StrCat(node, ":", what), std::move(value));
  };
  add(signal.node_id, "output", signal.result_ref);
  add(signal.node_id, "completed_at", base::FormatRfc3339(clock_.Now()));
  if (const auto duration_ms = IntegerIn(signal.metadata_json, "duration_ms")) {
    add(signal.node_id, "duration_ms", absl::StrCat(*duration_ms));
  }
  for (const std::string& absorber : routing.absorbers) add(absorber, "output", signal.result_ref);
  EmitRequest request;
  request.run_id = run.run_id;
  request.token_id = signal.job_id;
  request.count = static_cast<int64_t>(routing.hops.size());
  request.route = route;
  request.loops = routing.loops;
  request.context = context;
  if (options_.mutation != Mutation::kConsumeBeforeEmit &&
      options_.mutation != Mutation::kNoCounterGuard &&
      options_.mutation != Mutation::kFreshEmitKey) {
    co_return co_await EmitTokens(store_, keys_, request);
  }
  // What the protocol forbids, for tests: other operations, or another order.
  const std::string fresh = absl::StrCat(signal.job_id, "#", ++attempts_);
  const std::string op =
      EmitOp(options_.mutation == Mutation::kFreshEmitKey ? fresh : signal.job_id);
  const std::string consume = ConsumeOp(signal.job_id);
  const DeltaRequest emit = {run.run_id, op, request.count};
  Emission emission = {Emission::Outcome::kEmitted, 0, std::string(route)};
  if (options_.mutation == Mutation::kNoCounterGuard) {
    const auto counted = co_await ApplyDelta(store_, keys_, emit);
    if (!counted.ok()) co_return counted.status();
    co_return emission;
  }
  if (options_.mutation == Mutation::kConsumeBeforeEmit) {
    const DeltaRequest before = {run.run_id, consume, -ParseTokenMark(signal.job_id).join_count};
    const auto consumed = co_await ApplyDeltaGuarded(store_, keys_, before);
    if (!consumed.ok()) co_return consumed.status();
  }
  const auto counted = co_await ApplyDeltaGuarded(store_, keys_, emit);
  if (!counted.ok()) co_return counted.status();
  if (counted->outcome == CounterChange::Outcome::kRunGone) {
    emission.outcome = Emission::Outcome::kRunGone;
  }
  co_return emission;
}

// Sends the tokens of the hops to their workers, by way of the joins. False when the run is gone.
base::Task<absl::StatusOr<bool>> Coordinator::Publish(const Run& run,
                                                      const CompletionSignal& signal,
                                                      std::span<const Hop> hops,
                                                      SignalOutcome& outcome) {
  Publication publication(run, signal);
  std::map<std::string_view, int64_t> seen;
  for (const Hop& hop : hops) {
    TokenMark mark;
    mark.loops = hop.loops;
    const ChildToken child = {signal.job_id, hop.target, seen[hop.target]++};
    const std::string id = ChildTokenId(options_.token_ids, child, mark);
    if (hop.needed > 0) {
      absl::Status arrived = co_await Arrive(run, hop, id, publication);
      if (!arrived.ok()) co_return arrived;
      if (publication.run_gone) co_return false;
      continue;
    }
    Token token;
    token.id = id;
    token.to_node = hop.target;
    token.iteration = hop.loops.contains(signal.node_id) ? hop.loops.at(signal.node_id) : 0;
    absl::Status added = AddToken(run.ir, token, signal, publication.batch);
    if (!added.ok()) co_return added;
    publication.ids.push_back(id);
  }
  absl::Status sent = co_await Send(publication.batch);
  if (!sent.ok()) co_return sent;
  outcome.tokens = std::move(publication.ids);
  co_return true;
}

// Parks a token at a join, and adds the join's own token to the publication when that fires it.
base::Task<absl::Status> Coordinator::Arrive(const Run& run, const Hop& hop,
                                             std::string_view child_id, Publication& publication) {
  const CompletionSignal& signal = publication.signal;
  // A signal can reach one join by several absorbers; each of these ways is an arrival of its own.
  const std::string arrival_id =
      hop.via == signal.node_id ? signal.job_id : absl::StrCat(signal.job_id, "/", hop.via);
  const ArrivalRequest request = {run.run_id, hop.target, hop.via, arrival_id, hop.needed};
  const absl::StatusOr<Arrival> arrival = co_await ArriveAtJoin(store_, keys_, request);
  if (!arrival.ok()) co_return arrival.status();
  if (arrival->outcome == Arrival::Outcome::kRunGone) {
    publication.run_gone = true;
    co_return absl::OkStatus();
  }
  if (arrival->outcome == Arrival::Outcome::kPredecessorTwice) {
    // It was counted, and nothing will ever execute it.
    const std::string op = ConsumeOp(child_id);
    const DeltaRequest drop = {run.run_id, op, -1};
    const auto dropped = co_await ApplyDeltaGuarded(store_, keys_, drop);
    co_return dropped.status();
  }
  if (!arrival->fire) co_return absl::OkStatus();
  TokenMark mark;
  mark.join_count = arrival->count;
  mark.loops = hop.loops;
  Token token;
  token.id = JoinTokenId(options_.token_ids, {hop.target, arrival_id}, mark);
  token.to_node = hop.target;
  token.join_count = arrival->count;
  absl::Status added = AddToken(run.ir, token, signal, publication.batch);
  publication.ids.push_back(token.id);
  co_return added;
}

// Completes the token and adds what sends it: to the stream of its node's type, or, when the node
// is an absorber that joined, back to the coordinators as completed.
absl::Status Coordinator::AddToken(const Ir& ir, const Token& partial,
                                   const CompletionSignal& signal, store::Batch& batch) {
  const Node* const node = ir.Find(partial.to_node);
  if (node != nullptr && node->IsAbsorber()) {
    CompletionSignal completed;
    completed.job_id = partial.id;
    completed.run_id = signal.run_id;
    completed.node_id = partial.to_node;
    completed.result_data_json = signal.result_data_json;
    completed.result_ref = signal.result_ref;
    const absl::StatusOr<std::string> text = FormatSignal(completed);
    if (!text.ok()) return text.status();
    batch.Add(CommandId::kRPush).AddOwned(keys_.CompletionSignals()).AddOwned(*text);
    return absl::OkStatus();
  }
  Token token = partial;
  token.run_id = signal.run_id;
  token.from_node = signal.node_id;
  token.payload_ref = signal.result_ref;
  token.hop = signal.node_id.empty() ? 0 : IntegerIn(signal.metadata_json, "hop").value_or(0) + 1;
  token.created_at = clock_.Now();
  if (node != nullptr) token.config_json = node->config_json;
  token.workflow_owner = TextIn(ir.metadata_json, "username");
  const absl::StatusOr<std::string> text = FormatToken(token);
  if (!text.ok()) return text.status();
  store::Command& add = batch.Add(CommandId::kXAdd);
  // A node that a patch removed has no type any more; whoever serves the default stream gets it.
  add.AddOwned(keys_.TaskStream(node == nullptr ? std::string_view("default") : node->type));
  if (options_.stream_max_length) {
    add.Add("MAXLEN").Add("~").AddInteger(*options_.stream_max_length);
  }
  add.Add("*").Add("token").AddOwned(*text).Add("run_id").AddOwned(token.run_id);
  add.Add("node_id").AddOwned(token.to_node);
  return absl::OkStatus();
}

base::Task<absl::Status> Coordinator::Send(const store::Batch& batch) {
  if (batch.empty()) co_return absl::OkStatus();
  const absl::StatusOr<std::vector<Reply>> replies = co_await store::Execute(store_, batch);
  if (!replies.ok()) co_return replies.status();
  co_return store::FirstError(*replies);
}

base::Task<absl::Status> Coordinator::Commit(const Run& run, const CompletionSignal& signal,
                                             SignalOutcome& outcome) {
  using Outcome = CounterChange::Outcome;
  const std::string op = ConsumeOp(ConsumedToken(signal));
  const DeltaRequest consume = {run.run_id, op, -ParseTokenMark(signal.job_id).join_count};
  absl::StatusOr<CounterChange> change = CounterChange{Outcome::kApplied, 0};
  if (options_.mutation == Mutation::kNoCounterGuard) {
    const auto counter = co_await ApplyDelta(store_, keys_, consume);
    if (!counter.ok()) co_return counter.status();
    change->counter = *counter;
  } else {
    change = co_await ApplyDeltaGuarded(store_, keys_, consume);
  }
  if (!change.ok()) co_return change.status();
  outcome.counter = change->counter;
  switch (change->outcome) {
    case Outcome::kRunGone:
      outcome.kind = SignalOutcome::Kind::kRunGone;
      co_return absl::OkStatus();
    case Outcome::kRefused:
      outcome.kind = SignalOutcome::Kind::kRefused;
      co_return absl::OkStatus();
    case Outcome::kDuplicate:
      outcome.kind = SignalOutcome::Kind::kDuplicate;
      break;
    case Outcome::kApplied:
      outcome.kind = SignalOutcome::Kind::kCommitted;
      Note(EventType::kNodeCompleted, outcome, signal.result_ref);
      break;
  }
  const bool is_retry = change->outcome == Outcome::kDuplicate;
  co_return co_await Settle(run, signal, is_retry, outcome);
}

// Looks whether the run has come to its end or stands still. A retry may follow a crash anywhere,
// so that it also has to look for what the first attempt left undone.
base::Task<absl::Status> Coordinator::Settle(const Run& run, const CompletionSignal& signal,
                                             bool is_retry, SignalOutcome& outcome) {
  if (is_retry) {
    absl::Status republished = co_await RepublishFirings(run, signal, outcome);
    if (!republished.ok()) co_return republished;
    const absl::StatusOr<std::string> key = keys_.Counter(run.run_id);
    const auto counter = co_await store::Get(store_, *key);
    if (!counter.ok()) co_return counter.status();
    if (!*counter) co_return absl::OkStatus();
    outcome.counter = **counter == "0" ? 0 : std::max<int64_t>(outcome.counter, 1);
  }
  if (outcome.counter == 0 || options_.mutation == Mutation::kTwoStepCheck) {
    const absl::StatusOr<bool> finished = co_await Finish(run);
    if (!finished.ok()) co_return finished.status();
    outcome.completed = *finished;
    if (*finished) Note(EventType::kWorkflowCompleted, outcome);
    co_return absl::OkStatus();
  }
  if (options_.extend_on_commit) {
    const std::vector<std::string_view> nodes = run.ir.NodeIds();
    const ExtendRequest request = {run.run_id, nodes, options_.run_ttl};
    const auto extended = co_await ExtendRun(store_, keys_, request);
    if (!extended.ok()) co_return extended.status();
  }
  const std::vector<std::string_view> joins = JoinsOf(run.ir);
  if (joins.empty()) co_return absl::OkStatus();
  TokenMark mark;
  mark.loops = ParseTokenMark(signal.job_id).loops;
  // The tokens that are parked may be further round a loop than the one that came last.
  for (const Node& node : run.ir.nodes) {
    if (!node.HasLoop()) continue;
    const std::string key = *keys_.Loop({run.run_id, node.id});
    const auto iteration = co_await store::HGet(store_, key, "current_iteration");
    if (!iteration.ok()) co_return iteration.status();
    int64_t count = 0;
    if (!*iteration || !absl::SimpleAtoi(**iteration, &count) || count < 1) continue;
    mark.loops[node.id] = std::max(mark.loops[node.id], count);
  }
  const std::string loops = FormatTokenMark(mark);
  const QuiesceRequest request = {run.run_id, joins, loops};
  const auto fired = co_await QuiesceJoins(store_, keys_, request);
  if (!fired.ok()) co_return fired.status();
  if (!*fired) co_return absl::OkStatus();
  Token token;
  token.id = (*fired)->token_id;
  token.to_node = std::string(joins[(*fired)->index]);
  token.join_count = (*fired)->join_count;
  store::Batch batch(store::Batch::Atomicity::kPipeline);
  absl::Status added = AddToken(run.ir, token, signal, batch);
  if (!added.ok()) co_return added;
  outcome.tokens.push_back(token.id);
  co_return co_await Send(batch);
}

base::Task<absl::Status> Coordinator::RepublishFirings(const Run& run,
                                                       const CompletionSignal& signal,
                                                       SignalOutcome& outcome) {
  if (JoinsOf(run.ir).empty()) co_return absl::OkStatus();
  std::vector<std::string_view> prefixes = {"fire:", "publish:", "consume:join:"};
  const auto applied = co_await AppliedOf(run.run_id, std::move(prefixes));
  if (!applied.ok()) co_return applied.status();
  store::Batch batch(store::Batch::Atomicity::kPipeline);
  for (const FiredToken& fired : FindUnpublished(*applied)) {
    Token token;
    token.id = fired.token_id;
    token.to_node = fired.join;
    token.join_count = ParseTokenMark(fired.token_id).join_count;
    absl::Status added = AddToken(run.ir, token, signal, batch);
    if (!added.ok()) co_return added;
    outcome.tokens.push_back(token.id);
  }
  co_return co_await Send(batch);
}

base::Task<absl::StatusOr<bool>> Coordinator::Finish(const Run& run) {
  const auto approvals = co_await ApprovalsOf(run.run_id);
  if (!approvals.ok()) co_return approvals.status();
  const std::vector<std::string_view> nodes = run.ir.NodeIds();
  const std::vector<std::string_view> ids(approvals->begin(), approvals->end());
  const FinishRequest request = {run.run_id, nodes, ids};
  if (options_.mutation == Mutation::kTwoStepCheck) {
    const auto pending = co_await store::SCard(store_, *keys_.PendingApprovals(run.run_id));
    if (!pending.ok()) co_return pending.status();
    const auto counter = co_await store::Get(store_, *keys_.Counter(run.run_id));
    if (!counter.ok()) co_return counter.status();
    if (*pending > 0 || *counter != "0") co_return false;
    std::vector<std::string> keys = {*keys_.Ir(run.run_id), *keys_.Context(run.run_id),
                                     *keys_.Counter(run.run_id), *keys_.Applied(run.run_id),
                                     *keys_.PendingApprovals(run.run_id)};
    for (const std::string_view node : nodes) {
      keys.push_back(*keys_.PendingTokens({run.run_id, node}));
      keys.push_back(*keys_.Loop({run.run_id, node}));
    }
    for (const std::string_view id : ids) keys.push_back(*keys_.Approval({run.run_id, id}));
    const std::vector<std::string_view> views(keys.begin(), keys.end());
    const auto deleted = co_await store::Del(store_, views);
    if (!deleted.ok()) co_return deleted.status();
    co_return *deleted > 0;
  }
  const absl::StatusOr<FinishOutcome> outcome = co_await FinishRun(store_, keys_, request);
  if (!outcome.ok()) co_return outcome.status();
  co_return *outcome == FinishOutcome::kFinished;
}

base::Task<absl::Status> Coordinator::Fail(const Run& run, const CompletionSignal& signal,
                                           SignalOutcome& outcome) {
  absl::StatusOr<std::vector<std::string>> approvals = co_await ApprovalsOf(run.run_id);
  if (!approvals.ok()) co_return approvals.status();
  const std::string pending_key = *keys_.PendingApprovals(run.run_id);
  std::vector<std::string_view> all = {""};
  const auto pending = co_await SortedMembers(store_, pending_key, std::move(all));
  if (!pending.ok()) co_return pending.status();
  for (const std::string& member : *pending) {
    if (const auto id = ParseApprovalMember(member)) approvals->emplace_back(*id);
  }
  const std::vector<std::string_view> nodes = run.ir.NodeIds();
  const std::vector<std::string_view> ids(approvals->begin(), approvals->end());
  FailRequest request;
  request.run_id = run.run_id;
  request.token_id = signal.job_id;
  request.nodes = nodes;
  request.approvals = ids;
  request.failed_at = clock_.Now();
  const absl::StatusOr<FailOutcome> failed = co_await FailRun(store_, keys_, request);
  if (!failed.ok()) co_return failed.status();
  if (*failed == FailOutcome::kConsumedBefore) outcome.kind = SignalOutcome::Kind::kDuplicate;
  if (*failed != FailOutcome::kFailed) co_return absl::OkStatus();
  outcome.kind = SignalOutcome::Kind::kRunFailed;
  Note(EventType::kNodeFailed, outcome);
  Note(EventType::kWorkflowFailed, outcome);
  co_return absl::OkStatus();
}

base::Task<absl::StatusOr<std::vector<std::string>>> Coordinator::AppliedOf(
    std::string_view run_id, std::vector<std::string_view> prefixes) {
  const absl::StatusOr<std::string> key = keys_.Applied(run_id);
  if (!key.ok()) co_return key.status();
  co_return co_await SortedMembers(store_, *key, std::move(prefixes));
}

// The ids of all approvals of the run that were decided.
base::Task<absl::StatusOr<std::vector<std::string>>> Coordinator::ApprovalsOf(
    std::string_view run_id) {
  constexpr std::string_view kResume = "resume:";
  std::vector<std::string_view> prefixes = {kResume};
  const auto applied = co_await AppliedOf(run_id, std::move(prefixes));
  if (!applied.ok()) co_return applied.status();
  std::vector<std::string> ids;
  for (const std::string_view member : *applied) {
    if (!member.starts_with(kResume)) continue;
    const auto id = ParseApprovalMember(member.substr(kResume.size()));
    if (id && IsId(*id)) ids.emplace_back(*id);
  }
  co_return ids;
}

base::Task<absl::StatusOr<bool>> Coordinator::Sweep(std::string_view run_id) {
  events_.clear();
  CompletionSignal signal = StartSignal(run_id);
  Run run;
  run.run_id = std::string(run_id);
  absl::Status status = co_await ReadRun(signal, run);
  if (!status.ok()) co_return status;
  if (!run.found) co_return false;
  SignalOutcome outcome;
  outcome.run_id = run.run_id;
  outcome.counter = 1;
  status = co_await Settle(run, signal, /*is_retry=*/true, outcome);
  if (!status.ok()) co_return status;
  status = co_await PublishEvents();
  if (!status.ok()) co_return status;
  co_return outcome.completed;
}

base::Task<absl::StatusOr<int64_t>> Coordinator::SweepAll() {
  store::ScanOptions scan;
  scan.match = "ir:*";
  const absl::StatusOr<std::vector<std::string>> keys = co_await store::ScanAll(store_, scan);
  if (!keys.ok()) co_return keys.status();
  int64_t completed = 0;
  for (const std::string& key : *keys) {
    const std::optional<store::KeyMatch> match = keys_.Parse(key);
    if (!match || match->values.empty()) continue;
    const absl::StatusOr<bool> swept = co_await Sweep(match->values[0]);
    if (!swept.ok()) co_return swept.status();
    if (*swept) ++completed;
  }
  co_return completed;
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

base::Task<absl::Status> Coordinator::PublishEvents() {
  store::Batch batch(store::Batch::Atomicity::kPipeline);
  for (const Event& event : std::exchange(events_, {})) {
    const absl::StatusOr<std::string> channel = keys_.EventChannel(event.run_id);
    if (!channel.ok()) co_return channel.status();
    const absl::StatusOr<std::string> text = FormatEvent(event);
    if (!text.ok()) co_return text.status();
    batch.Add(CommandId::kPublish).AddOwned(*channel).AddOwned(*text);
  }
  co_return co_await Send(batch);
}

}  // namespace redouble::orchestrator
