// EffectRunner: runs the commands of a log or of a master on an engine, which obeys them.
//
// While it exists, the engine decides nothing by itself: no key expires or is evicted, and commands
// are neither checked again nor propagated (EngineCore::Authority, SessionCore::is_obeyed).
//
//   EffectRunner runner(engine, EngineCore::Authority::kLog);
//   if (!runner.Knows(words)) return UnknownCommand(words);
//   const store::Reply reply = runner.Run(words);
//
// Thread-safety: the engine's. Must not be used from within a command.
// Source: Redis 7.0 redis.conf, "appendonly" and "replicaof".
#ifndef REDOUBLE_BACKENDS_MEMORY_APPEND_ONLY_EFFECT_RUNNER_H_
#define REDOUBLE_BACKENDS_MEMORY_APPEND_ONLY_EFFECT_RUNNER_H_

#include <memory>
#include <span>
#include <string_view>

#include "redouble/backends/memory/engine/engine.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/core/store/reply.h"

namespace redouble::inline v0_1::memory {

class EffectRunner {
 public:
  // `engine` must outlive it.
  EffectRunner(Engine& engine, EngineCore::Authority authority);
  EffectRunner(const EffectRunner&) = delete;
  EffectRunner& operator=(const EffectRunner&) = delete;
  // The engine obeys what it obeyed before. If it decides for itself again, keys whose deadline has
  // passed expire.
  ~EffectRunner();

  // Whether the engine has the command. `words` is not empty.
  bool Knows(std::span<const std::string_view> words) const;
  // Runs a command, or queues it in the transaction that a MULTI began. An error reply means that
  // the keys differ from those of the master; the engine goes on, as Redis does.
  store::Reply Run(std::span<const std::string_view> words);
  // The session that runs the commands.
  SessionCore& session() { return *session_; }
  // The next commands are for database 0, as those at the beginning of a file are.
  void SelectFirstDatabase() { session_->Select(0); }
  // Whether a MULTI has no EXEC yet.
  bool in_transaction() const { return session_->in_transaction(); }
  // Whether CLIENT PAUSE postpones the command.
  bool Postpones(std::span<const std::string_view> words) const;

 private:
  store::CommandId IdOf(std::string_view name) const;

  EngineCore& core_;
  const EngineCore::Authority before_;
  const std::unique_ptr<SessionCore> session_;
};

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_APPEND_ONLY_EFFECT_RUNNER_H_
