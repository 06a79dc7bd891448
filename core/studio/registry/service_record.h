// ServiceRecord: the registry record of one service, and the requests that create and change it.
//
//   absl::StatusOr<ServiceRecord> record = ReadServiceRecord(request);  // request: JSON
//   record->base_url;                                                  // normalized
//   python::PydanticJson(ToValue(*record));                         // the text in Redis
//
// Thread-safety: plain values and pure functions.
// Source: docs/systems/studio.md 2.1, 4.1 and 4.3.
#ifndef REDOUBLE_CORE_STUDIO_REGISTRY_SERVICE_RECORD_H_
#define REDOUBLE_CORE_STUDIO_REGISTRY_SERVICE_RECORD_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "redouble/core/python/value.h"
#include "redouble/core/studio/registry/url.h"

namespace redouble::inline v0_1::studio {

enum class ServiceStatus { kRegistered, kHealthy, kUnavailable, kDisabled };

// The name in the record, such as "registered".
std::string_view ServiceStatusName(ServiceStatus status);
std::optional<ServiceStatus> FindServiceStatus(std::string_view name);

struct ServiceRecord {
  // service_id, name, environment and auth_mode are stripped and not empty; their case is kept.
  std::string service_id;
  std::string name;
  std::string base_url;  // In the form of NormalizeBaseUrl.
  std::string environment;
  std::vector<std::string> tags;  // Stripped, without blanks and duplicates.
  std::string auth_mode;
  ServiceStatus status = ServiceStatus::kRegistered;
  python::Value capabilities;  // The capability document, or null.
  std::optional<python::DateTime> last_seen_at;
  // The configs for logs, metrics and traces in the form of their models, or null.
  python::Value log_config;
  python::Value metrics_config;
  python::Value trace_config;
  python::Value health;  // Null in Redis; filled in for readers.

  friend bool operator==(const ServiceRecord&, const ServiceRecord&) = default;
};

// The record as an object, with the members in the order of the model.
python::Value ToValue(const ServiceRecord& record);

// Reads a record from a JSON object and normalizes it. Errors: InvalidArgument (ValidationError).
absl::StatusOr<ServiceRecord> ReadServiceRecord(const python::Value& value);
// The same for the text in Redis.
absl::StatusOr<ServiceRecord> ParseServiceRecord(std::string_view json);

// The record for a request to create a service. It has the status registered and was never seen.
// Other members of the request than those of 4.1 are ignored, whatever they contain. Errors:
// InvalidArgument (ValidationError).
absl::StatusOr<ServiceRecord> ReadCreateRequest(const python::Value& request);

// Returns OK if `changes` can be applied to a record: it has one or more of name, base_url,
// environment, tags, auth_mode, status, log_config, metrics_config and trace_config, each valid or
// null. Errors: InvalidArgument (ValidationError).
absl::Status CheckChanges(const python::Value& changes);

// Returns `record` with the members of `changes`. A null clears a config or the tags, and keeps the
// status. Errors: InvalidArgument: ValueError for the status healthy, which only a refresh sets;
// ValidationError if the result would not be valid.
absl::StatusOr<ServiceRecord> ApplyChanges(const ServiceRecord& record,
                                           const python::Value& changes);

// Returns OK if Studio may call the URLs of the record. Errors: InvalidArgument
// (OutboundUrlPolicyError).
absl::Status CheckOutboundUrls(const OutboundPolicy& policy, const ServiceRecord& record);

}  // namespace redouble::inline v0_1::studio

#endif  // REDOUBLE_CORE_STUDIO_REGISTRY_SERVICE_RECORD_H_
