// MemoryTarget: the memory engine as a Target (target.h).
//
//   MemoryTarget target;
//   target.Reset(absl::FromUnixSeconds(1'700'000'000));
//   target.Run(0, {"PING"});
//
// Thread-safety: one thread.
#ifndef REDOUBLE_TESTS_SUPPORT_TARGET_MEMORY_TARGET_H_
#define REDOUBLE_TESTS_SUPPORT_TARGET_MEMORY_TARGET_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "redouble/backends/memory/engine/engine.h"
#include "redouble/core/base/time/virtual_clock.h"
#include "redouble/tests/support/target/target.h"

namespace redouble::inline v0_1::tests {

class MemoryTarget final : public Target {
 public:
  // With `resp3` each connection starts with HELLO 3, and replies have the shapes that a client
  // would receive.
  explicit MemoryTarget(memory::EngineOptions options = {}, bool resp3 = false);
  ~MemoryTarget() override;

  std::string name() const override { return "memory"; }
  void Reset(absl::Time now) override;
  absl::Time now() const override { return clock_->Now(); }
  void SetTime(absl::Time now) override { clock_->AdvanceTo(now); }
  void Settle() override {}
  std::optional<absl::Time> NextDeadline() override;

  std::vector<store::Reply> RunAll(int connection, std::span<const Words> commands) override;
  std::optional<store::Reply> Run(int connection, const Words& command) override;
  std::optional<store::Reply> Poll(int connection) override;

  memory::Engine& engine() { return *engine_; }

 private:
  class PendingCommand;
  class Connection;

  Connection& At(int connection);
  store::Reply AsRead(store::Reply reply) const;

  const memory::EngineOptions options_;
  const bool resp3_;
  std::unique_ptr<base::VirtualClock> clock_;
  std::unique_ptr<memory::Engine> engine_;
  std::map<int, std::unique_ptr<Connection>> connections_;
};

}  // namespace redouble::inline v0_1::tests

#endif  // REDOUBLE_TESTS_SUPPORT_TARGET_MEMORY_TARGET_H_
