// The operations of studio::Studio, which owns all parts.

#include <memory>
#include <string>
#include <utility>

#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/studio/app/settings.h"
#include "redouble/core/studio/app/studio.h"
#include "redouble/sim/operations/studio/studio_parts.h"
#include "redouble/sim/operations/studio/studio_perform.h"

namespace redouble::inline v0_1::scenarios {
namespace {

using sim::ArgumentReader;
using studio::Studio;

studio::StudioSettings ReadSettings(ArgumentReader& reader) {
  studio::StudioSettings settings;
  settings.hardening = ReadStudioHardening(reader);
  const studio::EventStoreOptions events = ReadEventOptions(reader, settings.hardening);
  settings.event_store_prefix = events.prefix;
  settings.event_store_ttl_seconds = events.ttl_seconds;
  settings.event_history_maxlen = events.history_maxlen;
  settings.task_index_ttl_seconds = ReadIndexOptions(reader).task_ttl_seconds;
  if (!reader.BoolOr("search", true)) reader.Refuse("search", "studio::Studio has a search index");
  return settings;
}

// A Studio whose services answer with arguments.
class ScriptedStudio {
 public:
  ScriptedStudio(sim::OperationContext context, ArgumentReader& reader)
      : clock_(reader.TimeOr("now", context.clock.Now())),
        capabilities_(reader),
        workers_(reader),
        feed_(reader),
        studio_(Studio::Create(context.store, clock_, {capabilities_, workers_, feed_},
                               ReadSettings(reader))
                    .value()) {}

  Studio& studio() { return *studio_; }

 private:
  FixedClock clock_;
  ScriptedCapabilities capabilities_;
  ScriptedWorkers workers_;
  ScriptedFeed feed_;
  std::unique_ptr<Studio> studio_;
};

// `kRun` is an operation on a service.
template <auto kRun>
OperationTask OnService(sim::OperationContext context, const sim::Json& arguments) {
  ArgumentReader reader(arguments);
  ScriptedStudio scripted(context, reader);
  const std::string service_id = ReadServiceId(reader);
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());
  co_return ModelOr(co_await (scripted.studio().*kRun)(service_id));
}

OperationTask ListWithHealth(sim::OperationContext context, const sim::Json& arguments) {
  ArgumentReader reader(arguments);
  ScriptedStudio scripted(context, reader);
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());
  co_return ModelsOr(co_await scripted.studio().ListServices());
}

}  // namespace

void AddFacadeOperations(sim::OperationTable& table) {
  table.Add("studio.get_service", OnService<&Studio::GetService>);
  table.Add("studio.list_services", ListWithHealth);
  table.Add("studio.refresh_service", OnService<&Studio::RefreshService>);
}

}  // namespace redouble::inline v0_1::scenarios
