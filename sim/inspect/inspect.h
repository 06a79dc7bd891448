// Inspect: what a database holds, family by family, and what of it cannot be right.
//
// Why it exists: the inventory says which keys there should be; this reads which ones there are,
// on the engine or on a live Redis, and finds what crashes, races and strangers have left.
//
//   absl::StatusOr<Inspection> found = co_await InspectKeys(store, table);
//   found->families[0].keys;           // how many of the first family that has any
//   for (const Anomaly& anomaly : found->anomalies) std::cout << anomaly.message << "\n";
//
// Only commands that read are sent: DBSIZE, SCAN, TYPE, PTTL, the length of each type, and EXISTS
// for what looks like an orphan. Three round trips per page of SCAN, two per orphan. A database in
// use is no snapshot: a key that comes or goes meanwhile may be missed, and one whose partner is
// written between the two looks is not called an orphan unless it still is one at the end.
//
// Thread-safety: as Store.
#ifndef REDOUBLE_SIM_INSPECT_INSPECT_H_
#define REDOUBLE_SIM_INSPECT_INSPECT_H_

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "core/base/task.h"
#include "core/store/key_family.h"
#include "core/store/store.h"
#include "sim/inspect/rule_table.h"

namespace redouble::sim {

enum class AnomalyKind {
  kUnknownKey,  // Of no family.
  kWrongType,   // Not of its family's type; also a key that is named like a channel.
  kMissingTtl,  // It never expires, and its family requires that it does.
  kOrphan,      // Another key is gone without which it has no sense.
};
inline constexpr size_t kAnomalyKinds = 4;

// "unknown_key", ...
std::string_view AnomalyKindName(AnomalyKind kind);

struct Anomaly {
  AnomalyKind kind;
  std::string key;      // Its bytes.
  std::string message;  // What is wrong, with the family.
  auto operator<=>(const Anomaly&) const = default;
};

// The keys of one family.
struct FamilyKeys {
  const store::KeyFamily* family;
  int64_t keys = 0;
  // Bytes of strings, elements of all others: of all keys, and of the largest.
  int64_t size = 0;
  int64_t largest = 0;
  std::string largest_key = {};  // The first of them by bytes.
  int64_t without_ttl = 0;
  // Of those that expire; none when there is none.
  std::optional<int64_t> shortest_ttl_ms = {};
  std::optional<int64_t> longest_ttl_ms = {};
};

struct Inspection {
  int64_t keys = 0;
  // Those that have keys, in the order of the table.
  std::vector<FamilyKeys> families;
  std::array<int64_t, kAnomalyKinds> anomaly_counts = {};
  // By kind and key; of each kind at most as many as asked for, the first by bytes.
  std::vector<Anomaly> anomalies;

  int64_t CountOf(AnomalyKind kind) const { return anomaly_counts[static_cast<size_t>(kind)]; }
  bool has_anomalies() const;
};

struct InspectOptions {
  InspectOptions() {}

  int64_t page_keys = 1000;  // COUNT of SCAN.
  size_t listed_anomalies = 20;
  // Called after each page with how many keys were read and how many there were at the beginning.
  std::function<void(int64_t read, int64_t total)> progress;
};

// Reads the database that the connection has selected. `table` must outlive the task. Keeps the
// names of all keys while it runs, to count each once. Errors: those of the store, or the first
// error reply.
base::Task<absl::StatusOr<Inspection>> InspectKeys(store::Store& store, const RuleTable& table,
                                                   InspectOptions options);

}  // namespace redouble::sim

#endif  // REDOUBLE_SIM_INSPECT_INSPECT_H_
