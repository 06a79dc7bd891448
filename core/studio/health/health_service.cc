#include "redouble/core/studio/health/health_service.h"

#include <utility>

#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/python/json.h"
#include "redouble/core/store/decode.h"
#include "redouble/core/store/script.h"
#include "redouble/core/store/typed/strings.h"
#include "redouble/core/studio/registry/capabilities.h"
#include "redouble/core/studio/registry/registry_store.h"
#include "redouble/core/studio/scripts/script_texts.h"

namespace redouble::inline v0_1::studio {

namespace {

// KEYS: the health document, the record of the service. ARGV: the document. Replies 0, and writes
// nothing, if there is no such record.
const store::Script& SetScript() {
  static const store::Script& script = *new store::Script(std::string(kSetHealthText));
  return script;
}

// Records that the service has just answered with the capabilities in its record.
void NoteCachedCapabilities(const ServiceRecord& service, absl::Time now,
                            HealthDocument& document) {
  document.http_status = HttpHealth();
  document.http_status.state = HttpState::kReachable;
  document.http_status.checked_at = now;
  CapabilityHealth& capability = document.capability_status;
  capability.checked_at = now;
  if (service.last_seen_at) capability.last_successful_at = service.last_seen_at;
  if (!capability.last_successful_at) capability.last_successful_at = now;
  capability.error_detail.reset();
}

}  // namespace

HealthStore::HealthStore(store::Store& store, const HealthStoreOptions& options)
    : store_(store),
      keys_(options.prefix),
      registry_keys_(options.registry_prefix),
      registered_services_only_(options.hardening.registered_services_only &&
                                options.key_layout == store::KeyLayout::kDocumented) {}

base::Task<absl::StatusOr<std::optional<HealthDocument>>> HealthStore::GetHealth(
    std::string_view service_id) {
  const std::string key = keys_.Health(service_id);
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::optional<std::string> json,
                               co_await store::Get(store_, key));
  std::optional<HealthDocument> document;
  if (!json) co_return document;
  absl::StatusOr<HealthDocument> parsed = ParseHealthDocument(*json);
  if (parsed.ok()) document = *std::move(parsed);
  co_return document;
}

base::Task<absl::Status> HealthStore::SetHealth(std::string_view service_id,
                                                const HealthDocument& document) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::string json, python::PydanticJson(ToValue(document)));
  const std::string key = keys_.Health(service_id);
  if (registered_services_only_) {
    const std::string record = registry_keys_.Record(service_id);
    const std::string_view keys[] = {key, record};
    const std::string_view arguments[] = {json};
    REDOUBLE_CO_ASSIGN_OR_RETURN(
        const bool written, store::DecodeBool(co_await SetScript().Run(store_, keys, arguments)));
    co_return written ? absl::OkStatus() : ServiceNotFound(service_id);
  }
  const absl::StatusOr<bool> set = co_await store::Set(store_, key, json);
  co_return set.status();
}

base::Task<absl::StatusOr<HealthDocument>> HealthService::GetHealth(std::string_view service_id,
                                                                    absl::Time now) {
  ServiceFacts facts;
  REDOUBLE_CO_ASSIGN_OR_RETURN(facts.service, co_await parts_.registry.GetService(service_id));
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto stored,
                               co_await parts_.documents.GetHealth(facts.service.service_id));
  REDOUBLE_CO_ASSIGN_OR_RETURN(
      facts.activity, co_await parts_.events.GetActivitySnapshot(facts.service.service_id));
  co_return Materialize(facts, stored, now, parts_.limits);
}

base::Task<absl::StatusOr<HealthDocument>> HealthService::RefreshHealth(
    std::string_view service_id, absl::Time now, HealthRefreshOptions options) {
  ServiceFacts facts;
  REDOUBLE_CO_ASSIGN_OR_RETURN(facts.service, co_await parts_.registry.GetService(service_id));
  REDOUBLE_CO_ASSIGN_OR_RETURN(
      facts.activity, co_await parts_.events.GetActivitySnapshot(facts.service.service_id));
  REDOUBLE_CO_ASSIGN_OR_RETURN(auto previous,
                               co_await parts_.documents.GetHealth(facts.service.service_id));

  HealthDocument document = previous.value_or(HealthDocument());
  document.last_checked_at = now;
  if (facts.service.status != ServiceStatus::kDisabled) {
    if (options.use_cached_capabilities) {
      NoteCachedCapabilities(facts.service, now, document);
    } else {
      co_await RefreshCapabilities(facts, document, now);
    }
    co_await RefreshWorkers(facts, document);
  }
  co_return co_await Write(facts, std::move(document), now);
}

base::Task<void> HealthService::RefreshCapabilities(ServiceFacts& facts, HealthDocument& document,
                                                    absl::Time now) {
  const std::string service_id = facts.service.service_id;
  document.capability_status.checked_at = now;
  document.http_status.checked_at = now;
  document.http_status.error_detail.reset();
  absl::Status failure;
  const absl::StatusOr<python::Value> capabilities =
      co_await parts_.registry.FetchCapabilities(service_id);
  if (capabilities.ok()) {
    const Registry::Seen seen = {.now = now, .mark_healthy = false};
    absl::StatusOr<ServiceRecord> stored =
        co_await parts_.registry.StoreCapabilities(service_id, *capabilities, seen);
    if (stored.ok()) {
      facts.service = *std::move(stored);
      document.http_status.state = HttpState::kReachable;
      document.capability_status.last_successful_at = now;
      document.capability_status.error_detail.reset();
      co_return;
    }
    failure = stored.status();
  } else {
    failure = capabilities.status();
  }
  document.http_status.state = HttpState::kUnreachable;
  document.http_status.error_detail = std::string(failure.message());
  document.capability_status.error_detail = std::string(failure.message());
}

base::Task<void> HealthService::RefreshWorkers(const ServiceFacts& facts,
                                               HealthDocument& document) {
  if (!SupportsRoute(facts.service.capabilities, kHealthWorkersRoute)) {
    document.worker_health = WorkerHealth();
    document.worker_health.state = WorkerState::kUnsupported;
    co_return;
  }
  const absl::StatusOr<std::string> body = co_await FetchWorkers(facts.service);
  const absl::StatusOr<WorkerReport> report =
      body.ok() ? ParseWorkerReport(*body) : absl::StatusOr<WorkerReport>(body.status());
  if (!report.ok()) {
    document.worker_health.detail = std::string(report.status().message());
    co_return;
  }
  WorkerHealth health;
  health.reported_at = report->reported_at;
  health.workers = report->workers;
  for (const WorkerHeartbeat& worker : report->workers) {
    health.latest_heartbeat_at = Latest(health.latest_heartbeat_at, worker.last_heartbeat_at);
  }
  document.worker_health = std::move(health);
}

base::Task<absl::StatusOr<std::string>> HealthService::FetchWorkers(const ServiceRecord& service) {
  REDOUBLE_CO_RETURN_IF_ERROR(parts_.registry.CheckOutbound(service));
  co_return co_await parts_.workers.Fetch(service.base_url);
}

base::Task<absl::StatusOr<HealthDocument>> HealthService::Write(const ServiceFacts& facts,
                                                                HealthDocument document,
                                                                absl::Time now) {
  HealthDocument materialized =
      Materialize(facts, std::optional(std::move(document)), now, parts_.limits);
  REDOUBLE_CO_RETURN_IF_ERROR(
      co_await parts_.documents.SetHealth(facts.service.service_id, materialized));
  if (parts_.indexer != nullptr) {
    const std::optional<std::string> overall(OverallStateName(materialized.overall_status));
    REDOUBLE_CO_RETURN_IF_ERROR(
        co_await parts_.indexer->UpsertServiceDocument(facts.service, overall));
  }
  co_return materialized;
}

base::Task<absl::Status> HealthService::StoreHealth(std::string_view service_id, absl::Time now) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const HealthDocument document, co_await GetHealth(service_id, now));
  absl::Status stored = co_await parts_.documents.SetHealth(service_id, document);
  // With registered_services_only: the service was deleted meanwhile, which must not end the round.
  if (absl::IsNotFound(stored)) co_return absl::OkStatus();
  co_return stored;
}

base::Task<absl::StatusOr<HealthRound>> HealthService::RefreshAll(absl::Time now) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const auto services, co_await parts_.registry.ListServices());
  HealthRound round;
  for (const ServiceRecord& service : services) {
    if (service.status == ServiceStatus::kDisabled) {
      REDOUBLE_CO_RETURN_IF_ERROR(co_await StoreHealth(service.service_id, now));
      round.refreshed.push_back(service.service_id);
      continue;
    }
    const auto document = co_await RefreshHealth(service.service_id, now);
    if (document.ok()) {
      round.refreshed.push_back(service.service_id);
    } else {
      round.failed.emplace_back(service.service_id, document.status());
    }
  }
  co_return round;
}

}  // namespace redouble::inline v0_1::studio
