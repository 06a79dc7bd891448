// DlqStore: dead-lettered messages, the list of their ids, and the replay lock of each message.
//
// Workers add records, and web routes list them. To publish a message again use DlqReplayService,
// which calls the operations for replays in the right order.
//
//   DlqStore dlq(store);
//   co_await dlq.Add(record);
//   const DlqQuery query = {.limit = 50, .state = "dead_lettered"};
//   absl::StatusOr<DlqPage> page = co_await dlq.ListRecords(query);   // page->next_cursor: more
//
// Hazards of the documented store: the list is never trimmed and keeps the ids of expired records
// (R15); an id that was added twice sends a paging client back forever, and a replayed message that
// is added again is replayable again (R16, removed by Hardening::add_once); a lock has no owner, so
// a caller that takes longer than 30 s releases the next caller's lock (R12, removed by
// Hardening::owner_token); two marks at the same time count once (R13).
//
// Thread-safety: as the store, which must outlive this; arguments must outlive the task.
// Source: docs/systems/relayna.md 4.7 to 4.10.
#ifndef REDOUBLE_CORE_RELAYNA_DLQ_DLQ_STORE_H_
#define REDOUBLE_CORE_RELAYNA_DLQ_DLQ_STORE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/relayna/dlq/dlq_record.h"
#include "redouble/core/relayna/hardening.h"
#include "redouble/core/relayna/keys.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::relayna {

struct DlqOptions {
  std::string prefix{kRelaynaPrefix};
  // Seconds; nullopt: no TTL. With 0 every Add fails half done: Redis refuses the record, but its
  // id is pushed to the list (docs/systems/relayna.md 4.7).
  std::optional<int64_t> ttl_seconds = std::nullopt;
  // All but atomic_events and newest_first apply.
  Hardening hardening = {};
  store::KeyLayout key_layout = store::KeyLayout::kDocumented;
};

// All filters match exactly. An empty text does not filter.
struct DlqQuery {
  // The id after which the page begins. If the list does not have it, the page begins at the head.
  std::optional<std::string> cursor = std::nullopt;
  // Records per page. 0 or less: all records, without a next cursor.
  int64_t limit = 50;
  std::optional<std::string> queue_name = std::nullopt;
  std::optional<std::string> task_id = std::nullopt;
  std::optional<std::string> reason = std::nullopt;
  std::optional<std::string> source_queue_name = std::nullopt;
  std::optional<std::string> state = std::nullopt;
};

struct DlqPage {
  std::vector<DlqRecord> records;
  // The id of the last record if another record matches; otherwise nullopt.
  std::optional<std::string> next_cursor;
};

struct DlqQueueSummary {
  std::string queue_name;
  int64_t count = 0;  // An id that is listed twice counts twice.
  python::DateTime last_dead_lettered_at;
};

struct DlqReplay {
  absl::Time replayed_at;
  std::string target_queue_name;
  // Whether the mark fails if the record is marked already.
  bool only_first = false;
};

class DlqStore {
 public:
  explicit DlqStore(store::Store& store, DlqOptions options = {});

  // Writes the record and pushes its id to the front of the list, in one transaction. One round
  // trip. A record with the same id is overwritten and listed a second time; with add_once it stays
  // as it is. With forget_expired_ids two round trips, or three if ids of expired records are
  // removed, and one more with add_once.
  //
  // Errors: those of FormatDlqRecord, before anything is sent; those of the store, and the first
  // error of the transaction, whose other commands take effect all the same.
  // Source: docs/systems/relayna.md 4.7.
  base::Task<absl::Status> Add(const DlqRecord& record);

  // Returns nullopt if there is no such record. One round trip. Errors: InvalidArgument
  // (ValidationError) if the record is corrupt.
  base::Task<absl::StatusOr<std::optional<DlqRecord>>> Get(std::string_view dlq_id);

  // Returns the records that match, newest add first. Ids without a record are skipped. One round
  // trip for the list and one for each id visited; the scan ends at the first match after the page.
  //
  // Errors: InvalidArgument: ValueError for an unknown state, after the list was read;
  // ValidationError if a visited record is corrupt.
  // Source: docs/systems/relayna.md 4.8.
  base::Task<absl::StatusOr<DlqPage>> ListRecords(DlqQuery query = {});

  // Returns the queues in the order of their names. LRANGE, then GetEach
  // (core/store/typed/strings.h) of the records. Source: docs/systems/relayna.md 4.8.
  base::Task<absl::StatusOr<std::vector<DlqQueueSummary>>> SummarizeQueues();

  // Locks a record for 30 s and returns it. Returns nullopt if there is no such record; the lock is
  // kept then, and the caller must release it (R17). Two round trips.
  //
  // Errors: Aborted (DLQReplayConflict) if another caller holds the lock, or if the message was
  // replayed before and `force` is false; InvalidArgument (ValidationError) if the record is
  // corrupt. After any error but that of a held lock, the lock is released by a third round trip.
  // Source: docs/systems/relayna.md 4.9.
  base::Task<absl::StatusOr<std::optional<DlqRecord>>> ClaimReplay(std::string_view dlq_id,
                                                                   bool force = false);
  // Deletes the lock, also if another caller set it; with an owner token, only the caller's own
  // lock. One round trip.
  base::Task<absl::Status> ReleaseReplayClaim(std::string_view dlq_id);

  // Marks a record as replayed: sets its state, time and target queue, increments its count, and
  // restarts its TTL. Returns the record as written, or nullopt if it is missing. Two round trips,
  // GET and SET: changes made between them are overwritten (R13, R18). With
  // Hardening::atomic_marks a script replaces SET, and each change in between costs two more round
  // trips, and so does `only_first` or Hardening::mark_before_publish. Errors: Aborted
  // (DLQReplayConflict) after many changes, or with `only_first` for a marked record.
  // Source: docs/systems/relayna.md 4.10.
  base::Task<absl::StatusOr<std::optional<DlqRecord>>> MarkReplayed(std::string_view dlq_id,
                                                                    DlqReplay replay);

  // Replaces `marked`, which MarkReplayed returned, by `before`, and restarts the TTL. Does
  // nothing if the record has changed since then. One script.
  base::Task<absl::Status> TakeMarkBack(const DlqRecord& marked, const DlqRecord& before);

  const Hardening& hardening() const { return options_.hardening; }

 private:
  // Writes the record and its id in one transaction, or with add_once by a script. Returns the
  // oldest ids if `reads_oldest`.
  base::Task<absl::StatusOr<std::vector<std::string>>> AddAlways(const DlqRecord& record,
                                                                 std::string_view text,
                                                                 bool reads_oldest);
  base::Task<absl::StatusOr<std::vector<std::string>>> AddOnce(const DlqRecord& record,
                                                               std::string_view text,
                                                               bool reads_oldest);
  // Removes those ids from the list that have no record. `ids` may have an id twice.
  base::Task<absl::Status> ForgetExpired(std::vector<std::string> ids);
  base::Task<absl::StatusOr<std::optional<DlqRecord>>> CheckClaim(std::string_view dlq_id,
                                                                  bool force);
  // Writes the text unless the record has changed since `seen` was read.
  base::Task<absl::StatusOr<bool>> ReplaceRecord(std::string_view key, std::string_view seen,
                                                 std::string_view text);

  store::Store& store_;
  const DlqOptions options_;
  const DlqKeys keys_;
};

}  // namespace redouble::inline v0_1::relayna

#endif  // REDOUBLE_CORE_RELAYNA_DLQ_DLQ_STORE_H_
