// HealthStore and HealthService: what Studio finds out about the health of services, and keeps.
//
//   studio::HealthStore documents(store);
//   studio::HealthService health({registry, events, documents, workers, &index});
//   absl::StatusOr<HealthDocument> document = co_await health.GetHealth("svc-a", clock.Now());
//   document = co_await health.RefreshHealth("svc-a", clock.Now());
//
// Thread-safety: as the Store. Arguments must outlive the task.
// Source: seed 000 Health Store; reference/relayna.md section 8.
#ifndef REDOUBLE_CORE_STUDIO_HEALTH_SERVICE_H_
#define REDOUBLE_CORE_STUDIO_HEALTH_SERVICE_H_

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/base/task.h"
#include "core/store/store.h"
#include "core/studio/event_store.h"
#include "core/studio/health_document.h"
#include "core/studio/keys.h"
#include "core/studio/registry.h"

namespace redouble::studio {

// One document per service; nothing expires, and nothing deletes it.
class HealthStore {
 public:
  // `store` must outlive this. A blank prefix is the default.
  explicit HealthStore(store::Store& store, std::string_view prefix = kDefaultHealthPrefix);

  // None when there is none, and when what is there is no document. One round trip.
  base::Task<absl::StatusOr<std::optional<HealthDocument>>> GetHealth(std::string_view service_id);
  // One round trip.
  base::Task<absl::Status> SetHealth(std::string_view service_id, const HealthDocument& document);

 private:
  store::Store& store_;
  const HealthKeys keys_;
};

// Asks services for their workers. Implementations do the HTTP.
class WorkerHealthFetcher {
 public:
  virtual ~WorkerHealthFetcher() = default;
  // The body of GET base_url/relayna/health/workers. Any error counts as no answer; its message is
  // kept as the reason.
  virtual base::Task<absl::StatusOr<std::string>> Fetch(std::string_view base_url) = 0;
};

// What a health service works with; all must outlive it.
struct HealthParts {
  Registry& registry;
  EventStore& events;
  HealthStore& documents;
  WorkerHealthFetcher& workers;
  ServiceIndexer* indexer = nullptr;  // None: health is not searched by.
  HealthLimits limits = {};
};

// What became of the services of one round.
struct HealthRound {
  std::vector<std::string> refreshed;
  std::vector<std::pair<std::string, absl::Status>> failed;
};

class HealthService {
 public:
  explicit HealthService(HealthParts parts) : parts_(std::move(parts)) {}

  // The document with its states as of `now`; nothing is written. Five round trips: the registry's
  // GET, the health GET, three of the activity. Errors: NotFound (ServiceNotFoundError); those of
  // Redis.
  base::Task<absl::StatusOr<HealthDocument>> GetHealth(std::string_view service_id, absl::Time now);

  // Asks the service what it can do and how its workers are, and writes down what came of it; the
  // registry's record too, its status excepted, and the search document. A service that does not
  // answer is unreachable, one that was deleted meanwhile as well, and gets its health document
  // back (H1). A disabled one is not asked. Errors: as GetHealth, and those of the indexer.
  base::Task<absl::StatusOr<HealthDocument>> RefreshHealth(std::string_view service_id,
                                                           absl::Time now);

  // Refreshes all services, one after the other; one that fails is reported, and the round goes on.
  // Errors: of listing the services, and of a disabled service: these end the round, and the
  // original's loop with it.
  base::Task<absl::StatusOr<HealthRound>> RefreshAll(absl::Time now);

 private:
  base::Task<void> AskCapabilities(ServiceFacts& facts, HealthDocument& document, absl::Time now);
  base::Task<void> AskWorkers(const ServiceFacts& facts, HealthDocument& document);
  base::Task<absl::StatusOr<HealthDocument>> Keep(const ServiceFacts& facts,
                                                  HealthDocument document, absl::Time now);

  const HealthParts parts_;
};

}  // namespace redouble::studio

#endif  // REDOUBLE_CORE_STUDIO_HEALTH_SERVICE_H_
