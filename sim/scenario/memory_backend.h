// MemoryBackend: runs scenarios on the memory engine, with a virtual clock.
//
// Use it wherever no live server is needed: it is fast, deterministic, and supports every step.
//
//   MemoryBackend backend;
//   const ScenarioResult result = RunScenario(scenario, backend);
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_SCENARIO_MEMORY_BACKEND_H_
#define REDOUBLE_SIM_SCENARIO_MEMORY_BACKEND_H_

#include <memory>
#include <optional>
#include <utility>

#include "redouble/backends/memory/engine/engine.h"
#include "redouble/core/base/time/virtual_clock.h"
#include "redouble/sim/scenario/backend.h"

namespace redouble::inline v0_1::sim {

class MemoryBackend final : public ScenarioBackend {
 public:
  // The options of the engines; the seed, and a version that the scenario needs, are those of
  // Begin.
  explicit MemoryBackend(memory::EngineOptions options = {}) : options_(std::move(options)) {}

  // Creates a new engine. Never fails.
  absl::Status Begin(const ServerNeeds& needs) override;
  absl::StatusOr<std::unique_ptr<store::Store>> Connect() override;
  base::Clock& clock() override { return *clock_; }
  absl::Status AdvanceTo(absl::Time time) override;
  absl::Status Flush() override;
  absl::Status Restart() override;

 private:
  const memory::EngineOptions options_;
  ServerNeeds needs_;
  std::optional<base::VirtualClock> clock_;  // Set by Begin, as the engine, which uses the clock.
  std::optional<memory::Engine> engine_;
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_SCENARIO_MEMORY_BACKEND_H_
