#include "redouble/sim/scenario/memory_backend.h"

#include "redouble/core/base/task/run.h"
#include "redouble/core/store/typed/keys.h"

namespace redouble::inline v0_1::sim {

absl::Status MemoryBackend::Begin(const ServerNeeds& needs) {
  needs_ = needs;
  engine_.reset();
  clock_.emplace(needs.start);
  return Restart();
}

absl::StatusOr<std::unique_ptr<store::Store>> MemoryBackend::Connect() {
  return engine_->Connect();
}

absl::Status MemoryBackend::AdvanceTo(absl::Time time) {
  clock_->AdvanceTo(time);
  return absl::OkStatus();
}

absl::Status MemoryBackend::Flush() {
  const std::unique_ptr<store::Store> connection = engine_->Connect();
  return base::Run(store::FlushAll(*connection));
}

absl::Status MemoryBackend::Restart() {
  memory::EngineOptions options = options_;
  options.seed = needs_.seed;
  if (needs_.version) options.compatibility = *needs_.version;
  engine_.reset();
  engine_.emplace(*clock_, options);
  return absl::OkStatus();
}

}  // namespace redouble::inline v0_1::sim
