#include "redouble/core/korvet/log/retention_loop.h"

#include <algorithm>
#include <vector>

#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/korvet/errors.h"
#include "redouble/core/korvet/log/log.h"
#include "redouble/core/korvet/topics/topic_steps.h"
#include "redouble/core/korvet/topics/topics.h"
#include "redouble/core/store/typed/sets.h"

namespace redouble::inline v0_1::korvet {
namespace {

// Returns the number of removed records, or nullopt if the topic is gone.
base::Task<absl::StatusOr<std::optional<int64_t>>> SweepTopic(store::Store& store,
                                                              base::Clock& clock, const Keys& keys,
                                                              const std::string& name) {
  absl::StatusOr<Topic> topic = co_await DescribeTopic(store, keys, name);
  if (ErrorCodeOf(topic.status()) == ErrorCode::kUnknownTopicOrPartition) co_return std::nullopt;
  REDOUBLE_CO_RETURN_IF_ERROR(topic.status());
  if (keys.in_cluster_layout()) {
    // After a crash or a failover, a copy can have older options; Sweep must not trim by them.
    TopicSteps steps(store, keys);
    REDOUBLE_CO_RETURN_IF_ERROR((co_await steps.RenewPartitions(*topic)).status());
  }
  Log log(store, clock, keys, *std::move(topic));
  const absl::StatusOr<int64_t> removed = co_await log.Sweep();
  const ErrorCode code = ErrorCodeOf(removed.status());
  // A topic that has taken the name is swept in the next round.
  if (code == ErrorCode::kUnknownTopicOrPartition || code == ErrorCode::kInconsistentTopicId) {
    co_return std::nullopt;
  }
  REDOUBLE_CO_RETURN_IF_ERROR(removed.status());
  co_return *removed;
}

}  // namespace

base::Task<absl::StatusOr<RetentionRound>> RetentionLoop::RunOnce() {
  REDOUBLE_CO_ASSIGN_OR_RETURN(std::vector<std::string> names,
                               co_await store::SMembers(store_, keys_.Topics()));
  std::sort(names.begin(), names.end());
  RetentionRound round;
  for (const std::string& name : names) {
    const auto removed = co_await SweepTopic(store_, clock_, keys_, name);
    if (!removed.ok()) {
      round.failed[name] = removed.status();
    } else if (*removed) {
      ++round.topics;
      round.removed += **removed;
    }
  }
  co_return round;
}

base::Task<absl::Status> RetentionLoop::Run() {
  while (interval_) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(const RetentionRound round, co_await RunOnce());
    total_.topics += round.topics;
    total_.removed += round.removed;
    total_.failed.insert(round.failed.begin(), round.failed.end());
    co_await clock_.Sleep(*interval_);
  }
  co_return absl::OkStatus();
}

}  // namespace redouble::inline v0_1::korvet
