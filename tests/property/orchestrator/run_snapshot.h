// RunSnapshot: all data that the server holds of one run, after one command.
//
// The snapshot is updated with the keys that changed: reading all keys after every command of a
// random run would take longer than the run.
//
//   ReadKey(store, keys, key, snapshot);  // After a keyspace notification for `key`.
//
// Thread-safety: a value; one thread updates it.
#ifndef REDOUBLE_TESTS_PROPERTY_ORCHESTRATOR_RUN_SNAPSHOT_H_
#define REDOUBLE_TESTS_PROPERTY_ORCHESTRATOR_RUN_SNAPSHOT_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "redouble/core/orchestrator/keys.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::orchestrator {

struct SeenApproval {
  std::string node;
  std::string status;

  friend bool operator==(const SeenApproval&, const SeenApproval&) = default;
};

struct RunSnapshot {
  std::optional<std::string> counter;  // The stored text.
  std::string ir;                      // Empty if there is none.
  std::set<std::string> applied;
  std::map<std::string, std::string> context;
  std::set<std::string> pending;                        // Members of the pending set.
  std::map<std::string, SeenApproval> approvals;        // By id.
  std::map<std::string, std::set<std::string>> parked;  // Predecessors by join.
  // By key, when it expires, in milliseconds since the Unix epoch; -1 if it does not expire.
  std::map<std::string, int64_t> deadlines;

  // The counter as a number; nullopt if it does not exist or is not a number.
  std::optional<int64_t> count() const;
};

// Returns the run that a key belongs to. Returns an empty string for keys of no run, and for plain
// approval keys, which do not contain their run.
std::string RunOfKey(const Keys& keys, std::string_view key);
bool IsApprovalKey(const Keys& keys, std::string_view key);

// Reads one key of the run and updates the snapshot, also if the key was deleted.
void ReadKey(store::Store& store, const Keys& keys, const std::string& key, RunSnapshot& snapshot);

}  // namespace redouble::inline v0_1::orchestrator

#endif  // REDOUBLE_TESTS_PROPERTY_ORCHESTRATOR_RUN_SNAPSHOT_H_
