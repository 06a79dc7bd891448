// The loops that run beside Studio's API: retention, health and pull sync.
//
// Each does its round at once and then again after its interval. What goes wrong in a round is
// treated as the documented system does: the loops of retention and of health are unprotected, so
// that their first error ends them for good (L1); the loop of pull sync goes on.
//
//   studio::RetentionLoop retention(index, clock, absl::Seconds(60));
//   const absl::Status ended = co_await retention.Run();   // only ever an error, or no interval
//
// Destroying the task stops a loop where it stands, which can be between two commands.
//
// Thread-safety: as the Store.
// Source: reference/relayna.md sections 7 to 10.
#ifndef REDOUBLE_CORE_STUDIO_LOOPS_H_
#define REDOUBLE_CORE_STUDIO_LOOPS_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "core/base/clock.h"
#include "core/base/task.h"
#include "core/studio/health_service.h"
#include "core/studio/ingest_service.h"
#include "core/studio/search_index.h"

namespace redouble::studio {

inline constexpr absl::Duration kDefaultRetentionInterval = absl::Seconds(60);
inline constexpr absl::Duration kDefaultHealthInterval = absl::Seconds(60);
inline constexpr absl::Duration kDefaultPullSyncInterval = absl::Seconds(5);

// Prunes the search index.
class RetentionLoop {
 public:
  // All must outlive this. Without an interval the loop is switched off: Run ends at once.
  RetentionLoop(SearchIndex& index, base::Clock& clock, std::optional<absl::Duration> interval)
      : index_(index), clock_(clock), interval_(interval) {}

  // Ends with the error of a round.
  base::Task<absl::Status> Run();
  // How many documents all rounds have removed.
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

  // Ends with the error of a round; a service that fails is no error of the round.
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

  // Never ends by itself, whatever its rounds meet.
  base::Task<absl::Status> Run();
  // How many rounds did not get as far as their services, and the last one's error.
  int64_t failed_rounds() const { return failed_rounds_; }
  const absl::Status& last_error() const { return last_error_; }

 private:
  PullSync& sync_;
  base::Clock& clock_;
  const std::optional<absl::Duration> interval_;
  int64_t failed_rounds_ = 0;
  absl::Status last_error_;
};

}  // namespace redouble::studio

#endif  // REDOUBLE_CORE_STUDIO_LOOPS_H_
