// RunSnapshot: everything that a server has of one run, as it stood behind one command.
//
// A snapshot is kept up to date by the keys that were touched: reading them all behind every
// command of a random run would take longer than the run.
//
// Thread-safety: a value; one thread reads.
#ifndef REDOUBLE_TESTS_PROPERTY_ORCHESTRATOR_RUN_SNAPSHOT_H_
#define REDOUBLE_TESTS_PROPERTY_ORCHESTRATOR_RUN_SNAPSHOT_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "core/orchestrator/keys.h"
#include "core/store/store.h"

namespace redouble::orchestrator {

struct SeenApproval {
  std::string node;
  std::string status;

  friend bool operator==(const SeenApproval&, const SeenApproval&) = default;
};

struct RunSnapshot {
  std::optional<std::string> counter;  // Its text.
  std::string ir;                      // Empty: none.
  std::set<std::string> applied;
  std::map<std::string, std::string> context;
  std::set<std::string> pending;                        // Members of the pending set.
  std::map<std::string, SeenApproval> approvals;        // By id.
  std::map<std::string, std::set<std::string>> parked;  // Predecessors by join.
  // When each key of the run expires, in milliseconds; -1 for a key that does not.
  std::map<std::string, int64_t> deadlines;

  // The counter as a number; none when there is none, or it is no number.
  std::optional<int64_t> count() const;
};

// The run that a key belongs to; empty for keys of no run, and for an approval's key of the plain
// form, which names none.
std::string RunOfKey(const Keys& keys, std::string_view key);
bool IsApprovalKey(const Keys& keys, std::string_view key);

// Reads one key of the run again, whatever happened to it.
void ReadKey(store::Store& store, const Keys& keys, const std::string& key, RunSnapshot& snapshot);

}  // namespace redouble::orchestrator

#endif  // REDOUBLE_TESTS_PROPERTY_ORCHESTRATOR_RUN_SNAPSHOT_H_
