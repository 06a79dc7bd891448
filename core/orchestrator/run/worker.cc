#include "redouble/core/orchestrator/run/worker.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/base/text/utf8.h"
#include "redouble/core/orchestrator/errors.h"
#include "redouble/core/orchestrator/run/signal_queue.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/store/decode.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/typed/streams.h"

namespace redouble::inline v0_1::orchestrator {
namespace {

using store::GroupConsumer;
using store::StreamEntry;

// A completed signal for a token, without a result.
CompletionSignal SignalOf(const Token& token) {
  CompletionSignal signal;
  signal.job_id = token.id;
  signal.run_id = token.run_id;
  signal.node_id = token.to_node;
  return signal;
}

// The failure of a signal. Its texts are UTF-8, so that the signal can be written.
NodeFailure FailureOf(const absl::Status& status) {
  std::string message(status.message());
  if (!base::IsValidUtf8(message)) message = absl::CHexEscape(message);
  return {absl::StatusCodeToString(status.code()), std::move(message), IsRetryable(status)};
}

base::Task<absl::StatusOr<NodeResult>> FailAfter(base::Clock& clock, absl::Duration timeout) {
  co_await clock.Sleep(timeout);
  co_return MakeError(ErrorCode::kNodeTimeout,
                      absl::StrCat("it ran longer than ", absl::FormatDuration(timeout)));
}

}  // namespace

// What the execution of a token leads to.
struct Worker::Execution {
  enum class End { kExecuted, kFailed, kDeferred, kClaimLost };

  End end = End::kClaimLost;
  std::string signal = {};  // Of kExecuted and kFailed.
};

Worker::Worker(store::Store& store, base::Clock& clock, Keys keys, WorkerOptions options,
               NodeFunction execute)
    : store_(store),
      clock_(clock),
      keys_(keys),
      options_(std::move(options)),
      execute_(std::move(execute)) {
  for (int64_t shard = 0; shard < keys_.queue_shards(); ++shard) {
    absl::StatusOr<std::string> stream = keys_.TaskStream(options_.type, shard);
    valid_type_.Update(stream.status());
    if (stream.ok()) shards_.push_back({*std::move(stream)});
  }
  // Workers begin at different shards, so that they do not all block on the same one.
  if (!shards_.empty()) current_ = static_cast<size_t>(keys_.ShardOf(options_.consumer));
}

// The claim of an entry. The views are of `entry_id` and of this worker.
Claim Worker::ClaimOf(std::string_view entry_id) const {
  return {shards_[current_].stream, options_.group, options_.consumer, entry_id};
}

base::Task<absl::Status> Worker::EnsureGroup() {
  REDOUBLE_CO_RETURN_IF_ERROR(valid_type_);
  for (const Shard& shard : shards_) {
    REDOUBLE_CO_RETURN_IF_ERROR(co_await CreateGroup(shard.stream));
  }
  co_return absl::OkStatus();
}

base::Task<absl::Status> Worker::CreateGroup(std::string_view stream) {
  store::XGroupOptions group;
  group.make_stream = true;
  absl::Status created = co_await store::XGroupCreate(store_, stream, options_.group, group);
  if (store::ServerErrorCode(created) == "BUSYGROUP") co_return absl::OkStatus();
  co_return created;
}

// Reads the next entry of the current shard.
base::Task<Worker::NextEntry> Worker::ReadCurrent(std::optional<absl::Duration> block) {
  const GroupConsumer consumer = {options_.group, options_.consumer};
  const std::string& stream = Current().stream;
  const store::StreamRead reads[] = {{.key = stream}};
  store::XReadGroupOptions read_options;
  read_options.count = 1;
  // XREADGROUP BLOCK 0 would block without limit.
  if (block > absl::ZeroDuration()) read_options.block = block;
  auto streams = co_await store::XReadGroup(store_, consumer, reads, read_options);
  if (store::ServerErrorCode(streams.status()) == "NOGROUP") {
    REDOUBLE_CO_RETURN_IF_ERROR(co_await CreateGroup(stream));
    streams = co_await store::XReadGroup(store_, consumer, reads, read_options);
  }
  REDOUBLE_CO_RETURN_IF_ERROR(streams.status());
  if (streams->empty() || streams->front().entries.empty()) co_return std::nullopt;
  co_return std::move(streams->front().entries.front());
}

// Reads the next entry of any shard, beginning after the last one; it is then of the current shard.
base::Task<Worker::NextEntry> Worker::Read() {
  REDOUBLE_CO_RETURN_IF_ERROR(valid_type_);
  if (shards_.size() == 1) co_return co_await ReadCurrent(options_.block);
  for (size_t i = 0; i < shards_.size(); ++i) {
    Advance();
    REDOUBLE_CO_ASSIGN_OR_RETURN(std::optional<StreamEntry> entry,
                                 co_await ReadCurrent(std::nullopt));
    if (entry) co_return std::move(entry);
  }
  Advance();
  if (!(options_.block > absl::ZeroDuration())) co_return std::nullopt;
  co_return co_await ReadCurrent(std::min(*options_.block, kShardWait));
}

base::Task<absl::StatusOr<WorkReport>> Worker::Poll() {
  WorkReport report;
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::optional<StreamEntry> entry, co_await Read());
  if (!entry) co_return report;
  REDOUBLE_CO_RETURN_IF_ERROR(co_await Handle(*entry, /*deliveries=*/1, report));
  co_return report;
}

// Claims the next idle entry of the current shard; nullopt if the scan found none.
base::Task<Worker::NextEntry> Worker::ClaimNext() {
  const GroupConsumer consumer = {options_.group, options_.consumer};
  store::XAutoClaimOptions claim;
  claim.min_idle = options_.min_idle;
  claim.start = Current().claim_from;
  claim.count = 1;
  auto claimed = co_await store::XAutoClaim(store_, Current().stream, consumer, claim);
  if (store::ServerErrorCode(claimed.status()) == "NOGROUP") {
    Current().claim_from = store::StreamId::Min();
    co_return std::nullopt;
  }
  REDOUBLE_CO_RETURN_IF_ERROR(claimed.status());
  Current().claim_from = claimed->next;
  if (claimed->entries.empty()) co_return std::nullopt;
  co_return std::move(claimed->entries.front());
}

// How often an entry was delivered; nullopt if it is not pending for this worker any more.
base::Task<absl::StatusOr<std::optional<int64_t>>> Worker::OwnDeliveries(store::StreamId id) {
  store::XPendingOptions one;
  one.first = id;
  one.last = id;
  one.count = 1;
  one.consumer = options_.consumer;
  REDOUBLE_CO_ASSIGN_OR_RETURN(
      const auto pending,
      co_await store::XPendingRange(store_, Current().stream, options_.group, one));
  if (pending.empty()) co_return std::nullopt;
  co_return pending.front().deliveries;
}

base::Task<absl::StatusOr<WorkReport>> Worker::Reclaim() {
  WorkReport report;
  REDOUBLE_CO_RETURN_IF_ERROR(valid_type_);
  // The shards whose scan has ended since the last claim of another one.
  size_t ended = 0;
  for (int64_t claims = 0; claims < options_.reclaim_count; ++claims) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(const std::optional<StreamEntry> entry, co_await ClaimNext());
    if (entry) {
      REDOUBLE_CO_ASSIGN_OR_RETURN(const auto deliveries, co_await OwnDeliveries(entry->id));
      if (deliveries) {
        REDOUBLE_CO_RETURN_IF_ERROR(co_await Handle(*entry, *deliveries, report));
      }
    }
    if (Current().claim_from != store::StreamId::Min()) continue;
    Advance();
    if (++ended == shards_.size()) break;
  }
  co_return report;
}

// Whether the token is to be executed: its run exists and has not consumed it.
base::Task<absl::StatusOr<bool>> Worker::IsNeeded(const Token& token) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string applied, keys_.Applied(token.run_id));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string counter, keys_.Counter(token.run_id));
  const std::string op = ConsumeOp(token.id);
  store::Batch batch(store::Batch::Atomicity::kPipeline);
  batch.Add(store::CommandId::kSIsMember, {applied, op});
  batch.Add(store::CommandId::kExists, {counter});
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<store::Reply> replies,
                               co_await store::Execute(store_, batch));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const bool consumed, store::DecodeBool(replies[0]));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const bool running, store::DecodeBool(replies[1]));
  co_return running && !consumed;
}

base::Task<absl::Status> Worker::Handle(const StreamEntry& entry, int64_t deliveries,
                                        WorkReport& report) {
  const std::optional<std::string_view> text = entry.Find("token");
  const absl::StatusOr<Token> token = ParseToken(text.value_or(""));
  if (!token.ok()) {
    ++report.unreadable;
    co_return co_await Acknowledge(entry);
  }
  REDOUBLE_CO_ASSIGN_OR_RETURN(const bool needed, co_await IsNeeded(*token));
  if (!needed) {
    ++report.skipped;
    co_return co_await Acknowledge(entry);
  }
  if (deliveries > options_.max_deliveries) {
    CompletionSignal dead = SignalOf(*token);
    dead.failure = NodeFailure{
        "dead_letter", absl::StrCat("delivered ", deliveries, " times, never completed"), false};
    REDOUBLE_CO_ASSIGN_OR_RETURN(std::string text, FormatSignal(dead));
    REDOUBLE_CO_ASSIGN_OR_RETURN(const bool own,
                                 co_await PushAndAcknowledge(entry, *token, std::move(text)));
    ++(own ? report.dead_lettered : report.lost);
    co_return absl::OkStatus();
  }
  in_execution_ = entry.id;
  absl::StatusOr<Execution> execution = co_await Execute(*token);
  in_execution_.reset();
  REDOUBLE_CO_RETURN_IF_ERROR(execution.status());
  using End = Execution::End;
  if (execution->end == End::kDeferred) {
    ++report.executed;
    co_return co_await Acknowledge(entry);
  }
  bool own = execution->end != End::kClaimLost;
  if (own) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(
        own, co_await PushAndAcknowledge(entry, *token, std::move(execution->signal)));
  }
  if (!own) {
    ++report.lost;
  } else {
    ++(execution->end == End::kExecuted ? report.executed : report.failed);
  }
  co_return absl::OkStatus();
}

base::Task<absl::StatusOr<bool>> Worker::KeepClaim() {
  if (!in_execution_) co_return false;
  const std::string id = in_execution_->ToString();
  co_return co_await RenewClaim(store_, ClaimOf(id));
}

// Makes one attempt.
base::Task<absl::StatusOr<NodeResult>> Worker::Call(const Token& token,
                                                    std::optional<absl::Duration> timeout) {
  if (!timeout) co_return co_await execute_(token);
  std::vector<base::Task<absl::StatusOr<NodeResult>>> race;
  race.push_back(execute_(token));
  race.push_back(FailAfter(clock_, *timeout));
  auto first = co_await base::WhenAny(std::move(race));
  co_return std::move(first.value);
}

// Makes the attempts that the policy permits.
base::Task<absl::StatusOr<std::optional<NodeResult>>> Worker::CallUntilDone(const Token& token) {
  // Another program may have written the metadata; what cannot be read is no policy.
  ExecutionPolicy policy = ParseExecutionPolicy(token.metadata_json).value_or(ExecutionPolicy());
  if (policy == ExecutionPolicy()) policy = options_.policy;
  for (int64_t attempt = 1;; ++attempt) {
    absl::StatusOr<NodeResult> result = co_await Call(token, policy.timeout);
    if (result.ok()) co_return std::move(*result);
    const bool repeat = attempt < policy.max_attempts && IsRetryable(result.status()) &&
                        !store::ErrorKindOf(result.status());
    if (!repeat) co_return result.status();
    const absl::Duration pause = BackoffAfter(policy, attempt);
    if (pause > absl::ZeroDuration()) co_await clock_.Sleep(pause);
  }
}

// Renews the claim until another worker has the entry. An error may be over at the next renewal.
base::Task<absl::StatusOr<std::optional<NodeResult>>> Worker::KeepClaimUntilLost() {
  constexpr int kRenewals = 3;  // Before the entry becomes idle.
  while (true) {
    co_await clock_.Sleep(options_.min_idle / kRenewals);
    const absl::StatusOr<bool> kept = co_await KeepClaim();
    if (kept.ok() && !*kept) co_return std::nullopt;
  }
}

// Calls the function, and keeps the claim of its entry meanwhile. Nullopt if the claim was lost.
base::Task<absl::StatusOr<std::optional<NodeResult>>> Worker::RunFunction(const Token& token) {
  if (!options_.keep_claims || options_.min_idle <= absl::ZeroDuration()) {
    co_return co_await CallUntilDone(token);
  }
  std::vector<base::Task<absl::StatusOr<std::optional<NodeResult>>>> race;
  race.push_back(CallUntilDone(token));
  race.push_back(KeepClaimUntilLost());
  auto first = co_await base::WhenAny(std::move(race));
  co_return std::move(first.value);
}

// Executes a token and writes its signal.
base::Task<absl::StatusOr<Worker::Execution>> Worker::Execute(const Token& token) {
  using End = Execution::End;
  const absl::Time begin = clock_.Now();
  absl::StatusOr<std::optional<NodeResult>> run = co_await RunFunction(token);
  // The execution failed because of the store, not because of the token.
  if (store::ErrorKindOf(run.status())) co_return run.status();
  Execution execution;
  execution.end = End::kClaimLost;
  if (run.ok() && !*run) co_return execution;
  absl::Status failure = run.status();
  if (run.ok()) {
    NodeResult& result = **run;
    execution.end = result.deferred ? End::kDeferred : End::kExecuted;
    if (result.deferred) co_return execution;
    CompletionSignal signal = SignalOf(token);
    signal.result_data_json = std::move(result.data_json);
    signal.result_ref = std::move(result.ref);
    signal.metadata_json =
        absl::StrCat("{\"hop\":", token.hop,
                     ",\"duration_ms\":", absl::ToInt64Milliseconds(clock_.Now() - begin), "}");
    // The coordinators would drop a signal that they cannot read, and the run would hang.
    absl::StatusOr<std::string> text = FormatSignal(signal);
    if (text.ok()) {
      execution.signal = *std::move(text);
      co_return std::move(execution);
    }
    failure = text.status();
  }
  execution.end = End::kFailed;
  CompletionSignal failed = SignalOf(token);
  failed.failure = FailureOf(failure);
  REDOUBLE_CO_ASSIGN_OR_RETURN(execution.signal, FormatSignal(failed));
  co_return std::move(execution);
}

// Pushes the signal, then acknowledges the entry. False if another worker has claimed the entry; no
// signal was pushed then. Only the atomic form finds this out.
base::Task<absl::StatusOr<bool>> Worker::PushAndAcknowledge(const StreamEntry& entry,
                                                            const Token& token,
                                                            std::string signal) {
  const int64_t shard = keys_.ShardOf(token.run_id);
  // On a cluster the stream and the queue are in different slots.
  if (options_.hardening.atomic_hops && keys_.layout() == store::KeyLayout::kDocumented) {
    const std::string id = entry.id.ToString();
    const EntryCompletion completion = {.claim = ClaimOf(id),
                                        .signal = signal,
                                        .delete_entry = options_.delete_acknowledged,
                                        .signal_shard = shard};
    co_return co_await CompleteEntry(store_, keys_, completion);
  }
  REDOUBLE_CO_RETURN_IF_ERROR(co_await PushSignalText(store_, keys_, std::move(signal), shard));
  REDOUBLE_CO_RETURN_IF_ERROR(co_await Acknowledge(entry));
  co_return true;
}

base::Task<absl::Status> Worker::Acknowledge(const StreamEntry& entry) {
  const store::StreamId ids[] = {entry.id};
  REDOUBLE_CO_RETURN_IF_ERROR(
      (co_await store::XAck(store_, Current().stream, options_.group, ids)).status());
  if (!options_.delete_acknowledged) co_return absl::OkStatus();
  const auto deleted = co_await store::XDel(store_, Current().stream, ids);
  co_return deleted.status();
}

}  // namespace redouble::inline v0_1::orchestrator
