#include "redouble/core/relayna/dlq/dlq_store.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "absl/container/btree_map.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/python/error.h"
#include "redouble/core/relayna/scripts/script_texts.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/decode.h"
#include "redouble/core/store/script.h"
#include "redouble/core/store/typed/keys.h"
#include "redouble/core/store/typed/lists.h"
#include "redouble/core/store/typed/strings.h"

namespace redouble::inline v0_1::relayna {
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

// An empty state is a filter, unlike the other empty texts.
bool Matches(const DlqQuery& query, const DlqRecord& record) {
  return Matches(query.queue_name, record.queue_name) && Matches(query.task_id, record.task_id) &&
         Matches(query.reason, record.reason) &&
         Matches(query.source_queue_name, record.source_queue_name) &&
         (!query.state || *query.state == record.state);
}

Command SetRecord(std::string_view key, std::string_view text, std::optional<int64_t> ttl_seconds) {
  Command command(CommandId::kSet, {key, text});
  if (ttl_seconds) command.Add("EX").AddInteger(*ttl_seconds);
  return command;
}

// The position after the first `cursor`; the front of the list if it has no such id.
std::vector<std::string>::const_iterator PositionAfter(const std::vector<std::string>& ids,
                                                       std::string_view cursor) {
  if (cursor.empty()) return ids.begin();
  const auto found = std::find(ids.begin(), ids.end(), cursor);
  return found == ids.end() ? ids.begin() : found + 1;
}

absl::StatusOr<std::optional<DlqRecord>> ParseFound(
    absl::StatusOr<std::optional<std::string>> value) {
  REDOUBLE_ASSIGN_OR_RETURN(const std::optional<std::string> text, std::move(value));
  if (!text.has_value()) return std::nullopt;
  REDOUBLE_ASSIGN_OR_RETURN(DlqRecord record, ParseDlqRecord(*text));
  return record;
}

// KEYS: the record, the list. ARGV: the text, the id, the TTL or "".
const store::Script& AddScript() {
  static const store::Script& script = *new store::Script(std::string(kAddOnceText));
  return script;
}

// KEYS: the lock. ARGV: the owner's token.
const store::Script& ReleaseScript() {
  static const store::Script& script = *new store::Script(std::string(kReleaseReplayLockText));
  return script;
}

// KEYS: the record. ARGV: the text that was read, the new one, the TTL or "".
const store::Script& ReplaceScript() {
  static const store::Script& script = *new store::Script(std::string(kReplaceRecordText));
  return script;
}

// KEYS: the list, and the records. ARGV: their ids. Removes each id whose record does not exist.
const store::Script& ForgetScript() {
  static const store::Script& script = *new store::Script(std::string(kForgetExpiredText));
  return script;
}

absl::Status AlreadyReplayed(std::string_view dlq_id) {
  return ReplayConflict("DLQ message '" + std::string(dlq_id) + "' has already been replayed.");
}

// The number of ids that an add with forget_expired_ids looks at.
constexpr int64_t kOldestIds = 100;

// Each further attempt means that another caller has written the record.
constexpr int kMaxMarkAttempts = 16;

}  // namespace

DlqStore::DlqStore(store::Store& store, DlqOptions options)
    : store_(store), options_(std::move(options)), keys_(options_.prefix, options_.key_layout) {}

base::Task<absl::Status> DlqStore::Add(const DlqRecord& record) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string text, FormatDlqRecord(record));
  const bool forgets = options_.hardening.forget_expired_ids && options_.ttl_seconds;
  absl::StatusOr<std::vector<std::string>> oldest;
  if (options_.hardening.add_once) {
    oldest = co_await AddOnce(record, text, forgets);
  } else {
    oldest = co_await AddAlways(record, text, forgets);
  }
  if (!oldest.ok() || !forgets) co_return oldest.status();
  co_return co_await ForgetExpired(*std::move(oldest));
}

base::Task<absl::StatusOr<std::vector<std::string>>> DlqStore::AddAlways(const DlqRecord& record,
                                                                         std::string_view text,
                                                                         bool reads_oldest) {
  const std::string key = keys_.Record(record.dlq_id);
  const std::string list = keys_.Records();
  Batch batch(Batch::Atomicity::kTransaction);
  batch.Add(SetRecord(key, text, options_.ttl_seconds));
  batch.Add(CommandId::kLPush, {list, record.dlq_id});
  if (options_.ttl_seconds.value_or(0) != 0) {
    batch.Add(CommandId::kExpire, {list}).AddInteger(*options_.ttl_seconds);
  }
  if (reads_oldest) batch.Add(CommandId::kLRange, {list}).AddInteger(-kOldestIds).AddInteger(-1);
  REDOUBLE_CO_ASSIGN_OR_RETURN(std::vector<store::Reply> replies,
                               co_await store::Execute(store_, batch));
  REDOUBLE_CO_RETURN_IF_ERROR(store::FirstError(replies));
  if (!reads_oldest) co_return std::vector<std::string>();
  co_return store::DecodeStrings(std::move(replies.back()));
}

base::Task<absl::StatusOr<std::vector<std::string>>> DlqStore::AddOnce(const DlqRecord& record,
                                                                       std::string_view text,
                                                                       bool reads_oldest) {
  const std::string key = keys_.Record(record.dlq_id);
  const std::string list = keys_.Records();
  const std::string ttl = options_.ttl_seconds ? std::to_string(*options_.ttl_seconds) : "";
  const std::string_view keys[] = {key, list};
  const std::string_view arguments[] = {text, record.dlq_id, ttl};
  REDOUBLE_CO_RETURN_IF_ERROR((co_await AddScript().Run(store_, keys, arguments)).status());
  if (!reads_oldest) co_return std::vector<std::string>();
  co_return co_await store::LRange(store_, list, -kOldestIds, -1);
}

base::Task<absl::Status> DlqStore::ForgetExpired(std::vector<std::string> ids) {
  std::vector<std::string> records;
  for (const std::string& id : ids) records.push_back(keys_.Record(id));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<size_t> missing,
                               co_await store::FindMissing(store_, records));
  if (missing.empty()) co_return absl::OkStatus();
  const std::string list = keys_.Records();
  std::vector<std::string_view> keys = {list};
  std::vector<std::string_view> expired;
  for (const size_t i : missing) {
    keys.push_back(records[i]);
    expired.push_back(ids[i]);
  }
  co_return (co_await ForgetScript().Run(store_, keys, expired)).status();
}

base::Task<absl::StatusOr<std::optional<DlqRecord>>> DlqStore::Get(std::string_view dlq_id) {
  const std::string key = keys_.Record(dlq_id);
  co_return ParseFound(co_await store::Get(store_, key));
}

base::Task<absl::StatusOr<DlqPage>> DlqStore::ListRecords(DlqQuery query) {
  const std::string list = keys_.Records();
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<std::string> ids,
                               co_await store::LRange(store_, list, 0, -1));
  if (query.state && !query.state->empty() && !IsDlqState(*query.state)) {
    co_return python::ValueError("'" + *query.state + "' is not a valid DLQRecordState");
  }
  DlqPage page;
  auto id = PositionAfter(ids, query.cursor.value_or(""));
  while (id != ids.end()) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(std::optional<DlqRecord> record, co_await Get(*id));
    ++id;
    if (!record.has_value() || !Matches(query, *record)) continue;
    if (query.limit > 0 && std::cmp_equal(page.records.size(), query.limit)) {
      page.next_cursor = page.records.back().dlq_id;
      break;
    }
    page.records.push_back(*std::move(record));
    // The documented store looks for the next match as a new call with this cursor would. An id
    // that is listed twice therefore leads back to its first occurrence (R16).
    if (std::cmp_equal(page.records.size(), query.limit)) {
      id = PositionAfter(ids, page.records.back().dlq_id);
    }
  }
  co_return page;
}

base::Task<absl::StatusOr<std::vector<DlqQueueSummary>>> DlqStore::SummarizeQueues() {
  const std::string list = keys_.Records();
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<std::string> ids,
                               co_await store::LRange(store_, list, 0, -1));
  std::vector<std::string> keys;
  keys.reserve(ids.size());
  for (const std::string& id : ids) keys.push_back(keys_.Record(id));
  REDOUBLE_CO_ASSIGN_OR_RETURN(auto values, co_await store::GetEach(store_, keys));
  absl::btree_map<std::string, DlqQueueSummary> queues;
  for (auto& value : values) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(const std::optional<DlqRecord> record,
                                 ParseFound(std::move(value)));
    if (!record.has_value()) continue;
    const std::string& name = record->queue_name;
    const python::DateTime& time = record->dead_lettered_at;
    DlqQueueSummary& summary =
        queues.try_emplace(name, DlqQueueSummary{name, 0, time}).first->second;
    ++summary.count;
    if (time.time > summary.last_dead_lettered_at.time) summary.last_dead_lettered_at = time;
  }
  std::vector<DlqQueueSummary> summaries;
  for (auto& [name, summary] : queues) summaries.push_back(std::move(summary));
  co_return summaries;
}

base::Task<absl::StatusOr<std::optional<DlqRecord>>> DlqStore::ClaimReplay(std::string_view dlq_id,
                                                                           bool force) {
  const std::string lock = keys_.ReplayLock(dlq_id);
  const std::string_view value = options_.hardening.owner_token.empty()
                                     ? std::string_view("1")
                                     : options_.hardening.owner_token;
  Command claim(CommandId::kSet, {lock, value, "NX", "EX"});
  claim.AddInteger(kReplayLockTtlSeconds);
  REDOUBLE_CO_ASSIGN_OR_RETURN(const bool claimed,
                               store::DecodeStatusOrNil(co_await store_.Execute(claim)));
  if (!claimed) co_return ReplayConflict("DLQ replay is already in progress.");
  absl::StatusOr<std::optional<DlqRecord>> record = co_await CheckClaim(dlq_id, force);
  if (!record.ok()) {
    REDOUBLE_CO_RETURN_IF_ERROR(co_await ReleaseReplayClaim(dlq_id));
  }
  co_return record;
}

base::Task<absl::StatusOr<std::optional<DlqRecord>>> DlqStore::CheckClaim(std::string_view dlq_id,
                                                                          bool force) {
  absl::StatusOr<std::optional<DlqRecord>> record = co_await Get(dlq_id);
  if (!record.ok() || !record->has_value()) co_return record;
  if ((*record)->state == DlqRecord::kReplayed && !force) {
    co_return AlreadyReplayed(dlq_id);
  }
  co_return record;
}

base::Task<absl::Status> DlqStore::ReleaseReplayClaim(std::string_view dlq_id) {
  const std::string lock = keys_.ReplayLock(dlq_id);
  if (options_.hardening.owner_token.empty())
    co_return (co_await store::Del(store_, lock)).status();
  const std::string_view keys[] = {lock};
  const std::string_view arguments[] = {options_.hardening.owner_token};
  co_return (co_await ReleaseScript().Run(store_, keys, arguments)).status();
}

base::Task<absl::StatusOr<std::optional<DlqRecord>>> DlqStore::MarkReplayed(std::string_view dlq_id,
                                                                            DlqReplay replay) {
  const std::string key = keys_.Record(dlq_id);
  const bool atomically = options_.hardening.atomic_marks ||
                          options_.hardening.mark_before_publish || replay.only_first;
  for (int attempt = 0; attempt < kMaxMarkAttempts; ++attempt) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(const std::optional<std::string> seen,
                                 co_await store::Get(store_, key));
    if (!seen) co_return std::nullopt;
    REDOUBLE_CO_ASSIGN_OR_RETURN(DlqRecord replayed, ParseDlqRecord(*seen));
    if (replay.only_first && replayed.state == DlqRecord::kReplayed) {
      co_return AlreadyReplayed(dlq_id);
    }
    replayed.state = DlqRecord::kReplayed;
    ++replayed.replay_count;
    replayed.replayed_at = replay.replayed_at;
    replayed.replay_target_queue_name = replay.target_queue_name;
    REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string text, FormatDlqRecord(replayed));
    bool written = true;
    if (atomically) {
      REDOUBLE_CO_ASSIGN_OR_RETURN(written, co_await ReplaceRecord(key, *seen, text));
    } else {
      const Command set = SetRecord(key, text, options_.ttl_seconds);
      REDOUBLE_CO_RETURN_IF_ERROR(store::DecodeStatus(co_await store_.Execute(set)));
    }
    if (written) co_return std::move(replayed);
  }
  co_return ReplayConflict("the record is changed by others all the time");
}

base::Task<absl::Status> DlqStore::TakeMarkBack(const DlqRecord& marked, const DlqRecord& before) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string seen, FormatDlqRecord(marked));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string text, FormatDlqRecord(before));
  const std::string key = keys_.Record(before.dlq_id);
  co_return (co_await ReplaceRecord(key, seen, text)).status();
}

base::Task<absl::StatusOr<bool>> DlqStore::ReplaceRecord(std::string_view key,
                                                         std::string_view seen,
                                                         std::string_view text) {
  const std::string ttl = options_.ttl_seconds ? std::to_string(*options_.ttl_seconds) : "";
  const std::string_view keys[] = {key};
  const std::string_view arguments[] = {seen, text, ttl};
  co_return store::DecodeBool(co_await ReplaceScript().Run(store_, keys, arguments));
}

}  // namespace redouble::inline v0_1::relayna
