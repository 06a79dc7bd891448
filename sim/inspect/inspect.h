// Inspect: counts the keys of a database by family and finds anomalies.
//
// The inventory says which keys there should be. This reads which keys there are, on the engine or
// on live Redis, and finds what crashes, races and other programs have left.
//
//   absl::StatusOr<Inspection> found = co_await InspectKeys(store, table);
//   found->families[0].keys;           // the count of the first family that has keys
//   for (const Anomaly& anomaly : found->anomalies) std::cout << anomaly.message << "\n";
//
// It sends only commands that read: DBSIZE, SCAN, TYPE, PTTL, the length command of each type, and
// EXISTS for possible orphans. Three round trips for each page of SCAN, two for each possible
// orphan. The result is not a snapshot: a key that is created or deleted during the scan may be
// missed. A key whose related key is created during the scan is reported as an orphan only if it is
// still one at the end.
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
#include "redouble/core/base/task/task.h"
#include "redouble/core/store/keyspace/key_family.h"
#include "redouble/core/store/store.h"
#include "redouble/sim/inspect/rule_table.h"

namespace redouble::inline v0_1::sim {

enum class AnomalyKind {
  kUnknownKey,  // Matches no family.
  kWrongType,   // Has another type than its family, or the name of a channel.
  kMissingTtl,  // Never expires, but its family requires a TTL.
  kOrphan,      // A key that it depends on is missing.
};
inline constexpr size_t kAnomalyKinds = 4;

// Returns "unknown_key", ...
std::string_view AnomalyKindName(AnomalyKind kind);

struct Anomaly {
  AnomalyKind kind;
  std::string key;      // The bytes of the key.
  std::string message;  // What is wrong, with the family.
  auto operator<=>(const Anomaly&) const = default;
};

// The keys of one family.
struct FamilyKeys {
  const store::KeyFamily* family;
  int64_t keys = 0;
  // Total and maximum size: bytes of strings, elements of other types.
  int64_t size = 0;
  int64_t largest = 0;
  std::string largest_key = {};  // The first of them by bytes.
  int64_t without_ttl = 0;
  // Among the keys that expire; nullopt if no key does.
  std::optional<int64_t> shortest_ttl_ms = {};
  std::optional<int64_t> longest_ttl_ms = {};
};

struct Inspection {
  int64_t keys = 0;
  // The families that have keys, in the order of the table.
  std::vector<FamilyKeys> families;
  std::array<int64_t, kAnomalyKinds> anomaly_counts = {};
  // Sorted by kind and key; at most the requested number of each kind, the first by bytes.
  std::vector<Anomaly> anomalies;

  int64_t CountOf(AnomalyKind kind) const { return anomaly_counts[static_cast<size_t>(kind)]; }
  bool has_anomalies() const;
};

struct InspectOptions {
  InspectOptions() {}

  int64_t page_keys = 1000;  // COUNT of SCAN.
  size_t listed_anomalies = 20;
  // Called after each page with the number of keys read, and the number of keys at the beginning.
  std::function<void(int64_t read, int64_t total)> progress;
};

// Reads the selected database of the connection. `table` must outlive the task. Keeps the names of
// all keys in memory while it runs, to count each once. Errors: those of the store, or the first
// error reply.
base::Task<absl::StatusOr<Inspection>> InspectKeys(store::Store& store, const RuleTable& table,
                                                   InspectOptions options);

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_INSPECT_INSPECT_H_
