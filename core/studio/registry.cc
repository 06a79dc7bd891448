#include "core/studio/registry.h"

#include <utility>

#include "core/base/string_bridge.h"
#include "core/python/error.h"
#include "core/python/text.h"

namespace redouble::studio {
namespace {

using python::Value;

absl::Status RefreshError(std::string_view message) {
  return python::Error(absl::StatusCode::kUnavailable, "CapabilityRefreshError", message);
}

}  // namespace

Registry::Registry(RegistryStore& records, RegistryOptions options)
    : records_(records), options_(std::move(options)) {}

base::Task<absl::Status> Registry::Index(const ServiceRecord& record) {
  if (options_.indexer == nullptr) co_return absl::OkStatus();
  co_return co_await options_.indexer->UpsertServiceDocument(record, std::nullopt);
}

base::Task<absl::StatusOr<ServiceRecord>> Registry::CreateService(const Value& request) {
  absl::StatusOr<ServiceRecord> record = ReadCreateRequest(request);
  if (!record.ok()) co_return record.status();
  absl::Status status = CheckOutboundUrls(options_.policy, *record);
  if (!status.ok()) co_return status;
  status = co_await records_.Create(*record);
  if (!status.ok()) co_return status;
  status = co_await Index(*record);
  if (!status.ok()) co_return status;
  co_return record;
}

base::Task<absl::StatusOr<std::vector<ServiceRecord>>> Registry::ListServices() {
  co_return co_await records_.List();
}

base::Task<absl::StatusOr<ServiceRecord>> Registry::GetService(std::string_view service_id) {
  absl::StatusOr<std::optional<ServiceRecord>> record =
      co_await records_.Get(python::Strip(service_id));
  if (!record.ok()) co_return record.status();
  if (!*record) co_return ServiceNotFound(service_id);
  co_return **std::move(record);
}

base::Task<absl::StatusOr<ServiceRecord>> Registry::UpdateService(std::string_view service_id,
                                                                  const Value& changes) {
  if (absl::Status status = CheckChanges(changes); !status.ok()) co_return status;
  const RegistryStore::Change change =
      [&](const ServiceRecord& present) -> absl::StatusOr<ServiceRecord> {
    absl::StatusOr<ServiceRecord> record = ApplyChanges(present, changes);
    if (!record.ok()) return record;
    const absl::Status allowed = CheckOutboundUrls(options_.policy, *record);
    if (!allowed.ok()) return allowed;
    return record;
  };
  absl::StatusOr<ServiceRecord> record =
      co_await records_.Modify(python::Strip(service_id), change);
  if (!record.ok()) co_return record.status();
  const absl::Status indexed = co_await Index(*record);
  if (!indexed.ok()) co_return indexed;
  co_return record;
}

base::Task<absl::Status> Registry::DeleteService(std::string_view service_id) {
  const std::string_view id = python::Strip(service_id);
  const absl::StatusOr<ServiceRecord> present = co_await GetService(id);
  if (!present.ok()) co_return present.status();
  absl::Status status = co_await records_.Delete(id);
  if (!status.ok() || options_.indexer == nullptr) co_return status;
  status = co_await options_.indexer->DeleteTaskDocumentsOfService(id);
  if (!status.ok()) co_return status;
  co_return co_await options_.indexer->DeleteServiceDocument(id);
}

base::Task<absl::StatusOr<ServiceRecord>> Registry::RefreshService(std::string_view service_id,
                                                                   absl::Time now) {
  const absl::StatusOr<Value> capabilities = co_await FetchCapabilities(service_id);
  if (!capabilities.ok()) co_return capabilities.status();
  const Seen seen = {.now = now, .mark_healthy = true};
  co_return co_await StoreCapabilities(service_id, *capabilities, seen);
}

base::Task<absl::StatusOr<Value>> Registry::FetchCapabilities(std::string_view service_id) {
  const absl::StatusOr<ServiceRecord> record = co_await GetService(python::Strip(service_id));
  if (!record.ok()) co_return record.status();
  const absl::Status allowed = options_.policy.Check(record->base_url, "Capability refresh target");
  if (!allowed.ok()) co_return RefreshError(base::ToStd(allowed.message()));
  if (options_.fetcher == nullptr) co_return RefreshError("There is no capability fetcher.");
  const absl::StatusOr<HttpResponse> response = co_await options_.fetcher->Fetch(record->base_url);
  if (!response.ok()) co_return RefreshError(base::ToStd(response.status().message()));
  co_return ReadCapabilityResponse(*response, record->base_url);
}

base::Task<absl::StatusOr<ServiceRecord>> Registry::StoreCapabilities(std::string_view service_id,
                                                                      const Value& capabilities,
                                                                      Seen seen) {
  const RegistryStore::Change change =
      [&](const ServiceRecord& present) -> absl::StatusOr<ServiceRecord> {
    ServiceRecord record = present;
    record.capabilities = capabilities;
    record.last_seen_at = seen.now;
    if (seen.mark_healthy && present.status != ServiceStatus::kDisabled) {
      record.status = ServiceStatus::kHealthy;
    }
    return record;
  };
  absl::StatusOr<ServiceRecord> record =
      co_await records_.Modify(python::Strip(service_id), change);
  if (!record.ok()) co_return record.status();
  const absl::Status indexed = co_await Index(*record);
  if (!indexed.ok()) co_return indexed;
  co_return record;
}

}  // namespace redouble::studio
