// Journal: the history of an engine's keys, so that the engine can be restored to an earlier state.
//
// Use it to simulate a server that restarts from an RDB file or an AOF, or that is replaced by a
// replica with replication lag: in each case the server continues with its data of an earlier time.
// The journal records which keys change, with their serialized values (DUMP) and deadlines.
//
//   Journal journal(engine);
//   ...                       // Run one command.
//   journal.Note(0, command);
//   journal.Record();         // One write.
//   journal.RestoreBefore(1); // The engine no longer has the effects of that command.
//
// Cost: one DUMP for each changed key and step; memory grows with the number of writes.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_WORLD_JOURNAL_H_
#define REDOUBLE_SIM_WORLD_JOURNAL_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "redouble/backends/memory/engine/engine.h"
#include "redouble/core/store/command.h"

namespace redouble::inline v0_1::sim {

class Journal {
 public:
  // Replaces the engine's keyspace listener. Keys that exist already are not known to the journal.
  // `engine` must outlive the journal.
  explicit Journal(memory::Engine& engine);
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;
  ~Journal();

  // Reports that a command ran on database `db`, so its keys may have changed. Needed because not
  // every change is a keyspace event (XACK is not).
  void Note(int db, const store::Command& command);
  // Reports that any key may have changed.
  void NoteAll();
  // Records all changes since the last call as one write. Must be called after each step that may
  // have changed something.
  void Record();

  // Restores the keys to their state at `time`, including writes at exactly `time`, and forgets
  // later writes. Keys that have expired since then are not restored.
  void RestoreAt(absl::Time time);
  // Like RestoreAt, to the state before the last `count` writes.
  void RestoreBefore(int64_t count);

 private:
  using Place = std::pair<int, std::string>;  // Database index and key.
  struct Change {
    Place place;
    std::optional<std::string> value;  // The reply of DUMP; nullopt if the key does not exist.
    int64_t deadline_ms;               // 0 if the key does not expire.
  };
  struct Write {
    int64_t time_us;
    std::vector<Change> changes;
  };

  Change Look(const Place& place) const;
  void RestoreFirst(size_t writes);

  memory::Engine& engine_;
  std::set<Place> changed_;
  std::vector<Write> writes_;
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_WORLD_JOURNAL_H_
