#include "redouble/core/studio/app/studio.h"

#include <utility>

#include "redouble/core/base/status/status_macros.h"

namespace redouble::inline v0_1::studio {

absl::StatusOr<std::unique_ptr<Studio>> Studio::Create(store::Store& store, base::Clock& clock,
                                                       StudioHttp http,
                                                       const StudioSettings& settings) {
  REDOUBLE_ASSIGN_OR_RETURN(OutboundPolicy policy, OutboundPolicy::Create(settings.outbound));
  return std::unique_ptr<Studio>(new Studio(store, clock, http, settings, std::move(policy)));
}

Studio::Studio(store::Store& store, base::Clock& clock, StudioHttp http,
               const StudioSettings& settings, OutboundPolicy policy)
    : clock_(clock),
      push_ingest_enabled_(settings.push_ingest_enabled),
      records_(store, {.prefix = settings.registry_prefix,
                       .hardening = settings.hardening,
                       .key_layout = settings.key_layout}),
      documents_(store, {.prefix = settings.task_search_index_prefix,
                         .hardening = settings.hardening,
                         .registry_prefix = settings.registry_prefix,
                         .key_layout = settings.key_layout}),
      search_(documents_, {.task_ttl_seconds = settings.task_index_ttl_seconds,
                           .local_zone = settings.local_zone}),
      registry_(records_,
                {.policy = std::move(policy), .fetcher = &http.capabilities, .indexer = &search_}),
      events_(store, {.prefix = settings.event_store_prefix,
                      .ttl_seconds = settings.event_store_ttl_seconds,
                      .history_maxlen = settings.event_history_maxlen,
                      .hardening = settings.hardening,
                      .key_layout = settings.key_layout,
                      .channels = settings.channels}),
      ingest_(registry_, events_, &search_, settings.hardening),
      pull_sync_(ingest_, events_, http.feed, settings.pull_sync),
      health_documents_(store, {.prefix = settings.health_store_prefix,
                                .hardening = settings.hardening,
                                .registry_prefix = settings.registry_prefix,
                                .key_layout = settings.key_layout}),
      health_({.registry = registry_,
               .events = events_,
               .documents = health_documents_,
               .workers = http.workers,
               .indexer = &search_,
               .limits = {.capability_stale_after = settings.capability_stale_after,
                          .observation_stale_after = settings.observation_stale_after,
                          .worker_heartbeat_stale_after = settings.worker_heartbeat_stale_after}}),
      retention_loop_(search_, clock, settings.retention_prune_interval),
      health_loop_(health_, clock, settings.health_refresh_interval),
      pull_sync_loop_(pull_sync_, clock, settings.pull_sync_interval) {}

base::Task<absl::Status> Studio::Start() {
  return search_.Initialize(records_, events_, clock_.Now());
}

base::Task<absl::StatusOr<IngestReport>> Studio::Push(std::span<const EventEnvelope> envelopes) {
  if (!push_ingest_enabled_) co_return absl::PermissionDeniedError("push ingest is not enabled");
  co_return co_await ingest_.IngestEvents(envelopes, clock_.Now());
}

base::Task<absl::StatusOr<ServiceRecord>> Studio::WithHealth(ServiceRecord record) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const HealthDocument health,
                               co_await health_.GetHealth(record.service_id, clock_.Now()));
  record.health = ToValue(health);
  co_return record;
}

base::Task<absl::StatusOr<ServiceRecord>> Studio::GetService(std::string_view service_id) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(ServiceRecord record, co_await registry_.GetService(service_id));
  co_return co_await WithHealth(std::move(record));
}

base::Task<absl::StatusOr<std::vector<ServiceRecord>>> Studio::ListServices() {
  REDOUBLE_CO_ASSIGN_OR_RETURN(std::vector<ServiceRecord> records,
                               co_await registry_.ListServices());
  for (ServiceRecord& record : records) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(record, co_await WithHealth(std::move(record)));
  }
  co_return records;
}

base::Task<absl::StatusOr<ServiceRecord>> Studio::RefreshService(std::string_view service_id) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(ServiceRecord record,
                               co_await registry_.RefreshService(service_id, clock_.Now()));
  const HealthRefreshOptions cached = {.use_cached_capabilities = true};
  const absl::StatusOr<HealthDocument> refreshed =
      co_await health_.RefreshHealth(service_id, clock_.Now(), cached);
  REDOUBLE_CO_RETURN_IF_ERROR(refreshed.status());
  co_return co_await WithHealth(std::move(record));
}

}  // namespace redouble::inline v0_1::studio
