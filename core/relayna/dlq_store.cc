#include "core/relayna/dlq_store.h"

#include <algorithm>
#include <utility>

#include "absl/container/btree_map.h"
#include "core/python/error.h"
#include "core/store/batch.h"
#include "core/store/command.h"
#include "core/store/decode.h"
#include "core/store/keys.h"
#include "core/store/lists.h"
#include "core/store/script.h"
#include "core/store/strings.h"

namespace redouble::relayna {
namespace {

using store::Batch;
using store::Command;
using store::CommandId;

absl::Status ReplayConflict(std::string_view message) {
  return python::Error(absl::StatusCode::kAborted, "DLQReplayConflict", message);
}

bool Matches(const std::optional<std::string>& filter, const std::optional<std::string>& value) {
  return !filter || filter->empty() || value == filter;
}

bool Matches(const DlqQuery& query, const DlqRecord& record) {
  return Matches(query.queue_name, record.queue_name) && Matches(query.task_id, record.task_id) &&
         Matches(query.reason, record.reason) &&
         Matches(query.source_queue_name, record.source_queue_name) &&
         Matches(query.state, record.state);
}

Command SetRecord(std::string_view key, std::string_view text, std::optional<int64_t> ttl_seconds) {
  Command command(CommandId::kSet, {key, text});
  if (ttl_seconds) command.Add("EX").AddInteger(*ttl_seconds);
  return command;
}

// Where the ids behind the first `cursor` begin: at the front when there is no such id.
std::vector<std::string>::const_iterator Behind(const std::vector<std::string>& ids,
                                                std::string_view cursor) {
  if (cursor.empty()) return ids.begin();
  const auto found = std::find(ids.begin(), ids.end(), cursor);
  return found == ids.end() ? ids.begin() : found + 1;
}

// KEYS: the lock. ARGV: the owner's token.
const store::Script& ReleaseScript() {
  static const store::Script& script = *new store::Script(R"(
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])
)");
  return script;
}

}  // namespace

DlqStore::DlqStore(store::Store& store, DlqOptions options)
    : store_(store), options_(std::move(options)), keys_(options_.prefix) {}

base::Task<absl::Status> DlqStore::Add(const DlqRecord& record) {
  const absl::StatusOr<std::string> text = FormatDlqRecord(record);
  if (!text.ok()) co_return text.status();
  const std::string key = keys_.Record(record.dlq_id);
  const std::string list = keys_.Records();
  Batch batch(Batch::Atomicity::kTransaction);
  batch.Add(SetRecord(key, *text, options_.ttl_seconds));
  batch.Add(CommandId::kLPush, {list, record.dlq_id});
  if (options_.ttl_seconds.value_or(0) != 0) {
    batch.Add(CommandId::kExpire, {list}).AddInteger(*options_.ttl_seconds);
  }
  const absl::StatusOr<std::vector<store::Reply>> replies = co_await store::Execute(store_, batch);
  if (!replies.ok()) co_return replies.status();
  co_return store::FirstError(*replies);
}

base::Task<absl::StatusOr<std::optional<DlqRecord>>> DlqStore::Get(std::string_view dlq_id) {
  const std::string key = keys_.Record(dlq_id);
  const absl::StatusOr<std::optional<std::string>> text = co_await store::Get(store_, key);
  if (!text.ok()) co_return text.status();
  if (!text->has_value()) co_return std::nullopt;
  absl::StatusOr<DlqRecord> record = ParseDlqRecord(**text);
  if (!record.ok()) co_return record.status();
  co_return *std::move(record);
}

base::Task<absl::StatusOr<DlqPage>> DlqStore::ListRecords(DlqQuery query) {
  const std::string list = keys_.Records();
  const absl::StatusOr<std::vector<std::string>> ids = co_await store::LRange(store_, list, 0, -1);
  if (!ids.ok()) co_return ids.status();
  if (query.state && !query.state->empty() && !IsDlqState(*query.state)) {
    co_return python::ValueError("'" + *query.state + "' is not a valid DLQRecordState");
  }
  DlqPage page;
  auto id = Behind(*ids, query.cursor.value_or(""));
  while (id != ids->end()) {
    absl::StatusOr<std::optional<DlqRecord>> record = co_await Get(*id);
    if (!record.ok()) co_return record.status();
    ++id;
    if (!record->has_value() || !Matches(query, **record)) continue;
    if (query.limit > 0 && std::cmp_equal(page.records.size(), query.limit)) {
      page.next_cursor = page.records.back().dlq_id;
      break;
    }
    page.records.push_back(**std::move(record));
    // What follows the page is looked for behind its last id as a cursor would be: an id that is in
    // the list twice leads back here (R16).
    if (std::cmp_equal(page.records.size(), query.limit)) {
      id = Behind(*ids, page.records.back().dlq_id);
    }
  }
  co_return page;
}

base::Task<absl::StatusOr<std::vector<DlqQueueSummary>>> DlqStore::SummarizeQueues() {
  const std::string list = keys_.Records();
  const absl::StatusOr<std::vector<std::string>> ids = co_await store::LRange(store_, list, 0, -1);
  if (!ids.ok()) co_return ids.status();
  absl::btree_map<std::string, DlqQueueSummary> queues;
  for (const std::string& id : *ids) {
    const absl::StatusOr<std::optional<DlqRecord>> record = co_await Get(id);
    if (!record.ok()) co_return record.status();
    if (!record->has_value()) continue;
    const std::string& name = (*record)->queue_name;
    DlqQueueSummary& summary =
        queues.try_emplace(name, DlqQueueSummary{name, 0, absl::InfinitePast()}).first->second;
    ++summary.count;
    summary.last_dead_lettered_at =
        std::max(summary.last_dead_lettered_at, (*record)->dead_lettered_at);
  }
  std::vector<DlqQueueSummary> summaries;
  for (auto& [name, summary] : queues) summaries.push_back(std::move(summary));
  co_return summaries;
}

base::Task<absl::StatusOr<std::optional<DlqRecord>>> DlqStore::ClaimReplay(std::string_view dlq_id,
                                                                           bool force) {
  const std::string lock = keys_.ReplayLock(dlq_id);
  const std::string_view value =
      options_.owner_token.empty() ? std::string_view("1") : options_.owner_token;
  Command claim(CommandId::kSet, {lock, value, "NX", "EX"});
  claim.AddInteger(kReplayLockTtlSeconds);
  const absl::StatusOr<bool> claimed = store::DecodeStatusOrNil(co_await store_.Execute(claim));
  if (!claimed.ok()) co_return claimed.status();
  if (!*claimed) co_return ReplayConflict("DLQ replay is already in progress.");
  absl::StatusOr<std::optional<DlqRecord>> record = co_await CheckClaim(dlq_id, force);
  if (!record.ok()) {
    const absl::Status released = co_await ReleaseReplayClaim(dlq_id);
    if (!released.ok()) co_return released;
  }
  co_return record;
}

base::Task<absl::StatusOr<std::optional<DlqRecord>>> DlqStore::CheckClaim(std::string_view dlq_id,
                                                                          bool force) {
  absl::StatusOr<std::optional<DlqRecord>> record = co_await Get(dlq_id);
  if (!record.ok() || !record->has_value()) co_return record;
  if ((*record)->state == DlqRecord::kReplayed && !force) {
    co_return ReplayConflict("DLQ message '" + std::string(dlq_id) +
                             "' has already been replayed.");
  }
  co_return record;
}

base::Task<absl::Status> DlqStore::ReleaseReplayClaim(std::string_view dlq_id) {
  const std::string lock = keys_.ReplayLock(dlq_id);
  if (options_.owner_token.empty()) co_return (co_await store::Del(store_, lock)).status();
  const std::string_view keys[] = {lock};
  const std::string_view arguments[] = {options_.owner_token};
  co_return (co_await ReleaseScript().Run(store_, keys, arguments)).status();
}

base::Task<absl::StatusOr<std::optional<DlqRecord>>> DlqStore::MarkReplayed(std::string_view dlq_id,
                                                                            DlqReplay replay) {
  absl::StatusOr<std::optional<DlqRecord>> record = co_await Get(dlq_id);
  if (!record.ok() || !record->has_value()) co_return record;
  DlqRecord& replayed = **record;
  replayed.state = DlqRecord::kReplayed;
  ++replayed.replay_count;
  replayed.replayed_at = replay.replayed_at;
  replayed.replay_target_queue_name = std::move(replay.target_queue_name);
  const absl::StatusOr<std::string> text = FormatDlqRecord(replayed);
  if (!text.ok()) co_return text.status();
  const std::string key = keys_.Record(dlq_id);
  const Command set = SetRecord(key, *text, options_.ttl_seconds);
  const absl::Status written = store::DecodeStatus(co_await store_.Execute(set));
  if (!written.ok()) co_return written;
  co_return record;
}

}  // namespace redouble::relayna
