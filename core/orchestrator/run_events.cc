#include "core/orchestrator/run_events.h"

#include <string>

#include "core/orchestrator/keys.h"
#include "core/store/pubsub.h"

namespace redouble::orchestrator {

base::Task<absl::StatusOr<int64_t>> PublishRunEvent(store::Store& store, Event event) {
  const absl::StatusOr<std::string> channel = Keys().EventChannel(event.run_id);
  if (!channel.ok()) co_return channel.status();
  const absl::StatusOr<std::string> message = FormatEvent(event);
  if (!message.ok()) co_return message.status();
  co_return co_await store::Publish(store, *channel, *message);
}

}  // namespace redouble::orchestrator
