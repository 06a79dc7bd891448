// Snapshot: what an engine held at a moment, to be brought back any number of times.
//
//   const Snapshot before = Snapshot::Take(engine);
//   ...
//   before.Restore(engine);  // The keys, their expiries, the time and the chance are as they were.
//
// Taking and restoring copy every value: linear in what the keys hold, and nothing else. Scripts,
// functions, options and connections are not part of it.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_SERVER_SNAPSHOT_H_
#define REDOUBLE_SIM_SERVER_SNAPSHOT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backends/memory/engine.h"
#include "core/base/rng.h"

namespace redouble::sim {

class Snapshot {
 public:
  static Snapshot Take(memory::Engine& engine);
  // Time goes back, or forward without anything happening on the way. Watchers of keys that existed
  // fail; blocked calls look whether they can be served. Must not be called from a command.
  void Restore(memory::Engine& engine) const { RestoreAt(now_us_, engine); }
  // As Restore, but at another time: keys keep their deadlines.
  void RestoreAt(int64_t time_us, memory::Engine& engine) const;

 private:
  struct Key {
    std::string name;
    memory::Value value;
    memory::KeyUsage usage;
    std::optional<int64_t> deadline_ms;
  };

  Snapshot(int64_t now_us, const base::Rng& rng) : now_us_(now_us), rng_(rng) {}

  int64_t now_us_;
  base::Rng rng_;
  std::vector<std::vector<Key>> databases_;
};

// A SHA-256 of the time and of every key with its value and expiry, in hexadecimal: equal states
// have equal ones, in every process. O(keys log keys).
std::string HashOfState(memory::Engine& engine);

}  // namespace redouble::sim

#endif  // REDOUBLE_SIM_SERVER_SNAPSHOT_H_
