#include "redouble/sim/operations/orchestrator/unguarded_store.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "redouble/core/base/hash/digest.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/orchestrator/messages.h"
#include "redouble/core/orchestrator/scripts/script_texts.h"
#include "redouble/core/orchestrator/scripts/scripts.h"
#include "redouble/core/orchestrator/token_ids.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/script.h"
#include "redouble/core/store/typed/hashes.h"
#include "redouble/core/store/typed/keys.h"
#include "redouble/core/store/typed/sets.h"
#include "redouble/core/store/typed/strings.h"

namespace redouble::inline v0_1::scenarios {
namespace {

using orchestrator::CompletionSignal;
using orchestrator::ConsumeOp;
using orchestrator::CounterChange;
using orchestrator::DeltaRequest;
using orchestrator::EmitOp;
using orchestrator::ParseTokenMark;
using store::Command;
using store::CommandId;
using store::Reply;
using store::Request;

constexpr std::string_view kConsume = "consume:";

bool Is(std::string_view sha1, std::string_view script_text) {
  return sha1 == base::Sha1Hex(script_text);
}

std::string TokenOf(std::string_view consume_op) {
  return std::string(consume_op.substr(kConsume.size()));
}

int64_t IntegerOf(std::string_view text) {
  int64_t value = 0;
  (void)absl::SimpleAtoi(std::string(text), &value);
  return value;
}

// The replies of the scripts that are replaced; docs/systems/orchestrator.md 4.1 lists the codes.
Reply EmissionReply(int64_t code, std::string_view route) {
  return Reply::Array({Reply::Integer(code), Reply::Integer(0), Reply::Bulk(route)});
}

Reply ChangeReply(const CounterChange& change) {
  int64_t code = 1;
  switch (change.outcome) {
    case CounterChange::Outcome::kApplied:
      break;
    case CounterChange::Outcome::kDuplicate:
      code = 0;
      break;
    case CounterChange::Outcome::kRunGone:
      code = -1;
      break;
    case CounterChange::Outcome::kRefused:
      code = -2;
      break;
  }
  return Reply::Array({Reply::Integer(code), Reply::Integer(change.counter)});
}

}  // namespace

std::optional<UnguardedStore::Call> UnguardedStore::CallOf(const Request& request) {
  if (request.kind() != Request::Kind::kCommand) return std::nullopt;
  const Command& command = request.commands().front();
  if (command.id() != CommandId::kEvalSha) return std::nullopt;
  const std::span<const std::string_view> words = command.arguments();
  const auto keys = static_cast<size_t>(IntegerOf(words[1]));
  return Call{words[0], words.subspan(2, keys), words.subspan(2 + keys)};
}

std::string UnguardedStore::RunIdOf(std::string_view key) const {
  return std::string(keys_.Parse(key).value().values.at(0));
}

UnguardedStore::Result UnguardedStore::Intercept(const Request& request) {
  if (const std::optional<Call> call = CallOf(request)) {
    co_return co_await InterceptCall(request, *call);
  }
  const Command& first = request.commands().front();
  if (late_ && first.id() == CommandId::kXAdd) co_return co_await PublishThenCount(request);
  if (unguarded_ == Unguarded::kGroupAtTheEnd && first.id() == CommandId::kXGroupCreate) {
    co_return co_await CreateGroupAtTheEnd(first);
  }
  if (unguarded_ == Unguarded::kNodeConsumeKey && first.id() == CommandId::kLMove) {
    co_return co_await TakeSignal(request);
  }
  if (unguarded_ == Unguarded::kNodeConsumeKey && request.kind() == Request::Kind::kPipeline &&
      request.commands().back().id() == CommandId::kSIsMember) {
    co_return co_await ReadRunByNode(request);
  }
  co_return co_await Forward(request);
}

UnguardedStore::Result UnguardedStore::InterceptCall(const Request& request, const Call& call) {
  const bool emits = Is(call.sha1, orchestrator::kEmitTokensText);
  const bool changes = Is(call.sha1, orchestrator::kApplyDeltaGuardedText);
  const bool consumes = changes && call.arguments[0].starts_with(kConsume);
  switch (unguarded_) {
    case Unguarded::kNone:
    case Unguarded::kGroupAtTheEnd:
      break;
    case Unguarded::kConsumeBeforeEmit:
      if (emits) co_return co_await ConsumeBeforeEmit(call);
      break;
    case Unguarded::kPublishBeforeEmit:
      if (emits) co_return co_await ConsumeAndEmitLater(call);
      if (consumes && late_) co_return co_await ReportConsumption();
      break;
    case Unguarded::kNoCounterGuard:
      if (emits) co_return co_await EmitUnguarded(call);
      if (changes) co_return co_await ApplyUnguarded(call);
      break;
    case Unguarded::kLookUpThenApply:
      if (Is(call.sha1, orchestrator::kApplyDeltaText)) co_return co_await LookUpThenApply(call);
      break;
    case Unguarded::kFreshEmitKey:
      if (emits) co_return co_await EmitWithFreshKey(call);
      break;
    case Unguarded::kNodeConsumeKey:
      if (consumes) co_return co_await ConsumeNode(call);
      break;
    case Unguarded::kLoopByIncrement:
      if (emits) co_return co_await IncrementLoopsThenEmit(call);
      break;
    case Unguarded::kJoinInTwoSteps:
      if (Is(call.sha1, orchestrator::kJoinArriveText)) co_return co_await ArriveInTwoSteps(call);
      break;
    case Unguarded::kTwoStepCheck:
      if (consumes) co_return co_await ConsumeAndReportZero(call);
      if (Is(call.sha1, orchestrator::kFinishRunText)) co_return co_await FinishInTwoSteps(call);
      break;
    case Unguarded::kDecideStepByStep:
      if (Is(call.sha1, orchestrator::kHitlDecideText)) co_return co_await DecideStepByStep(call);
      break;
    case Unguarded::kPatchBySet:
      if (Is(call.sha1, orchestrator::kPatchIrText)) co_return co_await ReplaceBySet(call);
      break;
  }
  co_return co_await Forward(request);
}

// KEYS of emit_tokens: applied, counter, context. ARGV: the emit operation, the consume operation,
// the number of tokens, the prefix of the route, the route.
UnguardedStore::Result UnguardedStore::ConsumeBeforeEmit(const Call& call) {
  const std::string run_id = RunIdOf(call.keys[1]);
  const std::string token = TokenOf(call.arguments[1]);
  const DeltaRequest consume = {run_id, call.arguments[1], -ParseTokenMark(token).join_count};
  REDOUBLE_CO_RETURN_IF_ERROR(
      (co_await orchestrator::ApplyDeltaGuarded(inner(), keys_, consume)).status());
  co_return co_await CountEmission(call, EmitOp(token));
}

// The original documents consume the token, publish its successors, and count these. A node without
// successors only consumes.
UnguardedStore::Result UnguardedStore::ConsumeAndEmitLater(const Call& call) {
  LateEmission late;
  late.run_id = RunIdOf(call.keys[1]);
  const std::string token = TokenOf(call.arguments[1]);
  late.op = EmitOp(token);
  late.tokens = IntegerOf(call.arguments[2]);
  const DeltaRequest consume = {late.run_id, call.arguments[1], -ParseTokenMark(token).join_count};
  REDOUBLE_CO_ASSIGN_OR_RETURN(late.counter,
                               co_await orchestrator::ApplyDelta(inner(), keys_, consume));
  late.counted = late.tokens == 0;
  late_ = std::move(late);
  co_return EmissionReply(1, call.arguments[4]);
}

UnguardedStore::Result UnguardedStore::PublishThenCount(const Request& request) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(Reply reply, co_await Forward(request));
  REDOUBLE_CO_RETURN_IF_ERROR(co_await CountLateEmission());
  co_return std::move(reply);
}

base::Task<absl::Status> UnguardedStore::CountLateEmission() {
  if (std::exchange(late_->counted, true)) co_return absl::OkStatus();
  const DeltaRequest emit = {late_->run_id, late_->op, late_->tokens};
  co_return (co_await orchestrator::ApplyDelta(inner(), keys_, emit)).status();
}

// The token has been consumed already. The reply is never 0 after an emission, so that the caller
// does not take the run for complete.
UnguardedStore::Result UnguardedStore::ReportConsumption() {
  REDOUBLE_CO_RETURN_IF_ERROR(co_await CountLateEmission());
  const int64_t counter = late_->tokens > 0 ? std::max<int64_t>(late_->counter, 1) : late_->counter;
  late_.reset();
  co_return ChangeReply({CounterChange::Outcome::kApplied, counter});
}

UnguardedStore::Result UnguardedStore::EmitWithFreshKey(const Call& call) {
  ++attempts_;
  std::string op = EmitOp(absl::StrCat(TokenOf(call.arguments[1]), "#", attempts_));
  co_return co_await CountEmission(call, std::move(op));
}

// Before the other arguments of emit_tokens are: the number of loops, and the iteration of each,
// which is empty if the loop has ended. Their keys follow the first three.
UnguardedStore::Result UnguardedStore::IncrementLoopsThenEmit(const Call& call) {
  static const store::Script* const kScript =
      new store::Script(std::string(orchestrator::kEmitTokensText));
  constexpr size_t kCount = 6;
  constexpr size_t kKeys = 3;
  const auto loops = static_cast<size_t>(IntegerOf(call.arguments[kCount]));
  for (size_t i = 0; i < loops; ++i) {
    const std::string_view key = call.keys[kKeys + i];
    if (call.arguments[kCount + 1 + i].empty()) {
      REDOUBLE_CO_RETURN_IF_ERROR((co_await store::Del(inner(), {&key, 1})).status());
    } else {
      REDOUBLE_CO_RETURN_IF_ERROR(
          (co_await store::HIncrBy(inner(), key, "current_iteration", 1)).status());
    }
  }
  std::vector<std::string_view> keys(call.keys.begin(), call.keys.end());
  std::vector<std::string_view> arguments(call.arguments.begin(), call.arguments.end());
  keys.erase(keys.begin() + kKeys, keys.begin() + static_cast<std::ptrdiff_t>(kKeys + loops));
  arguments.erase(arguments.begin() + kCount + 1,
                  arguments.begin() + static_cast<std::ptrdiff_t>(kCount + 1 + loops));
  arguments[kCount] = "0";
  co_return co_await kScript->Run(inner(), keys, arguments);
}

UnguardedStore::Result UnguardedStore::CountEmission(const Call& call, std::string op) {
  const std::string run_id = RunIdOf(call.keys[1]);
  const DeltaRequest emit = {run_id, op, IntegerOf(call.arguments[2])};
  REDOUBLE_CO_ASSIGN_OR_RETURN(const CounterChange counted,
                               co_await orchestrator::ApplyDeltaGuarded(inner(), keys_, emit));
  if (counted.outcome == CounterChange::Outcome::kRunGone) co_return EmissionReply(-1, "");
  co_return EmissionReply(1, call.arguments[4]);
}

UnguardedStore::Result UnguardedStore::EmitUnguarded(const Call& call) {
  const std::string run_id = RunIdOf(call.keys[1]);
  const std::string op = EmitOp(TokenOf(call.arguments[1]));
  const DeltaRequest emit = {run_id, op, IntegerOf(call.arguments[2])};
  REDOUBLE_CO_RETURN_IF_ERROR((co_await orchestrator::ApplyDelta(inner(), keys_, emit)).status());
  co_return EmissionReply(1, call.arguments[4]);
}

// KEYS of apply_delta_guarded: applied, counter. ARGV: the operation, the delta.
UnguardedStore::Result UnguardedStore::ApplyUnguarded(const Call& call) {
  const std::string run_id = RunIdOf(call.keys[1]);
  const DeltaRequest delta = {run_id, call.arguments[0], IntegerOf(call.arguments[1])};
  REDOUBLE_CO_ASSIGN_OR_RETURN(const int64_t counter,
                               co_await orchestrator::ApplyDelta(inner(), keys_, delta));
  co_return ChangeReply({CounterChange::Outcome::kApplied, counter});
}

// KEYS of apply_delta: applied, counter. ARGV: the operation, the delta.
UnguardedStore::Result UnguardedStore::LookUpThenApply(const Call& call) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const bool applied,
                               co_await store::SIsMember(inner(), call.keys[0], call.arguments[0]));
  if (applied) co_return Reply::Integer(0);
  REDOUBLE_CO_RETURN_IF_ERROR(
      (co_await store::SAdd(inner(), call.keys[0], call.arguments[0])).status());
  REDOUBLE_CO_ASSIGN_OR_RETURN(
      const int64_t counter,
      co_await store::IncrBy(inner(), call.keys[1], IntegerOf(call.arguments[1])));
  co_return Reply::Integer(counter);
}

UnguardedStore::Result UnguardedStore::ConsumeNode(const Call& call) {
  const std::string run_id = RunIdOf(call.keys[1]);
  const std::string op = NodeOp(call.arguments[0]);
  const DeltaRequest delta = {run_id, op, IntegerOf(call.arguments[1])};
  REDOUBLE_CO_ASSIGN_OR_RETURN(const CounterChange change,
                               co_await orchestrator::ApplyDeltaGuarded(inner(), keys_, delta));
  co_return ChangeReply(change);
}

// The coordinator starts its completion check only after a commit that leaves 0.
UnguardedStore::Result UnguardedStore::ConsumeAndReportZero(const Call& call) {
  const std::string run_id = RunIdOf(call.keys[1]);
  const DeltaRequest delta = {run_id, call.arguments[0], IntegerOf(call.arguments[1])};
  REDOUBLE_CO_ASSIGN_OR_RETURN(CounterChange change,
                               co_await orchestrator::ApplyDeltaGuarded(inner(), keys_, delta));
  if (change.outcome == CounterChange::Outcome::kApplied) change.counter = 0;
  co_return ChangeReply(change);
}

// KEYS of finish_run: counter, pending approvals, the other keys of the run. The reply is a code
// and the context.
UnguardedStore::Result UnguardedStore::FinishInTwoSteps(const Call& call) {
  const Reply no_context = Reply::Array({});
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto counter, co_await store::Get(inner(), call.keys[0]));
  if (counter != "0") co_return Reply::Array({Reply::Integer(0), no_context});
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto pending, co_await store::SCard(inner(), call.keys[1]));
  if (pending > 0) co_return Reply::Array({Reply::Integer(0), no_context});
  REDOUBLE_CO_RETURN_IF_ERROR((co_await store::Del(inner(), call.keys)).status());
  co_return Reply::Array({Reply::Integer(1), no_context});
}

// KEYS of hitl_decide: counter, applied, pending approvals, approval. ARGV: the member of the
// approval, the status, the time, the resume operation.
UnguardedStore::Result UnguardedStore::DecideStepByStep(const Call& call) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto status,
                               co_await store::HGet(inner(), call.keys[3], "status"));
  if (status != "pending") co_return ChangeReply({CounterChange::Outcome::kDuplicate, -1});
  REDOUBLE_CO_RETURN_IF_ERROR(
      (co_await store::HSet(inner(), call.keys[3], "status", call.arguments[1])).status());
  REDOUBLE_CO_RETURN_IF_ERROR(
      (co_await store::SRem(inner(), call.keys[2], call.arguments[0])).status());
  REDOUBLE_CO_RETURN_IF_ERROR(
      (co_await store::SAdd(inner(), call.keys[1], call.arguments[3])).status());
  REDOUBLE_CO_ASSIGN_OR_RETURN(const int64_t counter,
                               co_await store::IncrBy(inner(), call.keys[0], 1));
  co_return ChangeReply({CounterChange::Outcome::kApplied, counter});
}

// KEYS of join_arrive: the pending tokens of the join, applied. ARGV: the join, the predecessor,
// the token, the number of predecessors. The reply: whether it is new, the number of arrivals,
// whether the join fires.
UnguardedStore::Result UnguardedStore::ArriveInTwoSteps(const Call& call) {
  REDOUBLE_CO_RETURN_IF_ERROR(
      (co_await store::SAdd(inner(), call.keys[0], call.arguments[1])).status());
  REDOUBLE_CO_ASSIGN_OR_RETURN(const int64_t count, co_await store::SCard(inner(), call.keys[0]));
  const bool fires = count >= IntegerOf(call.arguments[3]);
  if (fires) {
    REDOUBLE_CO_RETURN_IF_ERROR((co_await store::Del(inner(), call.keys.first(1))).status());
  }
  co_return Reply::Array({Reply::Integer(1), Reply::Integer(count), Reply::Integer(fires)});
}

// KEYS of patch_ir: ir, context. ARGV: the SHA-1 of the old graph, the new graph.
UnguardedStore::Result UnguardedStore::ReplaceBySet(const Call& call) {
  REDOUBLE_CO_RETURN_IF_ERROR(
      (co_await store::Set(inner(), call.keys[0], call.arguments[1])).status());
  co_return Reply::Integer(1);
}

UnguardedStore::Result UnguardedStore::CreateGroupAtTheEnd(const Command& command) {
  const std::span<const std::string_view> words = command.arguments();  // CREATE, key, group, ...
  Command create(CommandId::kXGroupCreate, {words[1], words[2], "$"});
  create.AddAll(words.subspan(4));
  co_return co_await inner().Execute(create);
}

// Remembers which node the token of a signal belongs to.
UnguardedStore::Result UnguardedStore::TakeSignal(const Request& request) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const Reply reply, co_await Forward(request));
  if (reply.is_bulk()) {
    const absl::StatusOr<CompletionSignal> signal = orchestrator::ParseSignal(reply.text());
    if (signal.ok()) nodes_[signal->job_id] = signal->node_id;
  }
  co_return reply;
}

// The coordinator reads a run with GET ir, SISMEMBER applied consume:<token>.
UnguardedStore::Result UnguardedStore::ReadRunByNode(const Request& request) {
  const std::span<const Command> commands = request.commands();
  const std::span<const std::string_view> member = commands.back().arguments();
  const std::string op = NodeOp(member[1]);
  store::Batch batch(store::Batch::Atomicity::kPipeline);
  batch.Add(commands.front().id()).AddAll(commands.front().arguments());
  batch.Add(CommandId::kSIsMember).Add(member[0]).Add(op);
  co_return co_await inner().ExecuteRaw(batch);
}

std::string UnguardedStore::NodeOp(std::string_view consume_op) const {
  const auto node = nodes_.find(TokenOf(consume_op));
  if (node == nodes_.end()) return std::string(consume_op);
  return ConsumeOp(absl::StrCat("node:", node->second));
}

}  // namespace redouble::inline v0_1::scenarios
