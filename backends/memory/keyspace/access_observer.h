// AccessObserver: learns which keys, and which other state of an engine, commands read and write.
//
// The schedule explorer uses it to determine which commands commute (sim/explore/strategies.h). The
// keyspace calls it at each access, whether a command, a script or a blocked client causes it.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_BACKENDS_MEMORY_KEYSPACE_ACCESS_OBSERVER_H_
#define REDOUBLE_BACKENDS_MEMORY_KEYSPACE_ACCESS_OBSERVER_H_

#include <string_view>

namespace redouble::inline v0_1::memory {

class AccessObserver {
 public:
  // What commands share besides keys.
  enum class State {
    kScripts,        // The script cache, which EVALSHA reads.
    kRandomNumbers,  // The order of draws decides what SPOP and RANDOMKEY return.
    kMessages,       // Messages and invalidations arrive in the order of sending.
    kSlots,          // Which slots a node of a cluster serves.
  };

  // A key of any database was looked up; it may be missing.
  virtual void OnRead(std::string_view key) = 0;
  // A key was added, removed or changed, or its expiry was set.
  virtual void OnWrite(std::string_view key) = 0;
  virtual void OnRead(State state) = 0;
  virtual void OnWrite(State state) = 0;
  // A command may depend on everything or change everything: KEYS, FLUSHALL, CONFIG SET.
  virtual void OnAll() = 0;

 protected:
  ~AccessObserver() = default;
};

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_KEYSPACE_ACCESS_OBSERVER_H_
