#include "redouble/sim/scenario/memory_backend.h"

#include "redouble/core/base/task/run.h"
#include "redouble/core/store/typed/keys.h"

namespace redouble::sim {

absl::Status MemoryBackend::Begin(absl::Time start, uint64_t seed) {
  seed_ = seed;
  engine_.reset();
  clock_.emplace(start);
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
  options.seed = seed_;
  engine_.reset();
  engine_.emplace(*clock_, options);
  return absl::OkStatus();
}

}  // namespace redouble::sim
