// MemoryBackend: scenarios on the engine inside this process, with a virtual clock.
//
//   MemoryBackend backend;
//   RunScenario(scenario, backend);
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_SCENARIO_MEMORY_BACKEND_H_
#define REDOUBLE_SIM_SCENARIO_MEMORY_BACKEND_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "backends/memory/engine.h"
#include "core/base/virtual_clock.h"
#include "sim/scenario/backend.h"

namespace redouble::sim {

class MemoryBackend final : public ScenarioBackend {
 public:
  // Engines with these options; their seed is not used.
  explicit MemoryBackend(memory::EngineOptions options = {}) : options_(std::move(options)) {}

  // A new engine with that seed. Never fails.
  absl::Status Begin(absl::Time start, uint64_t seed) override;
  absl::StatusOr<std::unique_ptr<store::Store>> Connect() override;
  base::Clock& clock() override { return *clock_; }
  absl::Status AdvanceTo(absl::Time time) override;
  absl::Status Flush() override;
  absl::Status Restart() override;

 private:
  const memory::EngineOptions options_;
  uint64_t seed_ = 0;
  std::optional<base::VirtualClock> clock_;  // Both from Begin on; the engine uses the clock.
  std::optional<memory::Engine> engine_;
};

}  // namespace redouble::sim

#endif  // REDOUBLE_SIM_SCENARIO_MEMORY_BACKEND_H_
