// KeyMover: copies and compares some keys of one server with those of another, in few round trips.
//
// A part of Migration, which gives it the keys of its scans. A mover serves one pass over the keys.
//
//   KeyMover mover(forth, back, from, to);
//   REDOUBLE_CO_RETURN_IF_ERROR(co_await mover.Copy(keys, report));
//
// Thread-safety: as Store.
#ifndef REDOUBLE_SIM_MIGRATE_KEY_MOVER_H_
#define REDOUBLE_SIM_MIGRATE_KEY_MOVER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/store/store.h"
#include "redouble/sim/migrate/key_dump.h"
#include "redouble/sim/migrate/key_move.h"
#include "redouble/sim/migrate/key_value.h"

namespace redouble::inline v0_1::sim {

struct CopyReport {
  std::map<std::string, int64_t> keys;  // By the id of the family; a key that SCAN repeats counts
                                        // twice.
  int64_t other_keys = 0;               // Of no family of the system.

  friend bool operator==(const CopyReport& a, const CopyReport& b) = default;
};

struct FamilyReport {
  int64_t keys = 0;          // In `from`; keys that are joined count as one.
  int64_t missing = 0;       // Not in `to`.
  int64_t different = 0;     // In `to` with another type, value or deadline.
  int64_t extra = 0;         // In `to` alone.
  uint64_t from_digest = 0;  // The sum of DigestOf over the keys that those of `from` become,
  uint64_t to_digest = 0;    // and over the same keys in `to`.

  FamilyReport& operator+=(const FamilyReport& other);
  friend bool operator==(const FamilyReport& a, const FamilyReport& b) = default;
};

struct VerifyReport {
  std::map<std::string, FamilyReport> families;  // By id.

  // Whether no family has missing, different or extra keys.
  bool is_equal() const;
};

// A dry run translates everything and writes nothing.
enum class Writes : bool { kNone, kAll };

class KeyMover {
 public:
  // The arguments must outlive this.
  KeyMover(const KeyMove& forth, const KeyMove& back, store::Store& from, store::Store& to)
      : forth_(forth), back_(back), from_(from), to_(to) {}

  // Copies keys of `from`, and replaces keys that `to` has. Two round trips for the keys that are
  // carried and three for the others, and one for each key that must be written by a transaction.
  // Memory: the values. Errors: as Migration::Copy.
  base::Task<absl::Status> Copy(std::span<const std::string> keys, Writes writes,
                                CopyReport& report);

  // Compares keys of `from` with those of `to`, and returns those that Copy must write again. A key
  // that expires meanwhile is not counted. Four to six round trips. Errors: as Copy.
  base::Task<absl::StatusOr<std::vector<std::string>>> Compare(std::span<const std::string> keys,
                                                               VerifyReport& report);

  // Returns those of the keys of `to` that no key of `from` becomes. Two to six round trips.
  // Errors: as Copy.
  base::Task<absl::StatusOr<std::vector<std::string>>> FindExtra(std::span<const std::string> keys,
                                                                 VerifyReport& report);

  // Deletes keys of `to`. One round trip.
  base::Task<absl::Status> Delete(std::span<const std::string> keys);

 private:
  struct Planned {
    std::string key;
    KeyMove::Target target;
  };
  // What each key of a plan becomes; nullopt if it does not exist, or if another key of its sources
  // has brought it.
  using Expected = std::vector<std::optional<std::vector<MovedKey>>>;

  absl::StatusOr<std::vector<Planned>> Plan(std::span<const std::string> keys, int64_t& other_keys);
  // Refuses what the way back does not restore.
  absl::Status CheckWayBack(const Planned& planned) const;
  absl::Status CheckWayBack(const Planned& planned, std::span<const MovedKey> moved) const;

  base::Task<absl::Status> CopyCarried(std::span<const Planned> planned, Writes writes,
                                       CopyReport& report);
  base::Task<absl::Status> CopyUnread(std::span<const NamedDump> dumps,
                                      std::span<const std::string> keys,
                                      std::span<const UnreadDump> unread);
  // The keys of a plan that are converted. `joined` are the groups of sources that were read.
  base::Task<absl::StatusOr<Expected>> ConvertAll(std::span<const Planned> planned,
                                                  std::set<std::string>& joined);
  base::Task<absl::StatusOr<Expected>> ExpectAll(std::span<const Planned> planned);
  // The keys of `from` that each key of `to` may come from.
  base::Task<absl::StatusOr<std::vector<std::vector<std::string>>>> OriginsOf(
      std::span<const Planned> theirs);
  // The keys that keys of `from` become.
  base::Task<absl::StatusOr<std::set<std::string>>> ProductsOf(std::vector<std::string> sources);

  const KeyMove& forth_;
  const KeyMove& back_;
  store::Store& from_;
  store::Store& to_;
  std::set<std::string> copied_joins_;
  std::set<std::string> compared_joins_;
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_MIGRATE_KEY_MOVER_H_
