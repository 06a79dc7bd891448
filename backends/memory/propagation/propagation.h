// Propagation: collects the effects of a command and passes them to the sinks when it has ended.
//
// A command, a transaction with its commands, and a script with its calls are one unit. The engine
// opens the unit with the outermost CallEffects (call_effects.h); effects of several commands in
// one unit are atomic. An expiry or eviction outside of a command is a unit of its own.
//
//   propagation.BeginCall();
//   propagation.Add(db, {"DEL", key});
//   propagation.EndCall();  // The outermost call has ended: the sinks receive the effects.
//
// Without a sink on() is false, and nothing is collected.
//
// Thread-safety: one thread.
// Source: Redis 7.0 redis.conf, "appendonly".
#ifndef REDOUBLE_BACKENDS_MEMORY_PROPAGATION_PROPAGATION_H_
#define REDOUBLE_BACKENDS_MEMORY_PROPAGATION_PROPAGATION_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "redouble/backends/memory/propagation/effect.h"

namespace redouble::inline v0_1::memory {

class Propagation {
 public:
  // True if there is a sink, and the stream is not muted.
  bool on() const { return wanted_ != EffectTargets::kNobody; }
  // While it is muted, the sinks receive nothing.
  void set_muted(bool value);
  // `targets`: what the sink receives effects for. It must be removed before it is destroyed.
  // Neither function may be called by a sink. Within a command, the sink receives the effects from
  // there on.
  void AddSink(EffectSink& sink, EffectTargets targets);
  void RemoveSink(EffectSink& sink);

  // Adds an effect to the present unit. As in Redis, an effect that no sink receives does not
  // count, so that it makes no transaction of another one. Requires on().
  void Add(int db, std::vector<std::string> words, EffectTargets targets = EffectTargets::kAll);

  // Adds the removal of a key that expired or was evicted, which is a unit of its own outside of
  // commands. `word` is DEL or UNLINK.
  void AddRemoval(int db, std::string_view word, std::string_view key);

  // Fields of a hash have expired. `words`: HDEL, the key and the fields.
  void AddExpiredFields(int db, std::vector<std::string> words);

  // A command begins or ends; the last end passes the effects on. `is_atomic`: together, if there
  // are several.
  void BeginCall() { ++open_calls_; }
  void EndCall(bool is_atomic = true);

  // redis.set_repl: who receives the effects of the running script's commands.
  EffectTargets script_targets() const { return script_targets_; }
  void set_script_targets(EffectTargets targets) { script_targets_ = targets; }

 private:
  void EndUnit(bool is_atomic);
  void UpdateWanted();

  struct Receiver {
    EffectSink* sink;
    EffectTargets targets;
    size_t skipped;  // The effects of the present unit from before the sink was added.
  };

  std::vector<Receiver> sinks_;
  EffectTargets wanted_ = EffectTargets::kNobody;  // The targets of all sinks, unless muted.
  bool is_muted_ = false;
  std::vector<Effect> effects_;
  int open_calls_ = 0;
  EffectTargets script_targets_ = EffectTargets::kAll;
};

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_PROPAGATION_PROPAGATION_H_
