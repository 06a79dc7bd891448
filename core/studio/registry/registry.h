// Registry: the operations on services that Studio's API offers. It validates requests, checks URLs
// against the outbound policy, fetches capabilities, and updates the search index.
//
//   studio::RegistryStore records(store);
//   studio::Registry registry(records, {.policy = *OutboundPolicy::Create(), .fetcher = &fetcher});
//   absl::StatusOr<ServiceRecord> created = co_await registry.CreateService(request);
//   absl::StatusOr<ServiceRecord> refreshed = co_await registry.RefreshService("svc-a", now);
//
// A request is validated before any I/O, except for the status `healthy`. An operation that changes
// a record updates the search index afterwards, with its own commands: a crash between the two
// leaves an old search document.
//
// Thread-safety: as the store. Arguments must outlive the task.
// Source: docs/systems/studio.md 4.1 to 4.5.
#ifndef REDOUBLE_CORE_STUDIO_REGISTRY_REGISTRY_H_
#define REDOUBLE_CORE_STUDIO_REGISTRY_REGISTRY_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/python/value.h"
#include "redouble/core/studio/registry/capabilities.h"
#include "redouble/core/studio/registry/registry_store.h"
#include "redouble/core/studio/registry/service_record.h"
#include "redouble/core/studio/registry/url.h"

namespace redouble::inline v0_1::studio {

// The search index, as the registry and the health service see it.
class ServiceIndexer {
 public:
  virtual ~ServiceIndexer() = default;
  // Writes the search document of a service, and refreshes those of its tasks, from the record.
  // Without a health status the document keeps its own.
  virtual base::Task<absl::Status> UpsertServiceDocument(
      const ServiceRecord& service, std::optional<std::string> health_status) = 0;
  virtual base::Task<absl::Status> DeleteTaskDocumentsOfService(std::string_view service_id) = 0;
  virtual base::Task<absl::Status> DeleteServiceDocument(std::string_view service_id) = 0;
};

struct RegistryOptions {
  OutboundPolicy policy;
  // Both may be null; otherwise they must outlive the registry.
  CapabilityFetcher* fetcher = nullptr;  // If null, every refresh fails.
  ServiceIndexer* indexer = nullptr;
};

class Registry {
 public:
  // `records` must outlive this.
  Registry(RegistryStore& records, RegistryOptions options);

  // Registers a service and returns its record. Errors: InvalidArgument (ValidationError,
  // OutboundUrlPolicyError) before any I/O; those of RegistryStore::Create and of the indexer.
  base::Task<absl::StatusOr<ServiceRecord>> CreateService(const python::Value& request);

  base::Task<absl::StatusOr<std::vector<ServiceRecord>>> ListServices();

  // Returns the record; white space around the id is removed. Errors: NotFound
  // (ServiceNotFoundError). One round trip.
  base::Task<absl::StatusOr<ServiceRecord>> GetService(std::string_view service_id);

  // Changes the members that `changes` has, and returns the record as written. Errors:
  // InvalidArgument (those of CheckChanges and ApplyChanges, OutboundUrlPolicyError); those of
  // RegistryStore::Modify and of the indexer.
  base::Task<absl::StatusOr<ServiceRecord>> UpdateService(std::string_view service_id,
                                                          const python::Value& changes);

  // Deletes the record, then the search documents of the service's tasks, then its own. The health
  // document, the events and the pull cursor stay. Errors: NotFound (ServiceNotFoundError); those
  // of Redis.
  base::Task<absl::Status> DeleteService(std::string_view service_id);

  // Fetches the capabilities of a service and stores them, with `now` as last_seen_at and, unless
  // the service is disabled, the status healthy. Returns the record as written. Errors: NotFound;
  // Unavailable (CapabilityRefreshError) and those of the fetcher, after which nothing is written.
  base::Task<absl::StatusOr<ServiceRecord>> RefreshService(std::string_view service_id,
                                                           absl::Time now);

  // Returns OK if the outbound policy lets Studio call the service. The record may have been
  // written by another program or under another policy. Errors: InvalidArgument (RuntimeError).
  absl::Status CheckOutbound(const ServiceRecord& service) const;

  // The two halves of a refresh. The first sends one GET before the fetch.
  base::Task<absl::StatusOr<python::Value>> FetchCapabilities(std::string_view service_id);
  struct Seen {
    absl::Time now;
    bool mark_healthy = false;  // False: the status is not changed.
  };
  base::Task<absl::StatusOr<ServiceRecord>> StoreCapabilities(std::string_view service_id,
                                                              const python::Value& capabilities,
                                                              Seen seen);

 private:
  base::Task<absl::Status> Index(const ServiceRecord& record);

  RegistryStore& records_;
  const RegistryOptions options_;
};

}  // namespace redouble::inline v0_1::studio

#endif  // REDOUBLE_CORE_STUDIO_REGISTRY_REGISTRY_H_
