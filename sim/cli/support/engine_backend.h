// EngineBackend: runs a scenario on an engine that the caller owns and goes on to use.
//
//   EngineBackend backend(engine);
//   const ScenarioResult result = RunScenario(scenario, backend);
//
// The engine must have been made for the scenario's start and seed.
//
// Thread-safety: the engine's.
#ifndef REDOUBLE_SIM_CLI_SUPPORT_ENGINE_BACKEND_H_
#define REDOUBLE_SIM_CLI_SUPPORT_ENGINE_BACKEND_H_

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/backends/memory/engine/engine.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/store/typed/keys.h"
#include "redouble/sim/scenario/backend.h"

namespace redouble::inline v0_1::sim {

class EngineBackend final : public ScenarioBackend {
 public:
  // `engine` must outlive it.
  explicit EngineBackend(memory::Engine& engine) : engine_(engine) {}

  absl::Status Begin(const ServerNeeds&) override { return absl::OkStatus(); }
  absl::StatusOr<std::unique_ptr<store::Store>> Connect() override {
    return engine_.ConnectTrusted();
  }
  base::Clock& clock() override { return engine_.clock(); }
  absl::Status AdvanceTo(absl::Time time) override {
    engine_.clock().AdvanceTo(time);
    return absl::OkStatus();
  }
  absl::Status Flush() override {
    const std::unique_ptr<store::Store> connection = engine_.ConnectTrusted();
    return base::Run(store::FlushAll(*connection));
  }
  absl::Status Restart() override {
    return absl::UnimplementedError("this needs a scenario that does not restart the server");
  }

 private:
  memory::Engine& engine_;
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_CLI_SUPPORT_ENGINE_BACKEND_H_
