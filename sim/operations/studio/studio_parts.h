// StudioParts: the stores and services that a Studio operation uses, built from its arguments. For
// this folder only.
//
//   StudioParts parts(context, reader);
//   REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());
//
// Services that Studio would ask by HTTP answer with arguments of the operation.
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_OPERATIONS_STUDIO_STUDIO_PARTS_H_
#define REDOUBLE_SIM_OPERATIONS_STUDIO_STUDIO_PARTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/studio/events/event_store.h"
#include "redouble/core/studio/health/health_service.h"
#include "redouble/core/studio/ingest/ingest_service.h"
#include "redouble/core/studio/registry/capabilities.h"
#include "redouble/core/studio/registry/registry.h"
#include "redouble/core/studio/registry/registry_store.h"
#include "redouble/core/studio/search/search_index.h"
#include "redouble/core/studio/search/search_store.h"
#include "redouble/sim/operations/arguments.h"
#include "redouble/sim/operations/operation.h"

namespace redouble::inline v0_1::scenarios {

// A clock that does not move.
class FixedClock final : public base::Clock {
 public:
  explicit FixedClock(absl::Time now) : now_(now) {}
  int64_t NowMicros() const override { return absl::ToUnixMicros(now_); }
  base::Task<void> SleepUntil(absl::Time) override { co_return; }

 private:
  absl::Time now_;
};

// Answers with the arguments `capabilities`, `capability_error`, `workers` and `worker_error`. A
// service without these arguments does not answer.
class ScriptedCapabilities final : public studio::CapabilityFetcher {
 public:
  explicit ScriptedCapabilities(sim::ArgumentReader& reader);
  base::Task<absl::StatusOr<studio::HttpResponse>> Fetch(std::string_view base_url) override;

 private:
  std::optional<std::string> body_;
  std::string error_;
};

class ScriptedWorkers final : public studio::WorkerHealthFetcher {
 public:
  explicit ScriptedWorkers(sim::ArgumentReader& reader);
  base::Task<absl::StatusOr<std::string>> Fetch(std::string_view base_url) override;

 private:
  std::optional<std::string> body_;
  std::string error_;
};

// The feed of every service, from the arguments `feed` and `server_page_size`.
class ScriptedFeed final : public studio::FeedSource {
 public:
  explicit ScriptedFeed(sim::ArgumentReader& reader);
  base::Task<absl::StatusOr<studio::FeedPage>> Fetch(std::string_view base_url,
                                                     studio::FeedRequest request) override;

 private:
  absl::StatusOr<std::vector<studio::ServiceEvent>> events_;
  int64_t page_size_;
};

// Reads the options of the event store, with the hardening.
studio::EventStoreOptions ReadEventOptions(sim::ArgumentReader& reader,
                                           studio::Hardening hardening);
// Reads core/studio/hardening.h as booleans.
studio::Hardening ReadStudioHardening(sim::ArgumentReader& reader);
// Reads the options of the search index.
studio::SearchIndexOptions ReadIndexOptions(sim::ArgumentReader& reader);

// All parts, on one store. Not movable, because the parts have pointers to each other.
class StudioParts {
 public:
  // Reads the options of all parts, and `now`.
  StudioParts(sim::OperationContext context, sim::ArgumentReader& reader);
  StudioParts(const StudioParts&) = delete;
  StudioParts& operator=(const StudioParts&) = delete;

  absl::Time now() const { return now_; }

 private:
  absl::Time now_;
  studio::Hardening hardening_;
  bool has_search_;
  ScriptedCapabilities capabilities_;
  ScriptedWorkers workers_;

 public:
  studio::RegistryStore records;
  studio::EventStore events;
  studio::SearchStore documents;
  studio::SearchIndex index;
  studio::Registry registry;
  studio::IngestService ingest;
  studio::HealthStore health_documents;
  studio::HealthService health;
};

}  // namespace redouble::inline v0_1::scenarios

#endif  // REDOUBLE_SIM_OPERATIONS_STUDIO_STUDIO_PARTS_H_
