// CallEffects: what one executed command propagates.
//
// By default a command that changed something is propagated as the client sent it. Its handler
// replaces it, adds effects before it or suppresses it, by the functions of CommandContext. The
// engine creates a CallEffects for each command while Propagation::on(), and for each blocked
// client that it serves, which propagates only what its operation says.
//
//   CallEffects effects(propagation);
//   context.set_effects(&effects);
//   const Reply reply = handler(context, arguments);
//   effects.Finish({.db = db, .name = name, .arguments = arguments, .has_changed = changed});
//
// Thread-safety: one thread; lives for one command.
// Source: Redis 7.0 redis.conf, "appendonly".
#ifndef REDOUBLE_BACKENDS_MEMORY_PROPAGATION_CALL_EFFECTS_H_
#define REDOUBLE_BACKENDS_MEMORY_PROPAGATION_CALL_EFFECTS_H_

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redouble/backends/memory/propagation/effect.h"
#include "redouble/backends/memory/propagation/propagation.h"

namespace redouble::inline v0_1::memory {

class CallEffects {
 public:
  // `propagation` must outlive it.
  explicit CallEffects(Propagation& propagation) : propagation_(propagation) {
    propagation_.BeginCall();
  }
  CallEffects(const CallEffects&) = delete;
  CallEffects& operator=(const CallEffects&) = delete;
  ~CallEffects() { propagation_.EndCall(!is_separate_); }

  // The command is propagated as these words, if it changed something.
  void Replace(std::vector<std::string> words) { replacement_ = std::move(words); }
  // These words are propagated before the command.
  void Also(int db, std::vector<std::string> words);
  // The command itself is not propagated.
  void Suppress() { is_suppressed_ = true; }
  // The effects need not be atomic.
  void Separate() { is_separate_ = true; }
  // The command is propagated to these targets also if it changed nothing.
  void Force(EffectTargets targets) { forced_ = targets; }

  // A command that has ended.
  struct Call {
    int db = 0;  // The client's database, after the command.
    std::string_view name = {};
    std::span<const std::string_view> arguments = {};
    bool has_changed = false;
    bool from_script = false;
  };
  void Finish(const Call& call);
  // The same for a blocked client that was served: only Replace and Also count.
  void FinishServed(int db);

 private:
  Propagation& propagation_;
  std::vector<std::string> replacement_;
  bool is_suppressed_ = false;
  bool is_separate_ = false;
  EffectTargets forced_ = EffectTargets::kNobody;
};

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_PROPAGATION_CALL_EFFECTS_H_
