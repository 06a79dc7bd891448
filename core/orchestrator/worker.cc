#include "core/orchestrator/worker.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/orchestrator/signal_queue.h"
#include "core/store/errors.h"
#include "core/store/sets.h"
#include "core/store/streams.h"

namespace redouble::orchestrator {
namespace {

using store::GroupConsumer;
using store::StreamEntry;

// What a signal brings back of its token.
CompletionSignal SignalOf(const Token& token) {
  CompletionSignal signal;
  signal.job_id = token.id;
  signal.run_id = token.run_id;
  signal.node_id = token.to_node;
  return signal;
}

}  // namespace

Worker::Worker(store::Store& store, base::Clock& clock, Keys keys, WorkerOptions options,
               NodeFunction execute)
    : store_(store),
      clock_(clock),
      keys_(keys),
      options_(std::move(options)),
      stream_(keys.TaskStream(options_.type)),
      execute_(std::move(execute)) {}

base::Task<absl::Status> Worker::EnsureGroup() {
  store::XGroupOptions group;
  group.make_stream = true;
  if (options_.group_at_end) group.after = std::nullopt;
  absl::Status created = co_await store::XGroupCreate(store_, stream_, options_.group, group);
  if (store::ServerErrorCode(created) == "BUSYGROUP") co_return absl::OkStatus();
  co_return created;
}

base::Task<absl::StatusOr<std::optional<StreamEntry>>> Worker::Read() {
  const GroupConsumer consumer = {options_.group, options_.consumer};
  const store::StreamRead reads[] = {{.key = stream_}};
  store::XReadGroupOptions read_options;
  read_options.count = 1;
  read_options.block = options_.block;
  auto streams = co_await store::XReadGroup(store_, consumer, reads, read_options);
  if (store::ServerErrorCode(streams.status()) == "NOGROUP") {
    absl::Status created = co_await EnsureGroup();
    if (!created.ok()) co_return created;
    streams = co_await store::XReadGroup(store_, consumer, reads, read_options);
  }
  if (!streams.ok()) co_return streams.status();
  if (streams->empty() || streams->front().entries.empty()) co_return std::nullopt;
  co_return std::move(streams->front().entries.front());
}

base::Task<absl::StatusOr<WorkReport>> Worker::Poll() {
  WorkReport report;
  const absl::StatusOr<std::optional<StreamEntry>> entry = co_await Read();
  if (!entry.ok()) co_return entry.status();
  if (!*entry) co_return report;
  absl::Status handled = co_await Handle(**entry, /*deliveries=*/1, report);
  if (!handled.ok()) co_return handled;
  co_return report;
}

base::Task<absl::StatusOr<WorkReport>> Worker::Reclaim() {
  WorkReport report;
  const GroupConsumer consumer = {options_.group, options_.consumer};
  store::XAutoClaimOptions claim;
  claim.min_idle = options_.min_idle;
  claim.count = options_.reclaim_count;
  const auto claimed = co_await store::XAutoClaim(store_, stream_, consumer, claim);
  if (store::ServerErrorCode(claimed.status()) == "NOGROUP") co_return report;
  if (!claimed.ok()) co_return claimed.status();
  for (const StreamEntry& entry : claimed->entries) {
    store::XPendingOptions one;
    one.first = entry.id;
    one.last = entry.id;
    one.count = 1;
    const auto pending = co_await store::XPendingRange(store_, stream_, options_.group, one);
    if (!pending.ok()) co_return pending.status();
    // Acknowledged meanwhile, by whoever was slow.
    if (pending->empty()) continue;
    absl::Status handled = co_await Handle(entry, pending->front().deliveries, report);
    if (!handled.ok()) co_return handled;
  }
  co_return report;
}

base::Task<absl::Status> Worker::Handle(const StreamEntry& entry, int64_t deliveries,
                                        WorkReport& report) {
  const std::optional<std::string_view> text = entry.Find("token");
  const absl::StatusOr<Token> token = ParseToken(text.value_or(""));
  if (!token.ok()) {
    ++report.unreadable;
    co_return co_await Acknowledge(entry);
  }
  if (deliveries > options_.max_deliveries) {
    CompletionSignal dead = SignalOf(*token);
    dead.failure = NodeFailure{
        "dead_letter", absl::StrCat("delivered ", deliveries, " times, never completed"), false};
    absl::Status pushed = co_await PushSignal(store_, keys_, std::move(dead));
    if (!pushed.ok()) co_return pushed;
    ++report.dead_lettered;
    co_return co_await Acknowledge(entry);
  }
  const absl::StatusOr<std::string> applied = keys_.Applied(token->run_id);
  if (!applied.ok()) co_return applied.status();
  const std::string op = ConsumeOp(token->id);
  const absl::StatusOr<bool> consumed = co_await store::SIsMember(store_, *applied, op);
  if (!consumed.ok()) co_return consumed.status();
  if (*consumed) {
    ++report.skipped;
    co_return co_await Acknowledge(entry);
  }
  absl::Status executed = co_await Execute(*token, report);
  if (!executed.ok()) co_return executed;
  co_return co_await Acknowledge(entry);
}

base::Task<absl::Status> Worker::Execute(const Token& token, WorkReport& report) {
  const absl::Time begin = clock_.Now();
  const absl::StatusOr<NodeResult> result = co_await execute_(token);
  // The server was not reached from within the execution: the token is not to blame.
  if (store::ErrorKindOf(result.status())) co_return result.status();
  CompletionSignal signal = SignalOf(token);
  if (!result.ok()) {
    ++report.failed;
    signal.failure =
        NodeFailure{absl::StatusCodeToString(result.status().code()),
                    std::string(result.status().message()), absl::IsUnavailable(result.status())};
    co_return co_await PushSignal(store_, keys_, std::move(signal));
  }
  ++report.executed;
  if (result->deferred) co_return absl::OkStatus();
  signal.result_data_json = result->data_json;
  signal.result_ref = result->ref;
  signal.metadata_json =
      absl::StrCat("{\"hop\":", token.hop,
                   ",\"duration_ms\":", absl::ToInt64Milliseconds(clock_.Now() - begin), "}");
  co_return co_await PushSignal(store_, keys_, std::move(signal));
}

base::Task<absl::Status> Worker::Acknowledge(const StreamEntry& entry) {
  const store::StreamId ids[] = {entry.id};
  const auto acknowledged = co_await store::XAck(store_, stream_, options_.group, ids);
  if (!acknowledged.ok()) co_return acknowledged.status();
  if (!options_.delete_acknowledged) co_return absl::OkStatus();
  const auto deleted = co_await store::XDel(store_, stream_, ids);
  co_return deleted.status();
}

}  // namespace redouble::orchestrator
