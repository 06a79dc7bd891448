// Studio: all parts of one Studio backend, built from its settings.
//
// Use it in a program that runs Studio; tests of one part can build that part alone. The program
// brings the store, the clock and the HTTP client; a test uses the memory engine and fakes.
//
//   absl::StatusOr<std::unique_ptr<Studio>> studio = Studio::Create(store, clock, http, settings);
//   absl::Status started = co_await (*studio)->Start();
//   absl::StatusOr<ServiceRecord> record = co_await (*studio)->registry().CreateService(request);
//   // Beside the server, each until the program ends:
//   co_await (*studio)->retention_loop().Run();
//
// The parts share one store. Studio sends no blocking command.
//
// Thread-safety: as the store.
// Source: docs/systems/studio.md 1.1, 3.5.
#ifndef REDOUBLE_CORE_STUDIO_APP_STUDIO_H_
#define REDOUBLE_CORE_STUDIO_APP_STUDIO_H_

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/base/time/clock.h"
#include "redouble/core/store/store.h"
#include "redouble/core/studio/app/settings.h"
#include "redouble/core/studio/events/event_store.h"
#include "redouble/core/studio/health/health_service.h"
#include "redouble/core/studio/ingest/ingest_service.h"
#include "redouble/core/studio/ingest/loops.h"
#include "redouble/core/studio/registry/registry.h"
#include "redouble/core/studio/search/search_index.h"

namespace redouble::inline v0_1::studio {

// The HTTP calls to services. They must outlive the Studio.
struct StudioHttp {
  CapabilityFetcher& capabilities;
  WorkerHealthFetcher& workers;
  FeedSource& feed;
};

class Studio {
 public:
  // `store` and `clock` must outlive the object. Sends nothing. Errors: InvalidArgument
  // (ValueError) for an outbound policy that is not valid.
  static absl::StatusOr<std::unique_ptr<Studio>> Create(store::Store& store, base::Clock& clock,
                                                        StudioHttp http,
                                                        const StudioSettings& settings = {});
  Studio(const Studio&) = delete;
  Studio& operator=(const Studio&) = delete;

  // Builds the search index from the registry and the events if it is empty. To be awaited once,
  // before the loops. Errors: those of SearchIndex::Initialize.
  base::Task<absl::Status> Start();

  // Ingests events that a service pushed. Errors: PermissionDenied (HTTP 403) before any I/O unless
  // push_ingest_enabled is set; those of IngestService::IngestEvents.
  base::Task<absl::StatusOr<IngestReport>> Push(std::span<const EventEnvelope> envelopes);

  // Return the record of a service, or all records in the order of RegistryStore::List, with the
  // member `health` set to the health document of now. Errors and round trips: those of Registry,
  // and of HealthService::GetHealth for each service.
  base::Task<absl::StatusOr<ServiceRecord>> GetService(std::string_view service_id);
  base::Task<absl::StatusOr<std::vector<ServiceRecord>>> ListServices();

  // Fetches the capabilities of a service, refreshes its health with them, and returns the record
  // with its health. The service is asked for its capabilities once. Errors and round trips: those
  // of Registry::RefreshService, after whose errors nothing is written, of
  // HealthService::RefreshHealth with use_cached_capabilities, and of HealthService::GetHealth.
  base::Task<absl::StatusOr<ServiceRecord>> RefreshService(std::string_view service_id);

  Registry& registry() { return registry_; }
  EventStore& events() { return events_; }
  IngestService& ingest() { return ingest_; }
  PullSync& pull_sync() { return pull_sync_; }
  HealthService& health() { return health_; }
  SearchIndex& search() { return search_; }

  // The loops, with the intervals of the settings. A loop that is off returns OK at once.
  RetentionLoop& retention_loop() { return retention_loop_; }
  HealthLoop& health_loop() { return health_loop_; }
  PullSyncLoop& pull_sync_loop() { return pull_sync_loop_; }

 private:
  base::Task<absl::StatusOr<ServiceRecord>> WithHealth(ServiceRecord record);

  Studio(store::Store& store, base::Clock& clock, StudioHttp http, const StudioSettings& settings,
         OutboundPolicy policy);

  base::Clock& clock_;
  const bool push_ingest_enabled_;
  RegistryStore records_;
  SearchStore documents_;
  SearchIndex search_;
  Registry registry_;
  EventStore events_;
  IngestService ingest_;
  PullSync pull_sync_;
  HealthStore health_documents_;
  HealthService health_;
  RetentionLoop retention_loop_;
  HealthLoop health_loop_;
  PullSyncLoop pull_sync_loop_;
};

}  // namespace redouble::inline v0_1::studio

#endif  // REDOUBLE_CORE_STUDIO_APP_STUDIO_H_
