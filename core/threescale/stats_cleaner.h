// StatsCleaner: deletes the usage counters of services that are gone.
//
// A service is marked, and later everything in the database is scanned for counters of marked
// services. What a counter belongs to is read out of its key, which ids with slashes or colons
// spoil: a counter whose key cannot be read is never deleted, and one with a segment of more than
// one colon stops the cleaning, so that the service stays marked and no other is cleaned either.
// Counters that are written behind the scan survive.
//
//   StatsCleaner cleaner(process);
//   co_await cleaner.Mark("2");
//   absl::Status cleaned = co_await cleaner.DeleteMarked();
//
// Never deleted: the set of applications with traffic (any key that holds "cinstances"), daily
// traffic, alerts, events.
//
// Errors of every operation: those of the store. Thread-safety: as Store.
// Source: reference/threescale.md 6.
#ifndef REDOUBLE_CORE_THREESCALE_STATS_CLEANER_H_
#define REDOUBLE_CORE_THREESCALE_STATS_CLEANER_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/base/clock.h"
#include "core/base/task.h"
#include "core/store/store.h"

namespace redouble::threescale {

// The service of a counter's key; none when it is no counter's, or cannot be read. Errors:
// InvalidArgument when a segment has more than one colon, or nothing at all.
absl::StatusOr<std::optional<std::string>> ServiceOfCounter(std::string_view key);

struct StatsCleanerOptions {
  // Between one page of the scan and the next.
  absl::Duration pause = absl::Milliseconds(10);
};

class StatsCleaner {
 public:
  // How many keys a page of the scan is asked for.
  static constexpr int64_t kPageSize = 500;
  // How often a page is tried before the cleaning is given up.
  static constexpr int kTries = 3;

  // Both must outlive this; `clock` is slept on.
  StatsCleaner(store::Store& store, base::Clock& clock,
               StatsCleanerOptions options = StatsCleanerOptions())
      : store_(store), clock_(clock), options_(options) {}

  // Marks a service. True when it was not marked. One round trip.
  base::Task<absl::StatusOr<bool>> Mark(std::string_view service_id);

  // Deletes the counters of the marked services, and their marks when all of the scan went well.
  // Errors also: InvalidArgument, as ServiceOfCounter. Round trips: one per page of marks, two per
  // page of keys, two more.
  base::Task<absl::Status> DeleteMarked();

  // Deletes the counters of any service whose value is exactly "0"; how many. Two round trips per
  // page, three when there is something to delete.
  base::Task<absl::StatusOr<int64_t>> DeleteZeros();

 private:
  // What happens with the keys of a page: gives how many were deleted.
  using Visit =
      std::function<base::Task<absl::StatusOr<int64_t>>(const std::vector<std::string>& keys)>;

  base::Task<absl::StatusOr<std::vector<std::string>>> ReadMarks();
  base::Task<absl::StatusOr<int64_t>> VisitAll(const Visit& visit);
  base::Task<absl::StatusOr<int64_t>> VisitPage(std::string& cursor, const Visit& visit);
  base::Task<absl::StatusOr<int64_t>> DeleteAll(const std::vector<std::string>& keys);
  base::Task<absl::StatusOr<int64_t>> DeleteOf(const std::vector<std::string>& services,
                                               const std::vector<std::string>& keys);
  base::Task<absl::StatusOr<int64_t>> DeleteZerosOf(const std::vector<std::string>& keys);

  store::Store& store_;
  base::Clock& clock_;
  StatsCleanerOptions options_;
};

}  // namespace redouble::threescale

#endif  // REDOUBLE_CORE_THREESCALE_STATS_CLEANER_H_
