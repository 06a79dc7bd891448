#include "redouble/core/orchestrator/events/run_event_feed.h"

#include <optional>
#include <string>
#include <utility>

#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/orchestrator/errors.h"
#include "redouble/core/orchestrator/events/run_events.h"
#include "redouble/core/orchestrator/keys.h"
#include "redouble/core/store/pubsub/pubsub.h"

namespace redouble::inline v0_1::orchestrator {

RunEventFeed::RunEventFeed(store::MessageSource& source, RunEventListener& listener,
                           store::ChannelKind channels)
    : source_(source), listener_(listener), channels_(channels) {
  source_.Listen(this);
}

RunEventFeed::~RunEventFeed() { source_.Listen(nullptr); }

base::Task<absl::Status> RunEventFeed::FollowRun(std::string_view run_id) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const store::PublishedChannels published,
                               RunChannels(run_id, channels_));
  if (following_ == Following::kAll) {
    co_return MakeError(ErrorCode::kFeedInUse, "it follows all runs already");
  }
  const Following before = std::exchange(following_, Following::kRuns);
  const store::Channel channel = published.followed();
  absl::Status subscribed = co_await store::SubscribeTo(source_, channel);
  if (!subscribed.ok()) following_ = before;
  co_return subscribed;
}

base::Task<absl::Status> RunEventFeed::FollowAll() {
  if (following_ == Following::kRuns) {
    co_return MakeError(ErrorCode::kFeedInUse, "it follows single runs already");
  }
  if (channels_ == store::ChannelKind::kSharded) {
    co_return MakeError(ErrorCode::kNoPatternOfShards,
                        "no pattern matches the shard channels of the runs");
  }
  const Following before = std::exchange(following_, Following::kAll);
  const std::string_view patterns[] = {kAllRunsPattern};
  absl::Status subscribed = co_await store::PSubscribe(source_, patterns);
  if (!subscribed.ok()) following_ = before;
  co_return subscribed;
}

base::Task<absl::Status> RunEventFeed::Stop() {
  const Following followed = following_;
  following_ = Following::kNothing;
  if (followed == Following::kRuns) {
    if (channels_ == store::ChannelKind::kDocumented) {
      co_return co_await store::Unsubscribe(source_);
    }
    co_return co_await store::SUnsubscribe(source_);
  }
  if (followed == Following::kAll) co_return co_await store::PUnsubscribe(source_);
  co_return absl::OkStatus();
}

void RunEventFeed::OnPush(const store::Reply& push) {
  const std::optional<store::Message> message = store::ReadMessage(push);
  if (!message) return;
  absl::StatusOr<Event> event = ParseEvent(message->payload);
  if (!event.ok()) {
    ++unreadable_;
    return;
  }
  if (event->run_id.empty()) {
    const std::optional<store::KeyMatch> match = Keys().Parse(message->channel);
    if (match && !match->values.empty()) event->run_id = std::string(match->values.front());
  }
  listener_.OnEvent(*event);
}

}  // namespace redouble::inline v0_1::orchestrator
