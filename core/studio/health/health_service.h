// HealthStore and HealthService: the health documents in Redis, and the operations that read and
// refresh them.
//
// A web route calls GetHealth or RefreshHealth for one service. HealthLoop (ingest/loops.h) calls
// RefreshAll.
//
//   studio::HealthStore documents(store);
//   studio::HealthService health({registry, events, documents, workers, &index});
//   absl::StatusOr<HealthDocument> document = co_await health.GetHealth("svc-a", clock.Now());
//   document = co_await health.RefreshHealth("svc-a", clock.Now());
//
// Thread-safety: as the store. Arguments must outlive the task.
// Source: docs/systems/studio.md 4.11 and 4.12.
#ifndef REDOUBLE_CORE_STUDIO_HEALTH_HEALTH_SERVICE_H_
#define REDOUBLE_CORE_STUDIO_HEALTH_HEALTH_SERVICE_H_

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/store/store.h"
#include "redouble/core/studio/events/event_store.h"
#include "redouble/core/studio/hardening.h"
#include "redouble/core/studio/health/health_document.h"
#include "redouble/core/studio/keys.h"
#include "redouble/core/studio/registry/registry.h"

namespace redouble::inline v0_1::studio {

struct HealthStoreOptions {
  // A blank prefix means the default.
  std::string prefix = std::string(kDefaultHealthPrefix);
  Hardening hardening = {};
  // Of the registry, for registered_services_only.
  std::string registry_prefix = std::string(kDefaultRegistryPrefix);
  // In the cluster layout the keys are the documented ones, and registered_services_only is without
  // effect.
  store::KeyLayout key_layout = store::KeyLayout::kDocumented;
};

// The health documents, one per service. They have no TTL, and no operation deletes them.
class HealthStore {
 public:
  // `store` must outlive this.
  explicit HealthStore(store::Store& store, const HealthStoreOptions& options = {});

  // Returns nullopt if the document is missing or invalid. One round trip.
  base::Task<absl::StatusOr<std::optional<HealthDocument>>> GetHealth(std::string_view service_id);
  // Replaces the document. One round trip. With registered_services_only one script, and NotFound
  // (ServiceNotFoundError) if there is no such service.
  base::Task<absl::Status> SetHealth(std::string_view service_id, const HealthDocument& document);

 private:
  store::Store& store_;
  const HealthKeys keys_;
  const RegistryKeys registry_keys_;
  const bool registered_services_only_;
};

// Fetches worker reports. Applications implement it with HTTP. HealthService checks the URL against
// the outbound policy before each call.
class WorkerHealthFetcher {
 public:
  virtual ~WorkerHealthFetcher() = default;
  // The body of GET base_url/relayna/health/workers. Any error means that there is no report; its
  // message is stored as the reason.
  virtual base::Task<absl::StatusOr<std::string>> Fetch(std::string_view base_url) = 0;
};

// The parts of a health service, which must outlive it.
struct HealthParts {
  Registry& registry;
  EventStore& events;
  HealthStore& documents;
  WorkerHealthFetcher& workers;
  ServiceIndexer* indexer = nullptr;  // nullptr: the search documents are not updated.
  HealthLimits limits = {};
};

// The outcome of one round.
struct HealthRound {
  std::vector<std::string> refreshed;
  std::vector<std::pair<std::string, absl::Status>> failed;
};

struct HealthRefreshOptions {
  // The service has just answered with its capabilities, and the registry has stored them
  // (Registry::RefreshService). It is reachable, and is not asked for them again.
  bool use_cached_capabilities = false;
};

class HealthService {
 public:
  explicit HealthService(HealthParts parts) : parts_(std::move(parts)) {}

  // Returns the document with its states computed for `now`, and writes nothing. Three round trips:
  // GET of the record, of the health document and of three latest timestamps. Errors: NotFound
  // (ServiceNotFoundError); those of Redis.
  base::Task<absl::StatusOr<HealthDocument>> GetHealth(std::string_view service_id, absl::Time now);

  // Fetches the capabilities and the worker report of a service, and writes the health document,
  // the capabilities in the registry record (its status stays) and the search document. A service
  // that does not answer, or that the outbound policy refuses, is unreachable. A service that was
  // deleted meanwhile counts as unreachable too, and its health document is written again (H1);
  // with registered_services_only nothing is written, and the error is NotFound. A disabled service
  // is not called. Four round trips and those of a refresh, then the search index twice. With
  // use_cached_capabilities four round trips, then the search index once.
  //
  // Errors: as GetHealth, and those of the indexer.
  // Source: docs/systems/studio.md 4.12.
  base::Task<absl::StatusOr<HealthDocument>> RefreshHealth(std::string_view service_id,
                                                           absl::Time now,
                                                           HealthRefreshOptions options = {});

  // Refreshes all services, one after the other. Of a disabled service, only the health document is
  // written with the states of `now`: no check time, and no search document. A service that fails
  // is reported, and the round goes on. Errors: those of listing the services and of a disabled
  // service, which end the round and, in the original, its loop (L1). Round trips of a disabled
  // service: those of GetHealth, and one.
  base::Task<absl::StatusOr<HealthRound>> RefreshAll(absl::Time now);

 private:
  base::Task<void> RefreshCapabilities(ServiceFacts& facts, HealthDocument& document,
                                       absl::Time now);
  base::Task<void> RefreshWorkers(const ServiceFacts& facts, HealthDocument& document);
  base::Task<absl::StatusOr<std::string>> FetchWorkers(const ServiceRecord& service);
  // Writes the health document with the states of `now`, and nothing else.
  base::Task<absl::Status> StoreHealth(std::string_view service_id, absl::Time now);
  base::Task<absl::StatusOr<HealthDocument>> Write(const ServiceFacts& facts,
                                                   HealthDocument document, absl::Time now);

  const HealthParts parts_;
};

}  // namespace redouble::inline v0_1::studio

#endif  // REDOUBLE_CORE_STUDIO_HEALTH_HEALTH_SERVICE_H_
