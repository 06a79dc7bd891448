// Registry: the services that Studio knows, as its API offers them: requests checked, URLs held
// against the outbound policy, capabilities fetched, the search index kept along.
//
//   studio::RegistryStore records(store);
//   studio::Registry registry(records, {.policy = *OutboundPolicy::Create(), .fetcher = &fetcher});
//   absl::StatusOr<ServiceRecord> created = co_await registry.CreateService(request);
//   absl::StatusOr<ServiceRecord> refreshed = co_await registry.RefreshService("svc-a", now);
//
// Everything that is wrong with a request is said before any I/O, the status `healthy` excepted. An
// operation that changes a record then updates the search index, by commands of its own: who dies
// in between leaves the index behind.
//
// Thread-safety: as the Store. Arguments must outlive the task.
// Source: reference/relayna.md section 6.
#ifndef REDOUBLE_CORE_STUDIO_REGISTRY_H_
#define REDOUBLE_CORE_STUDIO_REGISTRY_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/base/task.h"
#include "core/python/value.h"
#include "core/studio/capabilities.h"
#include "core/studio/registry_store.h"
#include "core/studio/service_record.h"
#include "core/studio/url.h"

namespace redouble::studio {

// What the registry and the health service tell the search index.
class ServiceIndexer {
 public:
  virtual ~ServiceIndexer() = default;
  // Makes the service's document, and its tasks', say what the record says. Without a health status
  // the document keeps its own.
  virtual base::Task<absl::Status> UpsertServiceDocument(
      const ServiceRecord& service, std::optional<std::string> health_status) = 0;
  virtual base::Task<absl::Status> DeleteTaskDocumentsOfService(std::string_view service_id) = 0;
  virtual base::Task<absl::Status> DeleteServiceDocument(std::string_view service_id) = 0;
};

struct RegistryOptions {
  OutboundPolicy policy;
  // Both may be null; whoever is not must outlive the registry.
  CapabilityFetcher* fetcher = nullptr;  // Without one every refresh fails.
  ServiceIndexer* indexer = nullptr;
};

class Registry {
 public:
  // `records` must outlive this.
  Registry(RegistryStore& records, RegistryOptions options);

  // Registers what the request says; gives the record. Errors: InvalidArgument (ValidationError,
  // OutboundUrlPolicyError) before any I/O; those of RegistryStore::Create and of the indexer.
  base::Task<absl::StatusOr<ServiceRecord>> CreateService(const python::Value& request);

  base::Task<absl::StatusOr<std::vector<ServiceRecord>>> ListServices();

  // The record of the id without the white space around it. Errors: NotFound
  // (ServiceNotFoundError). One round trip.
  base::Task<absl::StatusOr<ServiceRecord>> GetService(std::string_view service_id);

  // Changes the members that `changes` has; gives the record as written. Errors: InvalidArgument
  // (CheckChanges, ApplyChanges, OutboundUrlPolicyError); those of RegistryStore::Modify and of the
  // indexer.
  base::Task<absl::StatusOr<ServiceRecord>> UpdateService(std::string_view service_id,
                                                          const python::Value& changes);

  // Removes the record, then the search documents of its tasks, then its own. Its health document,
  // events and pull cursor stay. Errors: NotFound (ServiceNotFoundError); those of Redis.
  base::Task<absl::Status> DeleteService(std::string_view service_id);

  // Fetches what the service can do and writes it down: seen at `now`, healthy unless disabled.
  // Errors: NotFound; Unavailable (CapabilityRefreshError), the fetcher's own: nothing is written.
  base::Task<absl::StatusOr<ServiceRecord>> RefreshService(std::string_view service_id,
                                                           absl::Time now);

  // The two halves of a refresh. The first is one round trip before the fetch.
  base::Task<absl::StatusOr<python::Value>> FetchCapabilities(std::string_view service_id);
  struct Seen {
    absl::Time now;
    bool mark_healthy = false;  // Else the status stays.
  };
  base::Task<absl::StatusOr<ServiceRecord>> StoreCapabilities(std::string_view service_id,
                                                              const python::Value& capabilities,
                                                              Seen seen);

 private:
  base::Task<absl::Status> Index(const ServiceRecord& record);

  RegistryStore& records_;
  const RegistryOptions options_;
};

}  // namespace redouble::studio

#endif  // REDOUBLE_CORE_STUDIO_REGISTRY_H_
