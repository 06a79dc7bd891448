#include "redouble/core/studio/ingest/loops.h"

#include "redouble/core/base/status/status_macros.h"

namespace redouble::inline v0_1::studio {

base::Task<absl::Status> RetentionLoop::Run() {
  while (interval_) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(const int64_t removed, co_await index_.PruneExpired(clock_.Now()));
    removed_ += removed;
    co_await clock_.Sleep(*interval_);
  }
  co_return absl::OkStatus();
}

base::Task<absl::Status> HealthLoop::Run() {
  while (interval_) {
    REDOUBLE_CO_RETURN_IF_ERROR((co_await health_.RefreshAll(clock_.Now())).status());
    co_await clock_.Sleep(*interval_);
  }
  co_return absl::OkStatus();
}

base::Task<absl::Status> PullSyncLoop::Run() {
  while (interval_) {
    const absl::StatusOr<SyncRound> round = co_await sync_.SyncAll(clock_);
    if (!round.ok()) {
      ++failed_rounds_;
      last_error_ = round.status();
    }
    co_await clock_.Sleep(*interval_);
  }
  co_return absl::OkStatus();
}

}  // namespace redouble::inline v0_1::studio
