// RunEventFeed: hears the events of one run, or of all runs.
//
//   class Screen final : public RunEventListener {
//     void OnEvent(const Event& event) override { ... }
//     void OnGap() override { ... }   // read the run's keys again
//   };
//   RunEventFeed feed(source, screen);
//   co_await feed.FollowAll();
//
// Events are hints: what was published while nobody listened is lost, and one that cannot be read
// is counted and passed over. A feed follows single runs or all runs, never both: it would hear
// each event twice.
//
// Thread-safety: as MessageSource.
// Source: seed 001 "Real-Time Events"; reference/orchestrator.md sections 2.6 and 10 (hazard 24).
#ifndef REDOUBLE_CORE_ORCHESTRATOR_RUN_EVENT_FEED_H_
#define REDOUBLE_CORE_ORCHESTRATOR_RUN_EVENT_FEED_H_

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "core/base/task.h"
#include "core/orchestrator/messages.h"
#include "core/store/message_source.h"

namespace redouble::orchestrator {

class RunEventListener {
 public:
  virtual ~RunEventListener() = default;

  // One event; its run is named even when the message names only the node.
  virtual void OnEvent(const Event& event) = 0;
  // Events in between are missing: the connection was lost.
  virtual void OnGap() {}
};

class RunEventFeed final : private store::PushListener {
 public:
  // Takes over the source's pushes until it ends. Both must outlive the feed.
  RunEventFeed(store::MessageSource& source, RunEventListener& listener);
  ~RunEventFeed() override;
  RunEventFeed(const RunEventFeed&) = delete;
  RunEventFeed& operator=(const RunEventFeed&) = delete;

  // SUBSCRIBE to a run, beside those followed before. Errors: InvalidArgument for an id that is
  // none, FailedPrecondition when all runs are followed, and those of the store.
  base::Task<absl::Status> FollowRun(std::string_view run_id);
  // PSUBSCRIBE to all runs. Errors: FailedPrecondition when single runs are followed, and those of
  // the store.
  base::Task<absl::Status> FollowAll();
  // Ends all subscriptions; the feed can follow others then.
  base::Task<absl::Status> Stop();

  // Messages that were no events.
  int64_t unreadable() const { return unreadable_; }

 private:
  void OnPush(const store::Reply& push) override;
  void OnGap() override { listener_.OnGap(); }

  enum class Following { kNothing, kRuns, kAll };

  store::MessageSource& source_;
  RunEventListener& listener_;
  Following following_ = Following::kNothing;
  int64_t unreadable_ = 0;
};

}  // namespace redouble::orchestrator

#endif  // REDOUBLE_CORE_ORCHESTRATOR_RUN_EVENT_FEED_H_
