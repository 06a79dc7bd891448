#include "redouble/core/orchestrator/app/service.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/orchestrator/graph/ir.h"
#include "redouble/core/orchestrator/run/run_scan.h"
#include "redouble/core/orchestrator/scripts/run_scripts.h"
#include "redouble/core/orchestrator/store_errors.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/store/decode.h"
#include "redouble/core/store/typed/keys.h"
#include "redouble/core/store/typed/lists.h"
#include "redouble/core/store/typed/streams.h"
#include "redouble/core/store/typed/strings.h"

namespace redouble::inline v0_1::orchestrator {
namespace {

using store::CommandId;
using store::Reply;

void Add(const WorkReport& report, WorkReport& sum) {
  sum.executed += report.executed;
  sum.failed += report.failed;
  sum.skipped += report.skipped;
  sum.dead_lettered += report.dead_lettered;
  sum.unreadable += report.unreadable;
  sum.lost += report.lost;
}

}  // namespace

Service::Service(store::Store& store, base::Clock& clock, Keys keys, ServiceParts parts,
                 ServiceOptions options)
    : store_(store), clock_(clock), keys_(keys), parts_(parts), options_(std::move(options)) {}

base::Task<absl::StatusOr<TickReport>> Service::Tick() {
  TickReport report;
  renewed_at_ = absl::InfinitePast();
  REDOUBLE_CO_ASSIGN_OR_RETURN(report.leading, co_await HoldLease());
  if (!report.leading) {
    // Another service has acted meanwhile, so what was seen before means nothing.
    runs_.clear();
    lists_.clear();
    co_return report;
  }
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<std::string> run_ids,
                               co_await FindRuns(store_, keys_));
  std::erase_if(runs_, [&](const auto& watched) {
    return !std::binary_search(run_ids.begin(), run_ids.end(), watched.first);
  });
  for (const std::string& run_id : run_ids) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(report.leading, co_await HoldLease());
    if (!report.leading) co_return report;
    const absl::Status tended = co_await TendRun(run_id, report);
    if (IsTemporary(tended)) co_return tended;
    if (!tended.ok()) report.skipped.push_back({run_id, tended});
    ++report.runs;
  }
  REDOUBLE_CO_RETURN_IF_ERROR(co_await RecoverSignals(report));
  REDOUBLE_CO_RETURN_IF_ERROR(co_await MarkExpired(run_ids, report));
  REDOUBLE_CO_RETURN_IF_ERROR(co_await ReclaimTokens(report));
  co_return report;
}

base::Task<void> Service::Run() {
  while (true) {
    const absl::StatusOr<TickReport> report = co_await Tick();
    if (!report.ok()) {
      ++failed_ticks_;
      last_error_ = report.status();
    }
    co_await clock_.Sleep(options_.interval);
  }
}

base::Task<absl::StatusOr<bool>> Service::Resign() {
  co_return co_await ReleaseLease(store_, keys_, options_.holder);
}

// Takes the lease, or renews it if a third of its time has passed.
base::Task<absl::StatusOr<bool>> Service::HoldLease() {
  constexpr int kRenewals = 3;
  const absl::Time now = clock_.Now();
  if (now - renewed_at_ < options_.lease / kRenewals) co_return true;
  const LeaseRequest request = {options_.holder, options_.lease};
  REDOUBLE_CO_ASSIGN_OR_RETURN(const bool held, co_await AcquireLease(store_, keys_, request));
  if (held) renewed_at_ = now;
  co_return held;
}

base::Task<absl::Status> Service::TendRun(const std::string& run_id, TickReport& report) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const bool cancelled, co_await FinishCancellation(run_id, report));
  if (cancelled) co_return absl::OkStatus();
  REDOUBLE_CO_ASSIGN_OR_RETURN(const int64_t decided,
                               co_await parts_.approvals.DecideOverdue(run_id));
  report.decided += decided;
  REDOUBLE_CO_RETURN_IF_ERROR(co_await Deliver(run_id, report));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const bool completed, co_await parts_.coordinator.Sweep(run_id));
  if (completed) {
    ++report.completed;
    co_return absl::OkStatus();
  }
  co_return co_await NoticeStuck(run_id, report);
}

// A crash can leave a run whose record says that it is cancelled, or is to be. A start that was
// interrupted can bring a run back whose record says that it has failed (H29).
base::Task<absl::StatusOr<bool>> Service::FinishCancellation(const std::string& run_id,
                                                             TickReport& report) {
  if (parts_.runs == nullptr) co_return false;
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto record, co_await parts_.runs->Find(run_id));
  if (!record) co_return false;
  const bool begun = record->status == RunStatus::kCancelled ||
                     record->status == RunStatus::kFailed ||
                     (record->status == RunStatus::kRunning && record->cancel_requested);
  if (!begun) co_return false;
  NodeFailure reason = record->failure.value_or(NodeFailure{"cancelled", "", false});
  REDOUBLE_CO_ASSIGN_OR_RETURN(
      const bool ended,
      co_await parts_.coordinator.Abort(run_id, RunResult::Status::kCancelled, std::move(reason)));
  if (ended) ++report.cancelled;
  co_return true;
}

// Pushes undelivered decisions, not more often than each `recover_after`: while the queue is long,
// each push would make it longer.
base::Task<absl::Status> Service::Deliver(const std::string& run_id, TickReport& report) {
  const auto watched = runs_.find(run_id);
  if (watched != runs_.end() && clock_.Now() - watched->second.pushed_at < options_.recover_after) {
    co_return absl::OkStatus();
  }
  REDOUBLE_CO_ASSIGN_OR_RETURN(const int64_t pushed, co_await parts_.approvals.PushUndelivered(
                                                         run_id, options_.recover_after));
  report.pushed += pushed;
  if (pushed > 0) runs_[run_id].pushed_at = clock_.Now();
  co_return absl::OkStatus();
}

Service::Watch& Service::Observe(Watches& watches, std::string_view name, std::string state) {
  const auto [watched, fresh] = watches.try_emplace(std::string(name));
  Watch& watch = watched->second;
  if (fresh || watch.state != state) {
    watch.state = std::move(state);
    watch.since = clock_.Now();
  }
  return watch;
}

// A text that changes with every step of the run; nullopt if it waits for an approval or is gone.
base::Task<absl::StatusOr<std::optional<std::string>>> Service::StateOf(std::string_view run_id) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string counter_key, keys_.Counter(run_id));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string applied_key, keys_.Applied(run_id));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string context_key, keys_.Context(run_id));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string pending_key, keys_.PendingApprovals(run_id));
  store::Batch batch(store::Batch::Atomicity::kPipeline);
  batch.Add(CommandId::kGet, {counter_key});
  batch.Add(CommandId::kSCard, {applied_key});
  batch.Add(CommandId::kHLen, {context_key});
  batch.Add(CommandId::kSCard, {pending_key});
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<Reply> replies,
                               co_await store::Execute(store_, batch));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto counter, store::DecodeStringOrNil(replies[0]));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const int64_t applied, store::DecodeInteger(replies[1]));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const int64_t fields, store::DecodeInteger(replies[2]));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const int64_t pending, store::DecodeInteger(replies[3]));
  if (!counter || pending > 0) co_return std::nullopt;
  co_return absl::StrCat(*counter, " ", applied, " ", fields);
}

base::Task<absl::Status> Service::NoticeStuck(const std::string& run_id, TickReport& report) {
  if (!options_.stuck_after) co_return absl::OkStatus();
  REDOUBLE_CO_ASSIGN_OR_RETURN(auto state, co_await StateOf(run_id));
  const absl::Time now = clock_.Now();
  Watch& watch = Observe(runs_, run_id, state.value_or(""));
  if (!state || now - watch.since < *options_.stuck_after) co_return absl::OkStatus();
  REDOUBLE_CO_ASSIGN_OR_RETURN(const bool in_execution, co_await IsInExecution(run_id));
  if (in_execution) {
    watch.since = now;
    co_return absl::OkStatus();
  }
  report.stuck.push_back({run_id, watch.since});
  if (!options_.fail_stuck_runs) co_return absl::OkStatus();
  NodeFailure reason = {
      "stuck", absl::StrCat("no progress for ", absl::FormatDuration(now - watch.since)), false};
  REDOUBLE_CO_ASSIGN_OR_RETURN(
      const bool ended,
      co_await parts_.coordinator.Abort(run_id, RunResult::Status::kFailed, std::move(reason)));
  if (ended) ++report.failed;
  co_return absl::OkStatus();
}

// Whether a worker has claimed a token of the run within `worker_min_idle`. Reads the pending
// entries of the task types of its graph; called only for runs that may be stuck.
base::Task<absl::StatusOr<bool>> Service::IsInExecution(std::string_view run_id) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string ir_key, keys_.Ir(run_id));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto text, co_await store::Get(store_, ir_key));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const Ir ir, ParseIr(text.value_or("")));
  std::set<std::string> types;
  for (const Node& node : ir.nodes) types.insert(node.type);
  // All shards: the number of shards may have been raised after the token was published.
  for (const std::string& type : types) {
    for (int64_t shard = 0; shard < keys_.queue_shards(); ++shard) {
      REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string stream, keys_.TaskStream(type, shard));
      REDOUBLE_CO_ASSIGN_OR_RETURN(const bool claimed, co_await HasClaimedToken(run_id, stream));
      if (claimed) co_return true;
    }
  }
  co_return false;
}

base::Task<absl::StatusOr<bool>> Service::HasClaimedToken(std::string_view run_id,
                                                          const std::string& stream) {
  store::XPendingOptions page;
  while (true) {
    const auto pending = co_await store::XPendingRange(store_, stream, options_.worker_group, page);
    if (store::ServerErrorCode(pending.status()) == "NOGROUP") co_return false;
    REDOUBLE_CO_RETURN_IF_ERROR(pending.status());
    for (const store::PendingEntry& entry : *pending) {
      if (entry.idle >= options_.worker_min_idle) continue;
      store::StreamRange one;
      one.first = entry.id;
      one.last = entry.id;
      REDOUBLE_CO_ASSIGN_OR_RETURN(const auto found, co_await store::XRange(store_, stream, one));
      if (!found.empty() && found.front().Find("run_id") == run_id) co_return true;
    }
    if (static_cast<int64_t>(pending->size()) < page.count) co_return false;
    page.first = pending->back().id.Next().value_or(store::StreamId::Max());
  }
}

// Returns the signals of coordinators whose oldest signal has not changed for `recover_after`. A
// coordinator that is only slow repeats its signal, which is harmless (H26).
base::Task<absl::Status> Service::RecoverSignals(TickReport& report) {
  store::ScanOptions scan;
  const std::string pattern = keys_.ProcessingPattern();
  scan.match = pattern;
  REDOUBLE_CO_ASSIGN_OR_RETURN(std::vector<std::string> names,
                               co_await store::ScanAll(store_, scan));
  std::sort(names.begin(), names.end());
  std::erase_if(lists_, [&](const auto& watched) {
    return !std::binary_search(names.begin(), names.end(), watched.first);
  });
  for (const std::string& name : names) {
    const std::optional<store::KeyMatch> match = keys_.Parse(name);
    if (!match || !IsProcessingList(*match)) continue;
    const std::optional<int64_t> shard = keys_.ShardOfQueue(*match);
    // Of another number of shards: programs with that number read the queue to which it returns.
    if (!shard) continue;
    REDOUBLE_CO_ASSIGN_OR_RETURN(std::optional<std::string> oldest,
                                 co_await store::LIndex(store_, name, 0));
    if (!oldest) continue;
    const Watch& watch = Observe(lists_, name, *std::move(oldest));
    if (clock_.Now() - watch.since < options_.recover_after) continue;
    const std::string consumer(match->values.back());
    REDOUBLE_CO_ASSIGN_OR_RETURN(
        const int64_t recovered,
        co_await parts_.coordinator.queue().RecoverShard(consumer, *shard));
    report.recovered += recovered;
    lists_.erase(name);
  }
  co_return absl::OkStatus();
}

base::Task<absl::Status> Service::ReclaimTokens(TickReport& report) {
  if (parts_.workers == nullptr) co_return absl::OkStatus();
  for (const auto& worker : *parts_.workers) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(const WorkReport reclaimed, co_await worker->Reclaim());
    Add(reclaimed, report.reclaimed);
  }
  co_return absl::OkStatus();
}

// Marks the records of running runs that have no keys.
base::Task<absl::Status> Service::MarkExpired(const std::vector<std::string>& run_ids,
                                              TickReport& report) {
  if (parts_.runs == nullptr) co_return absl::OkStatus();
  RunQuery query;
  query.status = RunStatus::kRunning;
  while (true) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<RunRecord> page,
                                 co_await parts_.runs->List(query));
    for (const RunRecord& record : page) {
      if (std::binary_search(run_ids.begin(), run_ids.end(), record.run_id)) continue;
      REDOUBLE_CO_RETURN_IF_ERROR(co_await MarkIfGone(record, report));
    }
    if (page.size() < query.limit) co_return absl::OkStatus();
    query.after = page.back().run_id;
  }
}

// A start writes the record before the keys, so a record without keys is left alone for a while.
base::Task<absl::Status> Service::MarkIfGone(const RunRecord& record, TickReport& report) {
  const absl::Time now = clock_.Now();
  if (now - record.started_at.value_or(absl::InfinitePast()) < options_.recover_after) {
    co_return absl::OkStatus();
  }
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string ir_key, keys_.Ir(record.run_id));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto graph, co_await store::Get(store_, ir_key));
  if (graph) co_return absl::OkStatus();
  bool marked = false;
  const auto mark = [&marked, now](RunRecord& kept) {
    marked = kept.status == RunStatus::kRunning;
    if (!marked) return;
    kept.status = kept.cancel_requested ? RunStatus::kCancelled : RunStatus::kExpired;
    kept.ended_at = now;
  };
  REDOUBLE_CO_RETURN_IF_ERROR(co_await parts_.runs->Update(record.run_id, mark));
  if (marked) ++report.expired;
  co_return absl::OkStatus();
}

}  // namespace redouble::inline v0_1::orchestrator
