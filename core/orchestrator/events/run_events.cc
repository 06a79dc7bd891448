#include "redouble/core/orchestrator/events/run_events.h"

#include <string>
#include <utility>

#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/orchestrator/keys.h"
#include "redouble/core/store/pubsub/pubsub.h"

namespace redouble::inline v0_1::orchestrator {

absl::StatusOr<store::PublishedChannels> RunChannels(std::string_view run_id,
                                                     store::ChannelKind kind) {
  REDOUBLE_ASSIGN_OR_RETURN(std::string documented, Keys().EventChannel(run_id));
  REDOUBLE_ASSIGN_OR_RETURN(std::string sharded, Keys().EventShardChannel(run_id));
  return store::PublishedChannels(kind, std::move(documented), std::move(sharded));
}

base::Task<absl::StatusOr<int64_t>> PublishRunEvent(store::Store& store, Event event,
                                                    store::ChannelKind kind) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const store::PublishedChannels channels,
                               RunChannels(event.run_id, kind));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string message, FormatEvent(event));
  int64_t receivers = 0;
  if (!channels.documented.empty()) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(receivers,
                                 co_await store::Publish(store, channels.documented, message));
  }
  if (!channels.sharded.empty()) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(const int64_t of_shard,
                                 co_await store::SPublish(store, channels.sharded, message));
    receivers += of_shard;
  }
  co_return receivers;
}

}  // namespace redouble::inline v0_1::orchestrator
