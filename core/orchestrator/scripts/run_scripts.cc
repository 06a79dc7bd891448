#include "redouble/core/orchestrator/scripts/run_scripts.h"

#include "redouble/core/base/hash/digest.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/redis_number.h"
#include "redouble/core/base/time/utc.h"
#include "redouble/core/orchestrator/document_reader.h"
#include "redouble/core/orchestrator/scripts/script_call.h"
#include "redouble/core/orchestrator/scripts/script_texts.h"
#include "redouble/core/store/decode.h"
#include "redouble/core/store/reply.h"

namespace redouble::inline v0_1::orchestrator {
namespace {

using store::CommandId;
using store::Reply;
using store::Script;

std::string Millis(absl::Duration duration) {
  return base::FormatInt64(absl::ToInt64Milliseconds(duration));
}

absl::StatusOr<Emission> DecodeEmission(absl::StatusOr<Reply> reply) {
  REDOUBLE_ASSIGN_OR_RETURN(const std::vector<Reply> elements,
                            store::DecodeArray(std::move(reply)));
  constexpr size_t kElements = 3;
  if (elements.size() != kElements || !elements[0].is_integer() || !elements[1].is_integer() ||
      !elements[2].is_bulk()) {
    return store::ProtocolError(absl::StrCat("expected a code, a counter and a route, got ",
                                             Reply::Array(elements).DebugString()));
  }
  using Outcome = Emission::Outcome;
  const int64_t code = elements[0].integer();
  Emission emission = {Outcome::kRunGone, elements[1].integer(), elements[2].text()};
  switch (code) {
    case 1:
      emission.outcome = Outcome::kEmitted;
      return emission;
    case 0:
      emission.outcome = Outcome::kEmittedBefore;
      return emission;
    case -1:
      return emission;
    case -2:
      emission.outcome = Outcome::kRefused;
      return emission;
    case -3:
      emission.outcome = Outcome::kConsumedBefore;
      return emission;
  }
  return UnknownCode(code);
}

std::string Number(size_t count) { return base::FormatInt64(static_cast<int64_t>(count)); }

// ARGV of emit_tokens.
std::vector<std::string> WordsOf(const EmitRequest& request) {
  std::vector<std::string> words = {request.count > 0 ? EmitOp(request.token_id) : "",
                                    ConsumeOp(request.token_id),
                                    base::FormatInt64(request.count),
                                    RouteOp(request.token_id),
                                    std::string(request.route),
                                    base::FormatInt64(request.consume),
                                    Number(request.loops.size())};
  for (const LoopState& loop : request.loops) {
    words.push_back(loop.iteration ? base::FormatInt64(*loop.iteration) : "");
  }
  words.push_back(Number(2 * request.context.size()));
  for (const auto& [field, value] : request.context) {
    words.push_back(field);
    words.push_back(value);
  }
  for (const store::Command& publication : request.publications) {
    const auto after_key = publication.arguments().subspan(1);
    words.emplace_back(publication.name());
    words.push_back(Number(after_key.size()));
    words.insert(words.end(), after_key.begin(), after_key.end());
  }
  return words;
}

constexpr std::string_view kResume = "resume:";

const Script& SortedMembersScript() {
  static const Script& script = ScriptOf(kSortedMembersText);
  return script;
}

// The approvals of the operations "resume:approval_<id>".
std::vector<std::string> ApprovalsOf(std::span<const std::string> applied) {
  std::vector<std::string> ids;
  for (const std::string_view member : applied) {
    const auto id = ParseApprovalMember(member.substr(kResume.size()));
    if (id && IsId(*id)) ids.emplace_back(*id);
  }
  return ids;
}

// All keys of a run except its counter, applied set and approvals.
void AddRunKeys(KeyList& list, Keys keys, std::string_view run_id,
                std::span<const std::string_view> nodes) {
  list.Add(keys.PendingApprovals(run_id)).Add(keys.Ir(run_id)).Add(keys.Context(run_id));
  for (const std::string_view node_id : nodes) {
    const RunNode node = {run_id, node_id};
    list.Add(keys.PendingTokens(node)).Add(keys.Loop(node));
  }
}

}  // namespace

base::Task<absl::StatusOr<bool>> StartRun(store::Store& store, Keys keys, StartRequest request) {
  static const Script& script = ScriptOf(kStartRunText);
  KeyList list;
  list.Add(keys.Ir(request.run_id)).Add(keys.Counter(request.run_id));
  list.Add(keys.Applied(request.run_id));
  REDOUBLE_CO_RETURN_IF_ERROR(list.status());
  const std::string tokens = base::FormatInt64(request.tokens);
  const std::string ttl = Millis(request.ttl);
  const std::string route = RouteOp(request.run_id).append(request.route);
  const std::vector<std::string_view> arguments = {request.ir, tokens, ttl, request.op, route};
  const std::vector<std::string_view> views = list.views();
  co_return store::DecodeBool(co_await script.Run(store, views, arguments));
}

base::Task<absl::StatusOr<Emission>> EmitTokens(store::Store& store, Keys keys,
                                                EmitRequest request) {
  static const Script& script = ScriptOf(kEmitTokensText);
  KeyList list;
  list.Add(keys.Applied(request.run_id)).Add(keys.Counter(request.run_id));
  list.Add(keys.Context(request.run_id));
  for (const LoopState& loop : request.loops) {
    const RunNode node = {request.run_id, loop.node_id};
    list.Add(keys.Loop(node));
  }
  for (const store::Command& publication : request.publications) {
    list.Add(std::string(publication.arguments().front()));
  }
  REDOUBLE_CO_RETURN_IF_ERROR(list.status());
  const std::vector<std::string> words = WordsOf(request);
  const std::vector<std::string_view> arguments(words.begin(), words.end());
  const std::vector<std::string_view> views = list.views();
  co_return DecodeEmission(co_await script.Run(store, views, arguments));
}

base::Task<absl::StatusOr<ReplaceIrOutcome>> ReplaceIr(store::Store& store, Keys keys,
                                                       ReplaceIrRequest request) {
  static const Script& script = ScriptOf(kPatchIrText);
  KeyList list;
  list.Add(keys.Ir(request.run_id)).Add(keys.Context(request.run_id));
  REDOUBLE_CO_RETURN_IF_ERROR(list.status());
  const std::string expected = base::Sha1Hex(request.expected);
  std::vector<std::string_view> arguments = {expected, request.ir};
  arguments.insert(arguments.end(), request.absent_fields.begin(), request.absent_fields.end());
  const std::vector<std::string_view> views = list.views();
  REDOUBLE_CO_ASSIGN_OR_RETURN(const int64_t code,
                               store::DecodeInteger(co_await script.Run(store, views, arguments)));
  switch (code) {
    case 1:
      co_return ReplaceIrOutcome::kReplaced;
    case 0:
      co_return ReplaceIrOutcome::kChanged;
    case -1:
      co_return ReplaceIrOutcome::kRunGone;
    case -2:
      co_return ReplaceIrOutcome::kFieldExists;
  }
  co_return UnknownCode(code);
}

base::Task<absl::StatusOr<FailOutcome>> FailRun(store::Store& store, Keys keys,
                                                FailRequest request) {
  static const Script& script = ScriptOf(kFailRunText);
  const std::string_view run_id = request.run_id;
  KeyList list;
  list.Add(keys.Counter(run_id)).Add(keys.Applied(run_id));
  AddRunKeys(list, keys, run_id, request.nodes);
  for (const std::string_view approval_id : request.approvals) {
    const RunApproval approval = {run_id, approval_id};
    list.Add(keys.Approval(approval));
  }
  REDOUBLE_CO_RETURN_IF_ERROR(list.status());
  const std::string op = ConsumeOp(request.token_id);
  const std::string approvals = base::FormatInt64(static_cast<int64_t>(request.approvals.size()));
  const std::string failed_at = base::FormatRfc3339(request.failed_at);
  const std::vector<std::string_view> arguments = {op, approvals, failed_at};
  const std::vector<std::string_view> views = list.views();
  REDOUBLE_CO_ASSIGN_OR_RETURN(const int64_t code,
                               store::DecodeInteger(co_await script.Run(store, views, arguments)));
  switch (code) {
    case 1:
      co_return FailOutcome::kFailed;
    case 0:
      co_return FailOutcome::kConsumedBefore;
    case -1:
      co_return FailOutcome::kRunGone;
  }
  co_return UnknownCode(code);
}

base::Task<absl::StatusOr<int64_t>> ExtendRun(store::Store& store, Keys keys,
                                              ExtendRequest request) {
  static const Script& script = ScriptOf(kExtendRunText);
  KeyList list;
  list.Add(keys.Counter(request.run_id)).Add(keys.Applied(request.run_id));
  AddRunKeys(list, keys, request.run_id, request.nodes);
  REDOUBLE_CO_RETURN_IF_ERROR(list.status());
  const std::string ttl = Millis(request.ttl);
  const std::vector<std::string_view> arguments = {ttl};
  const std::vector<std::string_view> views = list.views();
  co_return store::DecodeInteger(co_await script.Run(store, views, arguments));
}

base::Task<absl::StatusOr<bool>> CancelApproval(store::Store& store, Keys keys,
                                                RunApproval approval, absl::Time now) {
  static const Script& script = ScriptOf(kCancelApprovalText);
  KeyList list;
  list.Add(keys.Approval(approval)).Add(keys.Counter(approval.run_id));
  REDOUBLE_CO_RETURN_IF_ERROR(list.status());
  const std::string time = base::FormatRfc3339(now);
  const std::vector<std::string_view> arguments = {time};
  const std::vector<std::string_view> views = list.views();
  co_return store::DecodeBool(co_await script.Run(store, views, arguments));
}

base::Task<absl::StatusOr<bool>> RenewClaim(store::Store& store, Claim claim) {
  static const Script& script = ScriptOf(kKeepClaimText);
  const std::string_view keys[] = {claim.stream};
  const std::string_view arguments[] = {claim.group, claim.consumer, claim.entry_id};
  co_return store::DecodeBool(co_await script.Run(store, keys, arguments));
}

base::Task<absl::StatusOr<bool>> CompleteEntry(store::Store& store, Keys keys,
                                               EntryCompletion completion) {
  static const Script& script = ScriptOf(kCompleteEntryText);
  const std::string queue = keys.CompletionSignals(completion.signal_shard);
  const Claim& claim = completion.claim;
  const std::string_view list[] = {claim.stream, queue};
  const std::string_view arguments[] = {claim.group, claim.consumer, claim.entry_id,
                                        completion.signal, completion.delete_entry ? "1" : "0"};
  co_return store::DecodeBool(co_await script.Run(store, list, arguments));
}

base::Task<absl::StatusOr<bool>> AcquireLease(store::Store& store, Keys keys,
                                              LeaseRequest request) {
  static const Script& script = ScriptOf(kAcquireLeaseText);
  const std::string key = keys.ServiceLease();
  const std::string ttl = Millis(request.ttl);
  const std::string_view lease[] = {key};
  const std::string_view arguments[] = {request.holder, ttl};
  co_return store::DecodeBool(co_await script.Run(store, lease, arguments));
}

base::Task<absl::StatusOr<bool>> ReleaseLease(store::Store& store, Keys keys,
                                              std::string_view holder) {
  static const Script& script = ScriptOf(kReleaseLeaseText);
  const std::string key = keys.ServiceLease();
  const std::string_view lease[] = {key};
  const std::string_view arguments[] = {holder};
  co_return store::DecodeBool(co_await script.Run(store, lease, arguments));
}

base::Task<absl::StatusOr<std::vector<std::string>>> DecidedApprovals(store::Store& store,
                                                                      Keys keys,
                                                                      std::string run_id) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string key, keys.Applied(run_id));
  std::vector<std::string_view> prefixes = {kResume};
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto applied,
                               co_await SortedMembers(store, key, std::move(prefixes)));
  co_return ApprovalsOf(applied);
}

base::Task<absl::StatusOr<CompleteRun>> ReadIfComplete(store::Store& store, Keys keys,
                                                       std::string run_id) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string counter_key, keys.Counter(run_id));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string pending_key, keys.PendingApprovals(run_id));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string context_key, keys.Context(run_id));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string applied_key, keys.Applied(run_id));
  store::Batch batch(store::Batch::Atomicity::kTransaction);
  batch.Add(CommandId::kGet, {counter_key});
  batch.Add(CommandId::kSCard, {pending_key});
  batch.Add(CommandId::kHGetAll, {context_key});
  const std::string_view set[] = {applied_key};
  const std::string_view prefixes[] = {kResume};
  SortedMembersScript().AddTo(batch, set, prefixes);
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<Reply> replies,
                               co_await store::Execute(store, batch));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto counter, store::DecodeStringOrNil(replies[0]));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const int64_t pending, store::DecodeInteger(replies[1]));
  CompleteRun run;
  run.complete = counter == "0" && pending == 0;
  if (!run.complete) co_return run;
  REDOUBLE_CO_ASSIGN_OR_RETURN(run.context, DecodeSortedFields(replies[2]));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto applied, store::DecodeStrings(replies[3]));
  run.decided_approvals = ApprovalsOf(applied);
  co_return run;
}

base::Task<absl::StatusOr<std::vector<std::string>>> SortedMembers(
    store::Store& store, std::string_view key, std::vector<std::string_view> prefixes) {
  const std::string_view keys[] = {key};
  co_return store::DecodeStrings(co_await SortedMembersScript().Run(store, keys, prefixes));
}

}  // namespace redouble::inline v0_1::orchestrator
