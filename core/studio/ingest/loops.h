// RetentionLoop, HealthLoop and PullSyncLoop: the background loops of a Studio backend.
//
// Each loop runs a round at once, and again after each interval. As in the documented system, the
// first error of a round ends the retention loop and the health loop (L1), and the pull loop goes
// on after errors.
//
//   studio::RetentionLoop retention(index, clock, absl::Seconds(60));
//   const absl::Status ended = co_await retention.Run();   // Returns only an error.
//
// Destroying the task stops a loop at once, possibly between two commands.
//
// Thread-safety: as the store.
// Source: docs/systems/studio.md 1.1, 3.5 and 4.19.
#ifndef REDOUBLE_CORE_STUDIO_INGEST_LOOPS_H_
#define REDOUBLE_CORE_STUDIO_INGEST_LOOPS_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/base/time/clock.h"
#include "redouble/core/studio/health/health_service.h"
#include "redouble/core/studio/ingest/ingest_service.h"
#include "redouble/core/studio/search/search_index.h"

namespace redouble::inline v0_1::studio {

inline constexpr absl::Duration kDefaultRetentionInterval = absl::Seconds(60);
inline constexpr absl::Duration kDefaultHealthInterval = absl::Seconds(60);
inline constexpr absl::Duration kDefaultPullSyncInterval = absl::Seconds(5);

// Prunes the search index.
class RetentionLoop {
 public:
  // All must outlive this. Without an interval Run returns OK at once. The same holds for the loops
  // below.
  RetentionLoop(SearchIndex& index, base::Clock& clock, std::optional<absl::Duration> interval)
      : index_(index), clock_(clock), interval_(interval) {}

  // Returns the error of a round.
  base::Task<absl::Status> Run();
  // The number of documents that all rounds have removed.
  int64_t removed() const { return removed_; }

 private:
  SearchIndex& index_;
  base::Clock& clock_;
  const std::optional<absl::Duration> interval_;
  int64_t removed_ = 0;
};

// Refreshes the health of all services.
class HealthLoop {
 public:
  HealthLoop(HealthService& health, base::Clock& clock, std::optional<absl::Duration> interval)
      : health_(health), clock_(clock), interval_(interval) {}

  // Returns the error of a round. A service that fails is not an error of the round.
  base::Task<absl::Status> Run();

 private:
  HealthService& health_;
  base::Clock& clock_;
  const std::optional<absl::Duration> interval_;
};

// Pulls the feeds of all services.
class PullSyncLoop {
 public:
  PullSyncLoop(PullSync& sync, base::Clock& clock, std::optional<absl::Duration> interval)
      : sync_(sync), clock_(clock), interval_(interval) {}

  // Does not return while it has an interval; errors of a round are counted.
  base::Task<absl::Status> Run();
  // The number of rounds that failed before they reached the services, and the error of the last
  // one.
  int64_t failed_rounds() const { return failed_rounds_; }
  const absl::Status& last_error() const { return last_error_; }

 private:
  PullSync& sync_;
  base::Clock& clock_;
  const std::optional<absl::Duration> interval_;
  int64_t failed_rounds_ = 0;
  absl::Status last_error_;
};

}  // namespace redouble::inline v0_1::studio

#endif  // REDOUBLE_CORE_STUDIO_INGEST_LOOPS_H_
