// Migration: copies the keys of one system from a server in one key layout to a server in the
// other, and compares the two.
//
// The writers of the system must be paused: a change during the copy may be missed, which Verify
// then reports. The copy may stop at any moment, and continues from the last cursor it reported;
// copying a key again changes nothing. `from` is only read. Keys of other systems are counted and
// left alone.
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

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
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

namespace redouble::inline v0_1::sim {

struct CopyReport {
  std::map<std::string, int64_t> keys;  // By the id of the family; a key that SCAN repeats counts
                                        // twice.
  int64_t other_keys = 0;               // Of no family of the system.

  friend bool operator==(const CopyReport& a, const CopyReport& b) = default;
};

// Bounds the load on both servers.
struct Pace {
  base::Clock* clock = nullptr;  // Must outlive the task; null: no bound.
  // The pause after each key of SCAN. The time of the commands comes on top, so that the keys a
  // second stay below 1 s / per_key.
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

struct FamilyReport {
  int64_t keys = 0;          // In `from`.
  int64_t missing = 0;       // Not in `to`.
  int64_t different = 0;     // In `to` with another type, value or deadline.
  int64_t extra = 0;         // In `to` alone.
  uint64_t from_digest = 0;  // The sum of DigestOf over the translated keys of `from`,
  uint64_t to_digest = 0;    // and over the same keys in `to`.

  friend bool operator==(const FamilyReport& a, const FamilyReport& b) = default;
};

struct VerifyReport {
  std::map<std::string, FamilyReport> families;  // By id.

  // Whether no family has missing, different or extra keys.
  bool is_equal() const;
};

class Migration {
 public:
  // Errors: those of FindMovedSystem and KeyMove::Create.
  static absl::StatusOr<Migration> Create(std::string_view system, LayoutPair layouts,
                                          std::span<const store::KeyBinding> bindings = {});

  // Copies all keys from a cursor on; replaces keys that `to` has. A round trip for each page, two
  // for each key that is read and one for each that is written. Memory: a page of names and one
  // value. Errors: those of KeyMove, and FailedPrecondition for a key that
  // the way back would not restore, both also in a dry run; those of the stores and of on_page.
  base::Task<absl::StatusOr<CopyReport>> Copy(store::Store& from, store::Store& to,
                                              CopyOptions options) const;

  // Compares the keys of `from` with those of `to`, then looks for keys of `to` that `from` does
  // not have. A key that expires meanwhile is not counted. Writes nothing. Errors: as Copy.
  base::Task<absl::StatusOr<VerifyReport>> Verify(store::Store& from, store::Store& to,
                                                  Pace pace = {}) const;

 private:
  Migration(KeyMove forth, KeyMove back) : forth_(std::move(forth)), back_(std::move(back)) {}

  // As KeyMove::Translate; refuses also a key that the way back does not restore.
  absl::StatusOr<std::optional<KeyMove::Target>> Translate(std::string_view key) const;
  base::Task<absl::Status> CopyKey(store::Store& from, store::Store& to, std::string_view key,
                                   bool is_dry_run, CopyReport& report) const;
  base::Task<absl::Status> CompareKey(store::Store& from, store::Store& to, std::string_view key,
                                      VerifyReport& report) const;
  base::Task<absl::Status> FindExtra(store::Store& from, store::Store& to, std::string_view key,
                                     VerifyReport& report) const;

  KeyMove forth_;
  KeyMove back_;
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_MIGRATE_MIGRATION_H_
