// Journal: what each key of an engine was at each moment, so that a server can come back as it was.
//
// A real server comes back from an RDB or AOF, or is replaced by a replica that lags: in each case
// with its data of some earlier moment. The journal hears which keys change, keeps their serialised
// values (DUMP) and deadlines, and can put an engine back to any of its writes.
//
// Cost: one DUMP per changed key and step.
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
#include "backends/memory/engine.h"
#include "core/store/command.h"

namespace redouble::sim {

class Journal {
 public:
  // Listens to the engine's changes from now on, in place of another listener; what it holds
  // already is not known. `engine` must outlive the journal.
  explicit Journal(memory::Engine& engine);
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;
  ~Journal();

  // A command ran on that database: its keys may have changed. Not every change is a keyspace event
  // (XACK's is none).
  void Note(int db, const store::Command& command);
  // Any key may have changed.
  void NoteAll();
  // Writes down what changed since the last call, as one write. To be called after each step that
  // may have changed something, so that a write is what one step did.
  void Record();

  // Puts the engine's keys back to what they were at `time`, writes at `time` included, and forgets
  // what came later. What has expired meanwhile stays away.
  void RestoreAt(absl::Time time);
  // As RestoreAt, to the moment before the last `count` writes.
  void RestoreBefore(int64_t count);

 private:
  using Place = std::pair<int, std::string>;  // Database and key.
  struct Change {
    Place place;
    std::optional<std::string> value;  // As DUMP gives it; none: the key was gone.
    int64_t deadline_ms;               // 0: none.
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

}  // namespace redouble::sim

#endif  // REDOUBLE_SIM_WORLD_JOURNAL_H_
