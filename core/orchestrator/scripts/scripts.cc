#include "redouble/core/orchestrator/scripts/scripts.h"

#include <array>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/redis_number.h"
#include "redouble/core/base/time/utc.h"
#include "redouble/core/orchestrator/errors.h"
#include "redouble/core/orchestrator/scripts/script_call.h"
#include "redouble/core/orchestrator/scripts/script_texts.h"
#include "redouble/core/store/decode.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/script.h"

namespace redouble::inline v0_1::orchestrator {
namespace {

using store::Reply;
using store::Script;

// Decodes a reply that is a list of kSize integers.
template <size_t kSize>
absl::StatusOr<std::array<int64_t, kSize>> DecodeIntegers(absl::StatusOr<Reply> reply) {
  REDOUBLE_ASSIGN_OR_RETURN(const std::vector<Reply> elements,
                            store::DecodeArray(std::move(reply)));
  std::array<int64_t, kSize> integers;
  bool fits = elements.size() == kSize;
  for (size_t i = 0; fits && i < kSize; ++i) {
    fits = elements[i].is_integer();
    if (fits) integers[i] = elements[i].integer();
  }
  if (fits) return integers;
  return store::ProtocolError(
      absl::StrCat("expected ", kSize, " integers, got ", Reply::Array(elements).DebugString()));
}

absl::StatusOr<CounterChange> DecodeCounterChange(absl::StatusOr<Reply> reply) {
  using Outcome = CounterChange::Outcome;
  REDOUBLE_ASSIGN_OR_RETURN(const auto integers, DecodeIntegers<2>(std::move(reply)));
  const auto [code, counter] = integers;
  switch (code) {
    case 1:
      return CounterChange{Outcome::kApplied, counter};
    case 0:
      return CounterChange{Outcome::kDuplicate, counter};
    case -1:
      return CounterChange{Outcome::kRunGone, counter};
    case -2:
      return CounterChange{Outcome::kRefused, counter};
  }
  return UnknownCode(code);
}

absl::StatusOr<Decision> DecodeDecision(absl::StatusOr<Reply> reply) {
  using Outcome = Decision::Outcome;
  REDOUBLE_ASSIGN_OR_RETURN(const auto integers, DecodeIntegers<2>(std::move(reply)));
  const auto [code, counter] = integers;
  switch (code) {
    case 1:
      return Decision{Outcome::kDecided, counter};
    case 0:
      return Decision{Outcome::kNotPending, 0};
    case -1:
      return Decision{Outcome::kRunGone, 0};
  }
  return UnknownCode(code);
}

absl::StatusOr<Arrival> DecodeArrival(absl::StatusOr<Reply> reply) {
  using Outcome = Arrival::Outcome;
  REDOUBLE_ASSIGN_OR_RETURN(const auto integers, DecodeIntegers<3>(std::move(reply)));
  const auto [added, count, fire] = integers;
  switch (added) {
    case 1:
      return Arrival{Outcome::kParked, count, fire == 1};
    case 0:
      return Arrival{Outcome::kDuplicate, count, fire == 1};
    case -1:
      return Arrival{Outcome::kRunGone, count, false};
    case -2:
      return Arrival{Outcome::kPredecessorTwice, count, false};
  }
  return UnknownCode(added);
}

absl::StatusOr<std::optional<FiredJoin>> DecodeFiredJoin(absl::StatusOr<Reply> reply,
                                                         size_t joins) {
  REDOUBLE_ASSIGN_OR_RETURN(const std::vector<Reply> elements,
                            store::DecodeArray(std::move(reply)));
  constexpr size_t kElements = 3;
  if (elements.size() != kElements || !elements[0].is_integer() || !elements[1].is_integer() ||
      !elements[2].is_bulk()) {
    return store::ProtocolError(absl::StrCat("expected a join, a count and an id, got ",
                                             Reply::Array(elements).DebugString()));
  }
  const int64_t index = elements[0].integer();
  if (index == 0) return std::nullopt;
  if (index < 0 || static_cast<size_t>(index) > joins) return UnknownCode(index);
  return FiredJoin{static_cast<size_t>(index) - 1, elements[1].integer(), elements[2].text()};
}

absl::StatusOr<Finish> DecodeFinish(absl::StatusOr<Reply> reply) {
  REDOUBLE_ASSIGN_OR_RETURN(std::vector<Reply> elements, store::DecodeArray(std::move(reply)));
  if (elements.size() != 2 || !elements[0].is_integer()) {
    return store::ProtocolError(
        absl::StrCat("expected a code and a context, got ", Reply::Array(elements).DebugString()));
  }
  Finish finish;
  REDOUBLE_ASSIGN_OR_RETURN(finish.context, DecodeSortedFields(std::move(elements[1])));
  const int64_t code = elements[0].integer();
  switch (code) {
    case 1:
      finish.outcome = FinishOutcome::kFinished;
      return finish;
    case 0:
      finish.outcome = FinishOutcome::kNotFinished;
      return finish;
    case -1:
      finish.outcome = FinishOutcome::kRunGone;
      return finish;
  }
  return UnknownCode(code);
}

}  // namespace

base::Task<absl::StatusOr<int64_t>> ApplyDelta(store::Store& store, Keys keys,
                                               DeltaRequest request) {
  static const Script& script = ScriptOf(kApplyDeltaText);
  KeyList list;
  list.Add(keys.Applied(request.run_id)).Add(keys.Counter(request.run_id));
  REDOUBLE_CO_RETURN_IF_ERROR(list.status());
  const std::vector<std::string_view> views = list.views();
  const std::string delta = base::FormatInt64(request.delta);
  const std::array<std::string_view, 2> arguments = {request.op, delta};
  co_return store::DecodeInteger(co_await script.Run(store, views, arguments));
}

base::Task<absl::StatusOr<CounterChange>> ApplyDeltaGuarded(store::Store& store, Keys keys,
                                                            DeltaRequest request) {
  static const Script& script = ScriptOf(kApplyDeltaGuardedText);
  KeyList list;
  list.Add(keys.Applied(request.run_id)).Add(keys.Counter(request.run_id));
  REDOUBLE_CO_RETURN_IF_ERROR(list.status());
  const std::vector<std::string_view> views = list.views();
  const std::string delta = base::FormatInt64(request.delta);
  const std::array<std::string_view, 2> arguments = {request.op, delta};
  co_return DecodeCounterChange(co_await script.Run(store, views, arguments));
}

base::Task<absl::StatusOr<CounterChange>> PauseForApproval(store::Store& store, Keys keys,
                                                           PauseRequest request) {
  static const Script& script = ScriptOf(kHitlPauseText);
  const std::string_view run_id = request.approval.run_id;
  KeyList list;
  list.Add(keys.Counter(run_id)).Add(keys.Applied(run_id)).Add(keys.PendingApprovals(run_id));
  const RunApproval approval = {run_id, request.approval_id};
  list.Add(keys.Approval(approval));
  REDOUBLE_CO_RETURN_IF_ERROR(list.status());

  const std::string op = ConsumeOp(request.token_id);
  const std::string member = ApprovalMember(request.approval_id);
  const HashFields fields = FormatApproval(request.approval);
  std::vector<std::string_view> arguments = {op, member};
  for (const auto& [name, value] : fields) {
    arguments.push_back(name);
    arguments.push_back(value);
  }
  const std::vector<std::string_view> views = list.views();
  co_return DecodeCounterChange(co_await script.Run(store, views, arguments));
}

base::Task<absl::StatusOr<Decision>> DecideApproval(store::Store& store, Keys keys,
                                                    DecisionRequest request) {
  static const Script& script = ScriptOf(kHitlDecideText);
  if (request.status == ApprovalStatus::kPending) {
    co_return MakeError(ErrorCode::kInvalidDecision, "a decision cannot be \"pending\"");
  }
  KeyList list;
  list.Add(keys.Counter(request.run_id)).Add(keys.Applied(request.run_id));
  const RunApproval approval = {request.run_id, request.approval_id};
  list.Add(keys.PendingApprovals(request.run_id)).Add(keys.Approval(approval));
  REDOUBLE_CO_RETURN_IF_ERROR(list.status());

  const std::string member = ApprovalMember(request.approval_id);
  const std::string decided_at = base::FormatRfc3339(request.decided_at);
  const std::string op = ResumeOp(request.approval_id);
  std::vector<std::string_view> arguments = {member, ApprovalStatusName(request.status), decided_at,
                                             op};
  for (const auto& [field, value] : request.fields) {
    arguments.push_back(field);
    arguments.push_back(value);
  }
  const std::vector<std::string_view> views = list.views();
  co_return DecodeDecision(co_await script.Run(store, views, arguments));
}

base::Task<absl::StatusOr<Arrival>> ArriveAtJoin(store::Store& store, Keys keys,
                                                 ArrivalRequest request) {
  static const Script& script = ScriptOf(kJoinArriveText);
  if (request.needed < 1) {
    co_return MakeError(ErrorCode::kInvalidJoin, "it needs at least one predecessor");
  }
  const RunNode join = {request.run_id, request.join};
  KeyList list;
  list.Add(keys.PendingTokens(join)).Add(keys.Applied(request.run_id));
  REDOUBLE_CO_RETURN_IF_ERROR(list.status());

  const std::string needed = base::FormatInt64(request.needed);
  const std::string dropping = DropOp({request.join, request.token_id});
  const std::array<std::string_view, 5> arguments = {request.join, request.predecessor,
                                                     request.token_id, needed, dropping};
  const std::vector<std::string_view> views = list.views();
  co_return DecodeArrival(co_await script.Run(store, views, arguments));
}

base::Task<absl::StatusOr<std::optional<FiredJoin>>> QuiesceJoins(store::Store& store, Keys keys,
                                                                  QuiesceRequest request) {
  static const Script& script = ScriptOf(kJoinQuiesceText);
  KeyList list;
  list.Add(keys.Counter(request.run_id)).Add(keys.PendingApprovals(request.run_id));
  for (const std::string_view node_id : request.joins) {
    const RunNode join = {request.run_id, node_id};
    list.Add(keys.PendingTokens(join));
  }
  list.Add(keys.Applied(request.run_id));
  REDOUBLE_CO_RETURN_IF_ERROR(list.status());

  std::vector<std::string_view> arguments(request.joins.begin(), request.joins.end());
  arguments.push_back(request.loops);
  const std::vector<std::string_view> views = list.views();
  co_return DecodeFiredJoin(co_await script.Run(store, views, arguments), request.joins.size());
}

base::Task<absl::StatusOr<Finish>> FinishRun(store::Store& store, Keys keys,
                                             FinishRequest request) {
  static const Script& script = ScriptOf(kFinishRunText);
  const std::string_view run_id = request.run_id;
  KeyList list;
  list.Add(keys.Counter(run_id)).Add(keys.PendingApprovals(run_id)).Add(keys.Context(run_id));
  list.Add(keys.Ir(run_id)).Add(keys.Applied(run_id));
  for (const std::string_view node_id : request.nodes) {
    const RunNode node = {run_id, node_id};
    list.Add(keys.PendingTokens(node)).Add(keys.Loop(node));
  }
  for (const std::string_view approval_id : request.approvals) {
    const RunApproval approval = {run_id, approval_id};
    list.Add(keys.Approval(approval));
  }
  REDOUBLE_CO_RETURN_IF_ERROR(list.status());
  const std::vector<std::string_view> views = list.views();
  co_return DecodeFinish(co_await script.Run(store, views, {}));
}

}  // namespace redouble::inline v0_1::orchestrator
