// EffectWriter: effects as the bytes of a replication stream or of an append-only file.
//
// It leaves out effects for other targets, writes SELECT when the database changes, and MULTI and
// EXEC around atomic effects. As in Redis, MULTI and EXEC are written even if all effects between
// them are for other targets, and the SELECT of the first effect comes before MULTI.
//
//   EffectWriter writer(EffectTargets::kLog);
//   std::string bytes;
//   writer.Append(effects, is_atomic, bytes);
//
// Thread-safety: one thread.
// Source: Redis 7.0 redis.conf, "appendonly".
#ifndef REDOUBLE_BACKENDS_MEMORY_PROPAGATION_EFFECT_WRITER_H_
#define REDOUBLE_BACKENDS_MEMORY_PROPAGATION_EFFECT_WRITER_H_

#include <optional>
#include <span>
#include <string>

#include "redouble/backends/memory/propagation/effect.h"

namespace redouble::inline v0_1::memory {

class EffectWriter {
 public:
  // Writes the effects for `target`, kLog or kReplicas.
  explicit EffectWriter(EffectTargets target) : target_(target) {}

  // Appends the effects to `out`.
  void Append(std::span<const Effect> effects, bool is_atomic, std::string& out);

  // The database of the last effect; nullopt if the next one comes after a SELECT.
  std::optional<int> db() const { return db_; }
  // To be called when a new file or a new replica begins: the next effect comes after a SELECT.
  void ForgetDatabase() { db_.reset(); }

 private:
  void Select(int db, std::string& out);

  EffectTargets target_;
  std::optional<int> db_;  // The database that the reader has selected.
};

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_PROPAGATION_EFFECT_WRITER_H_
