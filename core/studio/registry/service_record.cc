#include "redouble/core/studio/registry/service_record.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/python/error.h"
#include "redouble/core/python/model_reader.h"
#include "redouble/core/python/text.h"
#include "redouble/core/studio/registry/observability_config.h"

namespace redouble::inline v0_1::studio {
namespace {

using base::ToAbsl;
using python::Value;

constexpr std::string_view kModel = "ServiceRecord";

constexpr std::array<std::string_view, 4> kStatusNames = {"registered", "healthy", "unavailable",
                                                          "disabled"};

// The members that a client may change.
constexpr std::array<std::string_view, 9> kChangeable = {
    "name",   "base_url",   "environment",    "tags",        "auth_mode",
    "status", "log_config", "metrics_config", "trace_config"};

// The optional configs: their readers, and the names of their URLs in errors.
struct ConfigModel {
  std::string_view name;
  Value ServiceRecord::*member;
  absl::StatusOr<Value> (*read)(const Value& value);
  std::string_view label;
};

constexpr std::array<ConfigModel, 3> kConfigs = {{
    {"log_config", &ServiceRecord::log_config, ReadLogConfig, "Loki log_config.base_url"},
    {"metrics_config", &ServiceRecord::metrics_config, ReadMetricsConfig,
     "Prometheus metrics_config.base_url"},
    {"trace_config", &ServiceRecord::trace_config, ReadTraceConfig, "Tempo trace_config.base_url"},
}};

std::vector<std::string> NormalizeTags(const std::vector<std::string>& tags) {
  std::vector<std::string> normalized;
  for (const std::string& tag : tags) {
    std::string stripped(python::Strip(tag));
    if (stripped.empty()) continue;
    if (std::find(normalized.begin(), normalized.end(), stripped) != normalized.end()) continue;
    normalized.push_back(std::move(stripped));
  }
  return normalized;
}

std::string ReadBaseUrl(python::ModelReader& reader) {
  absl::StatusOr<std::string> url = NormalizeBaseUrl(reader.String("base_url"));
  if (url.ok()) return *std::move(url);
  reader.Refuse("base_url", base::ToStd(url.status().message()));
  return "";
}

ServiceStatus ReadStatus(python::ModelReader& reader) {
  const std::string name = reader.StringOr("status", ServiceStatusName(ServiceStatus::kRegistered));
  const std::optional<ServiceStatus> status = FindServiceStatus(name);
  if (!status) {
    reader.Refuse("status", "Input should be 'registered', 'healthy', 'unavailable' or 'disabled'");
  }
  return status.value_or(ServiceStatus::kRegistered);
}

// Null means no tags.
std::vector<std::string> ReadTags(python::ModelReader& reader) {
  if (reader.Find("tags") == nullptr) return {};
  return NormalizeTags(reader.Strings("tags"));
}

Value ReadOptionalObject(python::ModelReader& reader, std::string_view name) {
  return reader.Find(name) == nullptr ? Value() : reader.Object(name);
}

// Reads the members that a request to create a service and a record have in common.
ServiceRecord ReadMembers(python::ModelReader& reader) {
  ServiceRecord record;
  record.service_id = reader.StrippedString("service_id");
  record.name = reader.StrippedString("name");
  record.base_url = ReadBaseUrl(reader);
  record.environment = reader.StrippedString("environment");
  record.tags = ReadTags(reader);
  record.auth_mode = reader.StrippedString("auth_mode");
  for (const ConfigModel& config : kConfigs) {
    const Value* member = reader.Find(config.name);
    if (member == nullptr) continue;
    absl::StatusOr<Value> read = config.read(*member);
    if (!read.ok()) {
      reader.Update(read.status());
    } else {
      record.*config.member = *std::move(read);
    }
  }
  return record;
}

}  // namespace

std::string_view ServiceStatusName(ServiceStatus status) {
  return kStatusNames[static_cast<size_t>(status)];
}

std::optional<ServiceStatus> FindServiceStatus(std::string_view name) {
  const auto found = std::find(kStatusNames.begin(), kStatusNames.end(), name);
  if (found == kStatusNames.end()) return std::nullopt;
  return static_cast<ServiceStatus>(found - kStatusNames.begin());
}

Value ToValue(const ServiceRecord& record) {
  return Value(
      python::Object{{"service_id", record.service_id},
                     {"name", record.name},
                     {"base_url", record.base_url},
                     {"environment", record.environment},
                     {"tags", Value(python::Array(record.tags.begin(), record.tags.end()))},
                     {"auth_mode", record.auth_mode},
                     {"status", ServiceStatusName(record.status)},
                     {"capabilities", record.capabilities},
                     {"last_seen_at", python::OptionalTimeValue(record.last_seen_at)},
                     {"log_config", record.log_config},
                     {"metrics_config", record.metrics_config},
                     {"trace_config", record.trace_config},
                     {"health", record.health}});
}

absl::StatusOr<ServiceRecord> ReadServiceRecord(const Value& value) {
  python::ModelReader reader(value, kModel);
  ServiceRecord record = ReadMembers(reader);
  record.status = ReadStatus(reader);
  record.capabilities = ReadOptionalObject(reader, "capabilities");
  record.last_seen_at = reader.OptionalTime("last_seen_at");
  record.health = ReadOptionalObject(reader, "health");
  REDOUBLE_RETURN_IF_ERROR(reader.status());
  return record;
}

absl::StatusOr<ServiceRecord> ParseServiceRecord(std::string_view json) {
  REDOUBLE_ASSIGN_OR_RETURN(const Value value, python::ParseModelJson(json, kModel));
  return ReadServiceRecord(value);
}

absl::StatusOr<ServiceRecord> ReadCreateRequest(const Value& request) {
  python::ModelReader reader(request, "CreateServiceRequest");
  const ServiceRecord record = ReadMembers(reader);
  REDOUBLE_RETURN_IF_ERROR(reader.status());
  // The original makes a record of all members of the request, those with defaults as well, and
  // validates them once more.
  return ReadServiceRecord(ToValue(record));
}

absl::Status CheckChanges(const Value& changes) {
  python::ModelReader reader(changes, "UpdateServiceRequest");
  const bool any = std::any_of(kChangeable.begin(), kChangeable.end(), [&](std::string_view name) {
    return changes.Find(name) != nullptr;
  });
  if (!any) reader.Refuse("", "Provide at least one field to update.");
  for (const std::string_view name : {"name", "environment", "auth_mode"}) {
    if (reader.Find(name) != nullptr) reader.StrippedString(name);
  }
  if (reader.Find("base_url") != nullptr) ReadBaseUrl(reader);
  ReadTags(reader);
  if (reader.Find("status") != nullptr) ReadStatus(reader);
  for (const ConfigModel& config : kConfigs) {
    const Value* member = reader.Find(config.name);
    if (member != nullptr) reader.Update(config.read(*member).status());
  }
  return reader.status();
}

absl::StatusOr<ServiceRecord> ApplyChanges(const ServiceRecord& record, const Value& changes) {
  const Value* status = changes.Find("status");
  if (status != nullptr && status->text() != nullptr &&
      *status->text() == ServiceStatusName(ServiceStatus::kHealthy)) {
    return python::ValueError("Service status 'healthy' can only be set by refresh.");
  }
  Value merged = ToValue(record);
  for (const std::string_view name : kChangeable) {
    const Value* change = changes.Find(name);
    // A null status means that the status does not change.
    if (change == nullptr || (name == "status" && change->is_null())) continue;
    merged.object()->Set(name, *change);
  }
  return ReadServiceRecord(merged);
}

absl::Status CheckOutboundUrls(const OutboundPolicy& policy, const ServiceRecord& record) {
  absl::Status status = policy.Check(record.base_url, "Service base_url");
  for (const ConfigModel& config : kConfigs) {
    if (!status.ok()) break;
    const Value* url = (record.*config.member).Find("base_url");
    if (url != nullptr && url->text() != nullptr) status = policy.Check(*url->text(), config.label);
  }
  return status;
}

}  // namespace redouble::inline v0_1::studio
