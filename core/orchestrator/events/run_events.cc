#include "redouble/core/orchestrator/events/run_events.h"

#include <string>

#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/orchestrator/keys.h"
#include "redouble/core/store/pubsub/pubsub.h"

namespace redouble::inline v0_1::orchestrator {

base::Task<absl::StatusOr<int64_t>> PublishRunEvent(store::Store& store, Event event) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string channel, Keys().EventChannel(event.run_id));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string message, FormatEvent(event));
  co_return co_await store::Publish(store, channel, message);
}

}  // namespace redouble::inline v0_1::orchestrator
