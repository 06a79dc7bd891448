// ServiceRecord: what the registry keeps of one service, and the requests that make and change it.
//
//   absl::StatusOr<ServiceRecord> record = ReadServiceRecord(request);  // request: JSON
//   record->base_url                                                   // normalised
//   ModelJson(ToValue(*record))                                        // what Redis holds
//
// Thread-safety: plain values, pure functions.
// Source: reference/relayna.md section 6.
#ifndef REDOUBLE_CORE_STUDIO_SERVICE_RECORD_H_
#define REDOUBLE_CORE_STUDIO_SERVICE_RECORD_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/python/value.h"
#include "core/studio/url.h"

namespace redouble::studio {

enum class ServiceStatus { kRegistered, kHealthy, kUnavailable, kDisabled };

// "registered" and so on.
std::string_view ServiceStatusName(ServiceStatus status);
std::optional<ServiceStatus> FindServiceStatus(std::string_view name);

struct ServiceRecord {
  // Without the white space around them, never empty, their case kept.
  std::string service_id;
  std::string name;
  std::string base_url;  // As NormalizeBaseUrl gives it.
  std::string environment;
  std::vector<std::string> tags;  // Stripped; no blank one, none twice.
  std::string auth_mode;
  ServiceStatus status = ServiceStatus::kRegistered;
  python::Value capabilities;  // The document, or null.
  std::optional<absl::Time> last_seen_at;
  // Where its logs, metrics and traces are: objects in their models' form, or null.
  python::Value log_config;
  python::Value metrics_config;
  python::Value trace_config;
  python::Value health;  // Null in Redis; filled in for readers.

  friend bool operator==(const ServiceRecord&, const ServiceRecord&) = default;
};

// Members in the model's order.
python::Value ToValue(const ServiceRecord& record);

// The record of a JSON object, normalised and checked: what a client sends, and what Redis holds.
// Errors: InvalidArgument (ValidationError).
absl::StatusOr<ServiceRecord> ReadServiceRecord(const python::Value& value);
// The same of the text in Redis.
absl::StatusOr<ServiceRecord> ParseServiceRecord(std::string_view json);

// The record that a request for a new service makes: status registered, never seen, whatever else
// the request says of those.
absl::StatusOr<ServiceRecord> ReadCreateRequest(const python::Value& request);

// OK when `changes` can be applied to some record: any of name, base_url, environment, tags,
// auth_mode, status, log_config, metrics_config, trace_config, each valid or null. Errors:
// InvalidArgument (ValidationError), also when there is none of them.
absl::Status CheckChanges(const python::Value& changes);

// `record` with those members in place of its own; a null clears a config and the tags, and leaves
// the status. Errors: InvalidArgument: a status of healthy (ValueError: only a refresh sets it), or
// a record that would not be valid (ValidationError).
absl::StatusOr<ServiceRecord> ApplyChanges(const ServiceRecord& record,
                                           const python::Value& changes);

// OK when Studio may call the URLs of the record. Errors: InvalidArgument (OutboundUrlPolicyError).
absl::Status CheckOutboundUrls(const OutboundPolicy& policy, const ServiceRecord& record);

}  // namespace redouble::studio

#endif  // REDOUBLE_CORE_STUDIO_SERVICE_RECORD_H_
