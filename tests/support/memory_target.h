// MemoryTarget: the memory engine as a Target.
#ifndef REDOUBLE_TESTS_SUPPORT_MEMORY_TARGET_H_
#define REDOUBLE_TESTS_SUPPORT_MEMORY_TARGET_H_

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "backends/memory/engine.h"
#include "core/base/virtual_clock.h"
#include "tests/support/target.h"

namespace redouble::tests {

class MemoryTarget final : public Target {
 public:
  explicit MemoryTarget(memory::EngineOptions options = {});
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

  const memory::EngineOptions options_;
  std::unique_ptr<base::VirtualClock> clock_;
  std::unique_ptr<memory::Engine> engine_;
  std::map<int, std::unique_ptr<Connection>> connections_;
};

}  // namespace redouble::tests

#endif  // REDOUBLE_TESTS_SUPPORT_MEMORY_TARGET_H_
