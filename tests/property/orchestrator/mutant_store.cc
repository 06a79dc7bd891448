#include "redouble/tests/property/orchestrator/mutant_store.h"

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
#include "redouble/core/store/typed/hashes.h"
#include "redouble/core/store/typed/keys.h"
#include "redouble/core/store/typed/sets.h"
#include "redouble/core/store/typed/strings.h"

namespace redouble::inline v0_1::orchestrator {
namespace {

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

std::optional<MutantStore::Call> MutantStore::CallOf(const Request& request) {
  if (request.kind() != Request::Kind::kCommand) return std::nullopt;
  const Command& command = request.commands().front();
  if (command.id() != CommandId::kEvalSha) return std::nullopt;
  const std::span<const std::string_view> words = command.arguments();
  const auto keys = static_cast<size_t>(IntegerOf(words[1]));
  return Call{words[0], words.subspan(2, keys), words.subspan(2 + keys)};
}

std::string MutantStore::RunIdOf(std::string_view key) const {
  return std::string(keys_.Parse(key).value().values.at(0));
}

MutantStore::Result MutantStore::Intercept(const Request& request) {
  if (const std::optional<Call> call = CallOf(request)) {
    co_return co_await InterceptCall(request, *call);
  }
  const Command& first = request.commands().front();
  if (mutation_ == Mutation::kGroupAtTheEnd && first.id() == CommandId::kXGroupCreate) {
    co_return co_await CreateGroupAtTheEnd(first);
  }
  if (mutation_ == Mutation::kNodeConsumeKey && first.id() == CommandId::kLMove) {
    co_return co_await TakeSignal(request);
  }
  if (mutation_ == Mutation::kNodeConsumeKey && request.kind() == Request::Kind::kPipeline &&
      request.commands().back().id() == CommandId::kSIsMember) {
    co_return co_await ReadRunByNode(request);
  }
  co_return co_await Forward(request);
}

MutantStore::Result MutantStore::InterceptCall(const Request& request, const Call& call) {
  const bool emits = Is(call.sha1, kEmitTokensText);
  const bool changes = Is(call.sha1, kApplyDeltaGuardedText);
  const bool consumes = changes && call.arguments[0].starts_with(kConsume);
  switch (mutation_) {
    case Mutation::kNone:
    case Mutation::kGroupAtTheEnd:
      break;
    case Mutation::kConsumeBeforeEmit:
      if (emits) co_return co_await ConsumeBeforeEmit(call);
      break;
    case Mutation::kNoCounterGuard:
      if (emits) co_return co_await EmitUnguarded(call);
      if (changes) co_return co_await ApplyUnguarded(call);
      break;
    case Mutation::kFreshEmitKey:
      if (emits) co_return co_await EmitWithFreshKey(call);
      break;
    case Mutation::kNodeConsumeKey:
      if (consumes) co_return co_await ConsumeNode(call);
      break;
    case Mutation::kTwoStepCheck:
      if (consumes) co_return co_await ConsumeAndReportZero(call);
      if (Is(call.sha1, kFinishRunText)) co_return co_await FinishInTwoSteps(call);
      break;
    case Mutation::kRemoveApprovalFirst:
      if (Is(call.sha1, kHitlDecideText)) co_return co_await RemoveThenDecide(call);
      break;
    case Mutation::kPatchLosesTimeToLive:
      if (Is(call.sha1, kPatchIrText)) co_return co_await ReplaceWithoutKeepTtl(call);
      break;
  }
  co_return co_await Forward(request);
}

// KEYS of emit_tokens: applied, counter, context. ARGV: the emit operation, the consume operation,
// the number of tokens, the prefix of the route, the route.
MutantStore::Result MutantStore::ConsumeBeforeEmit(const Call& call) {
  const std::string run_id = RunIdOf(call.keys[1]);
  const std::string token = TokenOf(call.arguments[1]);
  const DeltaRequest consume = {run_id, call.arguments[1], -ParseTokenMark(token).join_count};
  REDOUBLE_CO_RETURN_IF_ERROR((co_await ApplyDeltaGuarded(inner(), keys_, consume)).status());
  co_return co_await CountEmission(call, EmitOp(token));
}

MutantStore::Result MutantStore::EmitWithFreshKey(const Call& call) {
  const std::string token = TokenOf(call.arguments[1]);
  co_return co_await CountEmission(call, EmitOp(absl::StrCat(token, "#", ++attempts_)));
}

MutantStore::Result MutantStore::CountEmission(const Call& call, std::string op) {
  const std::string run_id = RunIdOf(call.keys[1]);
  const DeltaRequest emit = {run_id, op, IntegerOf(call.arguments[2])};
  REDOUBLE_CO_ASSIGN_OR_RETURN(const CounterChange counted,
                               co_await ApplyDeltaGuarded(inner(), keys_, emit));
  if (counted.outcome == CounterChange::Outcome::kRunGone) co_return EmissionReply(-1, "");
  co_return EmissionReply(1, call.arguments[4]);
}

MutantStore::Result MutantStore::EmitUnguarded(const Call& call) {
  const std::string run_id = RunIdOf(call.keys[1]);
  const std::string op = EmitOp(TokenOf(call.arguments[1]));
  const DeltaRequest emit = {run_id, op, IntegerOf(call.arguments[2])};
  REDOUBLE_CO_RETURN_IF_ERROR((co_await ApplyDelta(inner(), keys_, emit)).status());
  co_return EmissionReply(1, call.arguments[4]);
}

// KEYS of apply_delta_guarded: applied, counter. ARGV: the operation, the delta.
MutantStore::Result MutantStore::ApplyUnguarded(const Call& call) {
  const std::string run_id = RunIdOf(call.keys[1]);
  const DeltaRequest delta = {run_id, call.arguments[0], IntegerOf(call.arguments[1])};
  REDOUBLE_CO_ASSIGN_OR_RETURN(const int64_t counter, co_await ApplyDelta(inner(), keys_, delta));
  co_return ChangeReply({CounterChange::Outcome::kApplied, counter});
}

MutantStore::Result MutantStore::ConsumeNode(const Call& call) {
  const std::string run_id = RunIdOf(call.keys[1]);
  const std::string op = NodeOp(call.arguments[0]);
  const DeltaRequest delta = {run_id, op, IntegerOf(call.arguments[1])};
  REDOUBLE_CO_ASSIGN_OR_RETURN(const CounterChange change,
                               co_await ApplyDeltaGuarded(inner(), keys_, delta));
  co_return ChangeReply(change);
}

// The coordinator starts its completion check only after a commit that leaves 0.
MutantStore::Result MutantStore::ConsumeAndReportZero(const Call& call) {
  const std::string run_id = RunIdOf(call.keys[1]);
  const DeltaRequest delta = {run_id, call.arguments[0], IntegerOf(call.arguments[1])};
  REDOUBLE_CO_ASSIGN_OR_RETURN(CounterChange change,
                               co_await ApplyDeltaGuarded(inner(), keys_, delta));
  if (change.outcome == CounterChange::Outcome::kApplied) change.counter = 0;
  co_return ChangeReply(change);
}

// KEYS of finish_run: counter, pending approvals, the other keys of the run. The reply is a code
// and the context.
MutantStore::Result MutantStore::FinishInTwoSteps(const Call& call) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto pending, co_await store::SCard(inner(), call.keys[1]));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto counter, co_await store::Get(inner(), call.keys[0]));
  const Reply no_context = Reply::Array({});
  if (pending > 0 || counter != "0") co_return Reply::Array({Reply::Integer(0), no_context});
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto deleted, co_await store::Del(inner(), call.keys));
  co_return Reply::Array({Reply::Integer(deleted > 0 ? 1 : 0), no_context});
}

// KEYS of hitl_decide: counter, applied, pending approvals, approval. ARGV: the member of the
// approval, the status, the time, the resume operation.
MutantStore::Result MutantStore::RemoveThenDecide(const Call& call) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto removed,
                               co_await store::SRem(inner(), call.keys[2], call.arguments[0]));
  if (!removed) co_return ChangeReply({CounterChange::Outcome::kDuplicate, -1});
  REDOUBLE_CO_RETURN_IF_ERROR(
      (co_await store::HSet(inner(), call.keys[3], "status", call.arguments[1])).status());
  const std::string run_id = RunIdOf(call.keys[0]);
  const DeltaRequest resume = {run_id, call.arguments[3], 1};
  REDOUBLE_CO_ASSIGN_OR_RETURN(const CounterChange resumed,
                               co_await ApplyDeltaGuarded(inner(), keys_, resume));
  co_return ChangeReply({CounterChange::Outcome::kApplied, resumed.counter});
}

// KEYS of patch_ir: ir, context. ARGV: the SHA-1 of the old graph, the new graph.
MutantStore::Result MutantStore::ReplaceWithoutKeepTtl(const Call& call) {
  store::SetOptions options;
  options.condition = store::SetOptions::Condition::kIfPresent;
  REDOUBLE_CO_ASSIGN_OR_RETURN(
      const bool set, co_await store::Set(inner(), call.keys[0], call.arguments[1], options));
  co_return Reply::Integer(set ? 1 : -1);
}

MutantStore::Result MutantStore::CreateGroupAtTheEnd(const Command& command) {
  const std::span<const std::string_view> words = command.arguments();  // CREATE, key, group, ...
  Command create(CommandId::kXGroupCreate, {words[1], words[2], "$"});
  create.AddAll(words.subspan(4));
  co_return co_await inner().Execute(create);
}

// Remembers which node the token of a signal belongs to.
MutantStore::Result MutantStore::TakeSignal(const Request& request) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const Reply reply, co_await Forward(request));
  if (reply.is_bulk()) {
    const absl::StatusOr<CompletionSignal> signal = ParseSignal(reply.text());
    if (signal.ok()) nodes_[signal->job_id] = signal->node_id;
  }
  co_return reply;
}

// The coordinator reads a run with GET ir, SISMEMBER applied consume:<token>.
MutantStore::Result MutantStore::ReadRunByNode(const Request& request) {
  const std::span<const Command> commands = request.commands();
  const std::span<const std::string_view> member = commands.back().arguments();
  const std::string op = NodeOp(member[1]);
  store::Batch batch(store::Batch::Atomicity::kPipeline);
  batch.Add(commands.front().id()).AddAll(commands.front().arguments());
  batch.Add(CommandId::kSIsMember).Add(member[0]).Add(op);
  co_return co_await inner().ExecuteRaw(batch);
}

std::string MutantStore::NodeOp(std::string_view consume_op) const {
  const auto node = nodes_.find(TokenOf(consume_op));
  if (node == nodes_.end()) return std::string(consume_op);
  return ConsumeOp(absl::StrCat("node:", node->second));
}

}  // namespace redouble::inline v0_1::orchestrator
