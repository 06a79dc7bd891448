// Engine: the in-process Redis 7.0, deterministic and on a virtual clock.
//
// Use it in tests and simulations instead of a Redis server. Connect() returns a Store, so
// that code written against Store runs on it unchanged. Replies depend on the commands, their
// order, the clock and EngineOptions::seed only, and equal those of redis-server 7.0.15. Commands
// that are not supported return Redis's unknown-command error.
//
//   base::VirtualClock clock(start);
//   memory::Engine engine(clock);
//   std::unique_ptr<memory::Session> session = engine.Connect();
//   base::Run(store::Set(*session, "greeting", "hello", {.expiry = store::Expiry::In(ttl)}));
//   clock.Advance(ttl + absl::Milliseconds(1));  // The key has expired.
//
// The engine takes its time from the clock. Advancing the clock expires keys and ends blocked
// commands, in the order of their deadlines. A key exists up to and including the millisecond of
// its deadline, as in Redis.
//
// The clock must outlive the engine, and the engine its sessions.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_BACKENDS_MEMORY_ENGINE_ENGINE_H_
#define REDOUBLE_BACKENDS_MEMORY_ENGINE_ENGINE_H_

#include <cstdint>
#include <memory>

#include "redouble/backends/memory/engine/session.h"
#include "redouble/backends/memory/engine_options.h"
#include "redouble/backends/memory/keyspace/keyspace_event.h"
#include "redouble/backends/memory/propagation/effect.h"
#include "redouble/core/base/time/virtual_clock.h"

namespace redouble::inline v0_1::memory {

class EngineCore;

class Engine {
 public:
  explicit Engine(base::VirtualClock& clock, EngineOptions options = {});
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;
  ~Engine();

  // Returns a new connection, with database 0 selected. It must be authenticated by AUTH if
  // EngineOptions::requirepass is set.
  std::unique_ptr<Session> Connect();
  // As Connect, but the connection may run every command without AUTH, whatever the ACL says.
  std::unique_ptr<Session> ConnectTrusted();

  base::VirtualClock& clock() const { return clock_; }

  // The current options, with the changes made by CONFIG SET.
  const EngineOptions& options() const;
  // Replaces the options. Changes of `seed`, `databases` and `cluster` have no effect after
  // construction.
  void Configure(EngineOptions options);
  // Starts the random choices (RANDOMKEY, SPOP, eviction) again from another seed.
  void Reseed(uint64_t seed);
  // Switches active expiry on or off (DEBUG SET-ACTIVE-EXPIRE). If off, an expired key is stored
  // until a command looks it up, and not only until the clock passes its deadline.
  void set_active_expire(bool value);

  // Calls `listener` for every keyspace event that reports a change; not for "new" and "keymiss".
  // Does not depend on notify-keyspace-events. Replaces the previous listener; an empty function
  // removes it.
  void SetKeyspaceListener(KeyspaceListener listener);

  // Passes the effects of all later commands, expiries and evictions to the sink, as redis-server
  // passes them to its replicas and to its append-only file (propagation/effect.h). `targets`:
  // which effects the sink receives. Replies, state and random choices do not depend on it.
  // The sink must be removed before it is destroyed.
  void AddEffectSink(EffectSink& sink, EffectTargets targets);
  void RemoveEffectSink(EffectSink& sink);

  // Keys expired and keys evicted, since the start or since CONFIG RESETSTAT.
  int64_t expired_keys() const;
  int64_t evicted_keys() const;
  // Changes of keys since the start (INFO's rdb_changes_since_last_save).
  int64_t changes() const;

  // The implementation, for programs that host the engine or look into it: a server, a snapshot, a
  // state hash. See engine_core.h.
  EngineCore& core() { return *core_; }
  const EngineCore& core() const { return *core_; }

 private:
  base::VirtualClock& clock_;
  const std::unique_ptr<EngineCore> core_;
};

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_ENGINE_ENGINE_H_
