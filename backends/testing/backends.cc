#include "redouble/backends/testing/backends.h"

#include <cstdio>
#include <cstdlib>
#include <utility>

#include "redouble/backends/testing/live_server.h"
#include "redouble/core/base/status/status_macros.h"

namespace redouble::inline v0_1::tests {
namespace {

void DieUnless(const absl::Status& status) {
  if (status.ok()) return;
  std::fprintf(stderr, "the live backend failed: %s\n", status.ToString().c_str());
  std::abort();
}

}  // namespace

absl::Status MemoryBackend::Start(absl::Time start) {
  clock_ = std::make_unique<base::VirtualClock>(start);
  engine_ = std::make_unique<memory::Engine>(*clock_);
  return absl::OkStatus();
}

std::unique_ptr<store::Store> MemoryBackend::Connect() { return engine_->Connect(); }

absl::Time MemoryBackend::Now() const { return clock_->Now(); }

void MemoryBackend::AdvanceTo(absl::Time time) { clock_->AdvanceTo(time); }

absl::Status LiveBackend::Start(absl::Time start) {
  if (LiveTestsWantACluster()) return StartCluster(start);
  REDOUBLE_ASSIGN_OR_RETURN(std::unique_ptr<redis::SpawnedServer> server, StartLiveServer(start));
  server_ = std::move(server);
  return absl::OkStatus();
}

absl::Status LiveBackend::StartCluster(absl::Time start) {
  REDOUBLE_ASSIGN_OR_RETURN(redis::SpawnedCluster * cluster, EmptyLiveCluster(start));
  cluster_ = cluster;
  return absl::OkStatus();
}

std::unique_ptr<store::Store> LiveBackend::Connect() {
  absl::StatusOr<std::unique_ptr<store::Store>> store =
      cluster_ != nullptr ? ConnectToLive(*cluster_) : ConnectToLive(*server_);
  DieUnless(store.status());
  return *std::move(store);
}

absl::Time LiveBackend::Now() const {
  return cluster_ != nullptr ? *cluster_->node(0).held_time() : *server_->held_time();
}

void LiveBackend::AdvanceTo(absl::Time time) {
  if (time <= Now()) return;
  if (cluster_ != nullptr) return DieUnless(AdvanceLiveCluster(*cluster_, time));
  DieUnless(server_->SetTime(time));
  DieUnless(server_->Settle());
}

}  // namespace redouble::inline v0_1::tests
