// RunEventFeed: receives the events of single runs, or of all runs.
//
//   class Screen final : public RunEventListener {
//     void OnEvent(const Event& event) override { ... }
//     void OnGap() override { ... }   // Read the keys of the run again.
//   };
//   RunEventFeed feed(source, screen);
//   const absl::Status followed = co_await feed.FollowAll();
//
// Events are hints: an event that is published while no client subscribes is lost. A message that
// cannot be parsed is counted and skipped. A feed follows single runs or all runs, but not both,
// because it would receive each event twice.
//
// Thread-safety: as MessageSource.
// Source: docs/systems/orchestrator.md 2.6, 4.16 and hazard H24.
#ifndef REDOUBLE_CORE_ORCHESTRATOR_EVENTS_RUN_EVENT_FEED_H_
#define REDOUBLE_CORE_ORCHESTRATOR_EVENTS_RUN_EVENT_FEED_H_

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/orchestrator/messages.h"
#include "redouble/core/store/message_source.h"
#include "redouble/core/store/pubsub/channel.h"

namespace redouble::inline v0_1::orchestrator {

class RunEventListener {
 public:
  virtual ~RunEventListener() = default;

  // One event. Its run id is set even if the message names only the node.
  virtual void OnEvent(const Event& event) = 0;
  // The connection was lost, so events may be missing.
  virtual void OnGap() {}
};

class RunEventFeed final : private store::PushListener {
 public:
  // Receives the pushes of the source until the feed is destroyed. Both must outlive the feed.
  // `channels` must be the option of the coordinators (CoordinatorOptions::channels). With shard
  // channels, FollowRun uses them, and on a cluster the source must follow slots.
  RunEventFeed(store::MessageSource& source, RunEventListener& listener,
               store::ChannelKind channels = store::ChannelKind::kDocumented);
  ~RunEventFeed() override;
  RunEventFeed(const RunEventFeed&) = delete;
  RunEventFeed& operator=(const RunEventFeed&) = delete;

  // Subscribes to one more run (SUBSCRIBE or SSUBSCRIBE, one round trip). Errors: InvalidArgument
  // for an invalid id, FailedPrecondition if the feed follows all runs, and those of the store.
  base::Task<absl::Status> FollowRun(std::string_view run_id);
  // Subscribes to all runs (PSUBSCRIBE, one round trip). Errors: FailedPrecondition if the feed
  // follows single runs, or if events are published on shard channels only, which no pattern
  // matches; and those of the store.
  base::Task<absl::Status> FollowAll();
  // Ends all subscriptions. The feed can then follow other runs. Errors: those of the store.
  base::Task<absl::Status> Stop();

  // The number of messages that were not events.
  int64_t unreadable() const { return unreadable_; }

 private:
  void OnPush(const store::Reply& push) override;
  void OnGap() override { listener_.OnGap(); }

  enum class Following { kNothing, kRuns, kAll };

  store::MessageSource& source_;
  RunEventListener& listener_;
  const store::ChannelKind channels_;
  Following following_ = Following::kNothing;
  int64_t unreadable_ = 0;
};

}  // namespace redouble::inline v0_1::orchestrator

#endif  // REDOUBLE_CORE_ORCHESTRATOR_EVENTS_RUN_EVENT_FEED_H_
