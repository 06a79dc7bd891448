// Effect: a command that repeats what an executed command changed; EffectSink: who receives them.
//
// Redis calls the stream of effects "propagation": its replicas and its append-only file receive
// it. An effect is deterministic: SPOP becomes the SREM of the members that were drawn, EXPIRE the
// PEXPIREAT of a time. All effects in order, run on an equal keyspace, give an equal one.
//
//   class Counter final : public memory::EffectSink {
//     void OnEffects(std::span<const memory::Effect> effects, bool) override {
//       count += effects.size();
//     }
//     ...
//   };
//   engine.AddEffectSink(counter, memory::EffectTargets::kLog);
//
// EffectWriter (effect_writer.h) makes the bytes that an append-only file or a replica receives.
//
// Thread-safety: plain values; a sink is called by the thread of its engine.
// Source: Redis 7.0 redis.conf, "appendonly" and "replicaof".
#ifndef REDOUBLE_BACKENDS_MEMORY_PROPAGATION_EFFECT_H_
#define REDOUBLE_BACKENDS_MEMORY_PROPAGATION_EFFECT_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace redouble::inline v0_1::memory {

// Who receives an effect. The values are those of redis.set_repl in scripts.
enum class EffectTargets : uint8_t {
  kNobody = 0,
  kLog = 1,  // The append-only file.
  kReplicas = 2,
  kAll = kLog | kReplicas,
};

// The targets that are in both.
constexpr EffectTargets operator&(EffectTargets a, EffectTargets b) {
  return static_cast<EffectTargets>(static_cast<uint8_t>(a) & static_cast<uint8_t>(b));
}

// The targets that are in either.
constexpr EffectTargets operator|(EffectTargets a, EffectTargets b) {
  return static_cast<EffectTargets>(static_cast<uint8_t>(a) | static_cast<uint8_t>(b));
}

struct Effect {
  int db = 0;  // The database in which the command is to run.
  EffectTargets targets = EffectTargets::kAll;
  std::vector<std::string> words;  // The command's name and its arguments.
};

class EffectSink {
 public:
  // Called after each command, transaction, script, served client, expiry or eviction that had
  // effects, in the order in which they happened. `effects` is not empty; it includes effects for
  // other targets. `is_atomic`: no client may see a state between these effects (MULTI and EXEC).
  // Must not run commands of the engine.
  virtual void OnEffects(std::span<const Effect> effects, bool is_atomic) = 0;

 protected:
  ~EffectSink() = default;
};

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_PROPAGATION_EFFECT_H_
