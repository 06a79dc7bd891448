#include "redouble/core/studio/registry/registry.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/python/error.h"
#include "redouble/core/python/text.h"

namespace redouble::inline v0_1::studio {
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
  REDOUBLE_CO_ASSIGN_OR_RETURN(ServiceRecord record, ReadCreateRequest(request));
  REDOUBLE_CO_RETURN_IF_ERROR(CheckOutboundUrls(options_.policy, record));
  REDOUBLE_CO_RETURN_IF_ERROR(co_await records_.Create(record));
  REDOUBLE_CO_RETURN_IF_ERROR(co_await Index(record));
  co_return record;
}

base::Task<absl::StatusOr<std::vector<ServiceRecord>>> Registry::ListServices() {
  co_return co_await records_.List();
}

base::Task<absl::StatusOr<ServiceRecord>> Registry::GetService(std::string_view service_id) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(std::optional<ServiceRecord> record,
                               co_await records_.Get(python::Strip(service_id)));
  if (!record) co_return ServiceNotFound(service_id);
  co_return *std::move(record);
}

base::Task<absl::StatusOr<ServiceRecord>> Registry::UpdateService(std::string_view service_id,
                                                                  const Value& changes) {
  REDOUBLE_CO_RETURN_IF_ERROR(CheckChanges(changes));
  const RegistryStore::Change change =
      [&](const ServiceRecord& present) -> absl::StatusOr<ServiceRecord> {
    REDOUBLE_ASSIGN_OR_RETURN(ServiceRecord record, ApplyChanges(present, changes));
    REDOUBLE_RETURN_IF_ERROR(CheckOutboundUrls(options_.policy, record));
    return record;
  };
  REDOUBLE_CO_ASSIGN_OR_RETURN(ServiceRecord record,
                               co_await records_.Modify(python::Strip(service_id), change));
  REDOUBLE_CO_RETURN_IF_ERROR(co_await Index(record));
  co_return record;
}

base::Task<absl::Status> Registry::DeleteService(std::string_view service_id) {
  const std::string_view id = python::Strip(service_id);
  REDOUBLE_CO_RETURN_IF_ERROR((co_await GetService(id)).status());
  REDOUBLE_CO_RETURN_IF_ERROR(co_await records_.Delete(id));
  if (options_.indexer == nullptr) co_return absl::OkStatus();
  REDOUBLE_CO_RETURN_IF_ERROR(co_await options_.indexer->DeleteTaskDocumentsOfService(id));
  co_return co_await options_.indexer->DeleteServiceDocument(id);
}

base::Task<absl::StatusOr<ServiceRecord>> Registry::RefreshService(std::string_view service_id,
                                                                   absl::Time now) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const Value capabilities, co_await FetchCapabilities(service_id));
  const Seen seen = {.now = now, .mark_healthy = true};
  co_return co_await StoreCapabilities(service_id, capabilities, seen);
}

absl::Status Registry::CheckOutbound(const ServiceRecord& service) const {
  const std::string label = absl::StrCat("Service '", service.service_id, "' base_url");
  const absl::Status allowed = options_.policy.Check(service.base_url, label);
  if (allowed.ok()) return allowed;
  return python::Error(allowed.code(), "RuntimeError", base::ToStd(allowed.message()));
}

base::Task<absl::StatusOr<Value>> Registry::FetchCapabilities(std::string_view service_id) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const ServiceRecord record,
                               co_await GetService(python::Strip(service_id)));
  const absl::Status allowed = options_.policy.Check(record.base_url, "Capability refresh target");
  if (!allowed.ok()) co_return RefreshError(base::ToStd(allowed.message()));
  if (options_.fetcher == nullptr) co_return RefreshError("There is no capability fetcher.");
  const absl::StatusOr<HttpResponse> response = co_await options_.fetcher->Fetch(record.base_url);
  if (!response.ok()) co_return RefreshError(base::ToStd(response.status().message()));
  co_return ReadCapabilityResponse(*response, record.base_url);
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
  REDOUBLE_CO_ASSIGN_OR_RETURN(ServiceRecord record,
                               co_await records_.Modify(python::Strip(service_id), change));
  REDOUBLE_CO_RETURN_IF_ERROR(co_await Index(record));
  co_return record;
}

}  // namespace redouble::inline v0_1::studio
