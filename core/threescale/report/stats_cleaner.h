// StatsCleaner: deletes the usage counters of deleted services.
//
// A service is marked first. A later scan of the whole database finds the counters of marked
// services. The owner of a counter is parsed from its key, so ids with slashes, quotes or colons
// cause problems: a counter with an unreadable key is never deleted, and a segment with more than
// one colon stops the operation, so that all marks remain. Counters that are written after the scan
// has passed survive (H19).
//
//   StatsCleaner cleaner(process);
//   co_await cleaner.Mark("2");
//   absl::Status cleaned = co_await cleaner.DeleteMarked();
//
// Never deleted: the set of applications with traffic (any key that contains "cinstances"), daily
// traffic, alerts and events.
//
// The keys can be on several servers, which are scanned one after the other. If the connection to a
// server is lost, the next one is scanned all the same; the operation then returns the first such
// error, and the marks stay for the next run.
//
// Errors of every operation: those of Redis.
//
// Thread-safety: as Store.
// Source: docs/systems/threescale.md 4.23, H19.
#ifndef REDOUBLE_CORE_THREESCALE_REPORT_STATS_CLEANER_H_
#define REDOUBLE_CORE_THREESCALE_REPORT_STATS_CLEANER_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/base/time/clock.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/reply.h"
#include "redouble/core/store/store.h"
#include "redouble/core/threescale/keys.h"

namespace redouble::inline v0_1::threescale {

// Returns the service of a counter's key, or nullopt for another or an unreadable key. Errors:
// InvalidArgument for a segment that is empty or has more than one colon, and for a period whose
// time is missing or has no day.
absl::StatusOr<std::optional<std::string>> ServiceOfCounter(std::string_view key);

struct StatsCleanerOptions {
  // The pause between two pages of a scan.
  absl::Duration pause = absl::Milliseconds(10);
  // The servers with the keys, not null, reached without a proxy. Empty: the store of the marks.
  std::vector<store::Store*> servers = {};
  // In the cluster layout a page is read and deleted by a pipeline of one command for each key.
  Keys keys = Keys();
  // Receives a line for each deleted key: "KEY VALUE" before DeleteMarked deletes it, which costs
  // an MGET per page and can repeat if the page is tried again; "KEY" after DeleteZeros deleted it.
  std::function<void(std::string_view line)> log = {};
};

class StatsCleaner {
 public:
  // The COUNT of SCAN and SSCAN.
  static constexpr int64_t kPageSize = 500;
  // The number of attempts per page.
  static constexpr int kTries = 3;

  // `store` has the marks. It, `clock` and the servers must outlive the object. The operations
  // sleep on `clock`.
  StatsCleaner(store::Store& store, base::Clock& clock,
               StatsCleanerOptions options = StatsCleanerOptions());

  // Marks a service, and returns whether it was not marked before. One round trip.
  base::Task<absl::StatusOr<bool>> Mark(std::string_view service_id);

  // Deletes the counters of the marked services, and then their marks if the whole scan of all
  // servers succeeded. Errors also: InvalidArgument, as ServiceOfCounter, which ends the operation.
  // Round trips: one per page of marks, up to two per page of keys (three with a log), one per
  // server, and one for the marks.
  base::Task<absl::Status> DeleteMarked();

  // Deletes counters of all services whose value is exactly "0", and returns their number. Two
  // round trips per page with counters, three if it has keys to delete.
  base::Task<absl::StatusOr<int64_t>> DeleteZeros();

 private:
  using Names = std::vector<std::string>;
  // Handles the keys of a page of a server, and returns how many were deleted.
  using Visit =
      std::function<base::Task<absl::StatusOr<int64_t>>(store::Store& server, const Names& keys)>;

  base::Task<absl::StatusOr<std::vector<std::string>>> ReadMarks();
  base::Task<absl::Status> DeleteMarks(const std::vector<std::string>& services);
  // Visits all servers, after a SCAN of one key if `probe` is set.
  base::Task<absl::StatusOr<int64_t>> VisitServers(bool probe, const Visit& visit);
  base::Task<absl::StatusOr<int64_t>> VisitServer(store::Store& server, bool probe,
                                                  const Visit& visit);
  base::Task<absl::StatusOr<int64_t>> VisitPage(store::Store& server, std::string& cursor,
                                                const Visit& visit);
  base::Task<absl::StatusOr<int64_t>> DeleteOf(const std::vector<std::string>& services,
                                               store::Store& server, const Names& keys);
  base::Task<absl::StatusOr<int64_t>> DeleteZerosOf(store::Store& server, const Names& keys);

  // Read or delete the keys of one page, in one round trip.
  base::Task<absl::StatusOr<std::vector<store::Reply>>> SendEach(
      store::Store& server, store::CommandId command, std::span<const std::string_view> keys);
  base::Task<absl::StatusOr<std::vector<std::optional<std::string>>>> ReadAll(
      store::Store& server, std::span<const std::string_view> keys);
  base::Task<absl::StatusOr<int64_t>> DeleteAll(store::Store& server,
                                                std::span<const std::string_view> keys);

  store::Store& store_;
  base::Clock& clock_;
  StatsCleanerOptions options_;
};

}  // namespace redouble::inline v0_1::threescale

#endif  // REDOUBLE_CORE_THREESCALE_REPORT_STATS_CLEANER_H_
