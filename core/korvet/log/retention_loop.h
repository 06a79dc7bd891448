// RetentionLoop: trims the logs of all topics by their retention, in rounds.
//
// An append trims only the partition to which it writes. A topic without writes keeps its expired
// records until some program sweeps it; run this loop in one program, beside the server.
//
//   RetentionLoop loop(store, clock, keys, absl::Minutes(5));
//   absl::StatusOr<RetentionRound> round = co_await loop.RunOnce();
//   const absl::Status ended = co_await loop.Run();   // Returns only an error.
//
// In the cluster layout a round also writes the topics' copies that are missing or old, so that no
// partition is trimmed by old options for longer than an interval after a crash.
//
// A round that is interrupted by a crash, or runs in two programs at once, has only removed what
// the next one would remove.
//
// Thread-safety: as Store.
// Source: docs/systems/korvet.md 4.10, H5.
#ifndef REDOUBLE_CORE_KORVET_LOG_RETENTION_LOOP_H_
#define REDOUBLE_CORE_KORVET_LOG_RETENTION_LOOP_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/base/time/clock.h"
#include "redouble/core/korvet/keys.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::korvet {

// Kafka's log.retention.check.interval.ms.
inline constexpr absl::Duration kDefaultRetentionInterval = absl::Minutes(5);

struct RetentionRound {
  int64_t topics = 0;   // Those that were swept.
  int64_t removed = 0;  // Records.
  // The topics that could not be swept, with the reason. A topic that is deleted meanwhile is not
  // among them.
  std::map<std::string, absl::Status> failed;

  friend bool operator==(const RetentionRound&, const RetentionRound&) = default;
};

class RetentionLoop {
 public:
  // `store` and `clock` must outlive the object. Without an interval Run returns OK at once.
  RetentionLoop(store::Store& store, base::Clock& clock, Keys keys,
                std::optional<absl::Duration> interval = kDefaultRetentionInterval)
      : store_(store), clock_(clock), keys_(std::move(keys)), interval_(interval) {}

  // Sweeps all topics. SMEMBERS, and for each topic HGETALL and Log::Sweep. Errors: those of Redis
  // for SMEMBERS. An error of one topic does not stop the round.
  base::Task<absl::StatusOr<RetentionRound>> RunOnce();

  // Runs a round at once, and again after each interval. Returns the error of a round.
  base::Task<absl::Status> Run();

  // The sums of all rounds of Run.
  const RetentionRound& total() const { return total_; }

 private:
  store::Store& store_;
  base::Clock& clock_;
  const Keys keys_;
  const std::optional<absl::Duration> interval_;
  RetentionRound total_;
};

}  // namespace redouble::inline v0_1::korvet

#endif  // REDOUBLE_CORE_KORVET_LOG_RETENTION_LOOP_H_
