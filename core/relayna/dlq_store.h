// DlqStore: dead-lettered messages, listed by their ids, and the lock of whoever replays one.
//
//   DlqStore dlq(store);
//   co_await dlq.Add(record);
//   absl::StatusOr<DlqPage> page = co_await dlq.ListRecords({.limit = 50, .state =
//   "dead_lettered"});
//   // page->next_cursor for the next page
//
// Hazards of the documented store: the list is never trimmed, and ids of expired records stay in it
// (R15); an id that was added twice makes a client that pages go round in a circle (R16); a lock
// has no owner, so that who takes longer than 30 s releases the lock of the next one (R12); a
// replay is counted by reading and writing, so that one of two may be lost (R13).
//
// Thread-safety: as the store, which outlives this; arguments outlive the task.
// Source: reference/relayna.md section 4; goldens dlq_*, race_dlq_*.
#ifndef REDOUBLE_CORE_RELAYNA_DLQ_STORE_H_
#define REDOUBLE_CORE_RELAYNA_DLQ_STORE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/base/task.h"
#include "core/relayna/dlq_record.h"
#include "core/relayna/keys.h"
#include "core/store/store.h"

namespace redouble::relayna {

struct DlqOptions {
  std::string prefix{kRelaynaPrefix};
  // None: nothing expires. 0 makes every add fail, half done: the record is refused by Redis, its
  // id is in the list (golden dlq_corrupt_and_ttl0).
  std::optional<int64_t> ttl_seconds = std::nullopt;
  // Hardened: the lock's value in place of "1", different in every process; a release, the one
  // behind a failed claim included, deletes the lock only while it is this owner's, in one script
  // (R12). Empty: as documented.
  std::string owner_token = {};
};

// Filters are exact; an empty text filters nothing.
struct DlqQuery {
  // The id behind which the page begins; one that is not in the list begins at the front.
  std::optional<std::string> cursor = std::nullopt;
  // 0 and less: everything, without a next cursor.
  int64_t limit = 50;
  std::optional<std::string> queue_name = std::nullopt;
  std::optional<std::string> task_id = std::nullopt;
  std::optional<std::string> reason = std::nullopt;
  std::optional<std::string> source_queue_name = std::nullopt;
  std::optional<std::string> state = std::nullopt;
};

struct DlqPage {
  std::vector<DlqRecord> records;
  // The last record's id, when another one that matches exists behind it.
  std::optional<std::string> next_cursor;
};

struct DlqQueueSummary {
  std::string queue_name;
  int64_t count = 0;  // An id that is in the list twice counts twice.
  absl::Time last_dead_lettered_at;
};

struct DlqReplay {
  absl::Time replayed_at;
  std::string target_queue_name;
};

class DlqStore {
 public:
  explicit DlqStore(store::Store& store, DlqOptions options = {});

  // Writes the record and puts its id in front of the list, in one transaction: one round trip. A
  // record that is there already is overwritten and listed once more. Errors: as FormatDlqRecord,
  // before anything is sent; those of the store, the first in the transaction, whose other commands
  // take effect all the same.
  base::Task<absl::Status> Add(const DlqRecord& record);

  // None when there is no such record. One round trip. Errors: ValidationError when it is corrupt.
  base::Task<absl::StatusOr<std::optional<DlqRecord>>> Get(std::string_view dlq_id);

  // The records in the order of the list, newest add first; ids without a record are passed over.
  // One round trip for the list and one for each id that is looked at: up to the first that matches
  // behind the page. Errors: ValueError for a state that there is not, after the list was read;
  // ValidationError for a corrupt record among them.
  base::Task<absl::StatusOr<DlqPage>> ListRecords(DlqQuery query = {});

  // The queues in the order of their names. One round trip for the list and one for each id.
  base::Task<absl::StatusOr<std::vector<DlqQueueSummary>>> SummarizeQueues();

  // Locks a record for 30 s and gives it. None when there is no such record, and the lock stays:
  // the caller releases it. Two round trips. Errors: DLQReplayConflict (Aborted) when it is locked,
  // or, unless forced, was replayed before; ValidationError when it is corrupt. Behind any error
  // but the first the lock has been released, which is a third.
  base::Task<absl::StatusOr<std::optional<DlqRecord>>> ClaimReplay(std::string_view dlq_id,
                                                                   bool force = false);
  // Deletes the lock, whosever it is; with an owner token, only the caller's. One round trip.
  base::Task<absl::Status> ReleaseReplayClaim(std::string_view dlq_id);

  // Notes that a record was replayed: its state, count, time and target; its time to live begins
  // anew. None when there is no such record. Two round trips, between which others may do the same.
  base::Task<absl::StatusOr<std::optional<DlqRecord>>> MarkReplayed(std::string_view dlq_id,
                                                                    DlqReplay replay);

 private:
  base::Task<absl::StatusOr<std::optional<DlqRecord>>> CheckClaim(std::string_view dlq_id,
                                                                  bool force);

  store::Store& store_;
  const DlqOptions options_;
  const DlqKeys keys_;
};

}  // namespace redouble::relayna

#endif  // REDOUBLE_CORE_RELAYNA_DLQ_STORE_H_
