// Migration: copies the keys of one system from a server in one key layout to a server in the
// other, and compares the two.
//
// With paused writers, Copy and Verify are enough. Writers may go on while Follow runs: it repeats
// passes that compare all keys and copy again what differs, until few keys differ; then the writers
// are paused for one or two passes more, until none does.
//
// The copy may stop at any moment, and continues from the last cursor it reported; copying a key
// again changes nothing. `from` is only read. Keys of other systems are counted and left alone.
//
//   REDOUBLE_ASSIGN_OR_RETURN(const Migration migration, Migration::Create(
//       "gateway", {KeyLayout::kDocumented, KeyLayout::kCluster}));
//   REDOUBLE_CO_ASSIGN_OR_RETURN(const CopyReport copied,
//                                co_await migration.Copy(from, to, options));
//   REDOUBLE_CO_ASSIGN_OR_RETURN(const VerifyReport report, co_await migration.Verify(from, to));
//   if (!report.is_equal()) ...
//
// Thread-safety: const functions as Store. A Migration must outlive its tasks.
#ifndef REDOUBLE_SIM_MIGRATE_MIGRATION_H_
#define REDOUBLE_SIM_MIGRATE_MIGRATION_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/base/time/clock.h"
#include "redouble/core/store/keyspace/key_family.h"
#include "redouble/core/store/store.h"
#include "redouble/sim/migrate/key_move.h"
#include "redouble/sim/migrate/key_mover.h"

namespace redouble::inline v0_1::sim {

// How many keys of SCAN are handled together, and how fast.
struct Pace {
  // Most keys of one round trip. Both servers and this process hold the values of that many keys.
  size_t batch_keys = 200;
  base::Clock* clock = nullptr;  // Must outlive the task; null: no bound.
  // The least time of each key: n keys take n times as long, the time of the commands included.
  // Batches are then small enough to take a tenth of a second at most, or have one key.
  absl::Duration per_key = absl::ZeroDuration();
};

struct CopyOptions {
  std::string cursor = "0";  // Of SCAN on `from`; "0" starts from the beginning.
  int64_t page_keys = 1000;  // COUNT of SCAN.
  bool is_dry_run = false;   // Reads and translates, and writes nothing.
  Pace pace = {};
  // Called after each page with the cursor that continues after it, "0" at the end. A cursor is
  // valid until the server restarts or a cluster's masters change. An error ends the copy.
  std::function<absl::Status(std::string_view cursor, const CopyReport& so_far)> on_page = {};
};

struct FollowOptions {
  // The passes end after one that finds no more keys to change than this.
  int64_t most_changes = 0;
  Pace pace = {};
  // Called after each pass. An error ends the passes.
  std::function<absl::Status(const struct FollowReport& so_far)> on_pass = {};
};

struct FollowReport {
  int64_t passes = 0;
  int64_t copied = 0;     // In the last pass.
  int64_t deleted = 0;    // In the last pass: keys that `to` alone had.
  VerifyReport compared;  // What the last pass found before it changed anything.

  int64_t changes() const { return copied + deleted; }
};

class Migration {
 public:
  // Errors: those of FindMovedSystem and KeyMove::Create.
  static absl::StatusOr<Migration> Create(std::string_view system, LayoutPair layouts,
                                          std::span<const store::KeyBinding> bindings = {});

  // Copies all keys from a cursor on; replaces keys that `to` has. Round trips: one for each page,
  // and those of KeyMover::Copy for each batch. Memory: a page of names, and the values of a batch.
  // Errors: those of KeyMove, and FailedPrecondition for a key that the way back would not restore,
  // both also in a dry run; FailedPrecondition for a stream whose format `to` does not read; those
  // of the stores and of on_page.
  base::Task<absl::StatusOr<CopyReport>> Copy(store::Store& from, store::Store& to,
                                              CopyOptions options) const;

  // Compares the keys of `from` with those of `to`, then looks for keys of `to` that `from` does
  // not have. A key that expires meanwhile is not counted. Writes nothing. Errors: as Copy.
  base::Task<absl::StatusOr<VerifyReport>> Verify(store::Store& from, store::Store& to,
                                                  Pace pace = {}) const;

  // Makes `to` equal to `from` while writers may change `from`: passes of Verify, each of which
  // copies what is missing or different and deletes what is extra. Ends after a pass with no more
  // than `most_changes`; a pass with none has found both equal, if no writer has changed `from`
  // since the pass began. No other client may write to `to`. May be repeated after it was stopped.
  // Errors: Aborted if five passes in a row have not fewer changes than the best pass before them,
  // because the writers are as fast; as Copy; those of on_pass.
  base::Task<absl::StatusOr<FollowReport>> Follow(store::Store& from, store::Store& to,
                                                  FollowOptions options) const;

 private:
  base::Task<absl::Status> Pass(store::Store& from, store::Store& to, Pace pace,
                                FollowReport& report) const;

  Migration(KeyMove forth, KeyMove back) : forth_(std::move(forth)), back_(std::move(back)) {}

  KeyMove forth_;
  KeyMove back_;
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_MIGRATE_MIGRATION_H_
