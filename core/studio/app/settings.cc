#include "redouble/core/studio/app/settings.h"

#include <array>
#include <cmath>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/python/error.h"
#include "redouble/core/python/text.h"

namespace redouble::studio {
namespace {

using base::ToAbsl;

constexpr std::string_view kPrefix = "RELAYNA_STUDIO_";

// Reads a stripped value into a member of the settings.
using Reader = absl::Status (*)(std::string_view value, StudioSettings& settings);

bool IsOff(std::string_view value) {
  const std::string lower = python::Lower(value);
  return lower.empty() || lower == "none" || lower == "null" || lower == "off";
}

absl::StatusOr<int64_t> Integer(std::string_view value) {
  int64_t number = 0;
  if (absl::SimpleAtoi(ToAbsl(value), &number)) return number;
  return python::ValueError(
      absl::StrCat("invalid literal for int() with base 10: '", ToAbsl(value), "'"));
}

absl::StatusOr<absl::Duration> PositiveSeconds(std::string_view value) {
  double seconds = 0;
  if (!absl::SimpleAtod(ToAbsl(value), &seconds)) {
    return python::ValueError(
        absl::StrCat("could not convert string to float: '", ToAbsl(value), "'"));
  }
  if (std::isfinite(seconds) && seconds > 0) return absl::Seconds(seconds);
  return python::ValueError(
      absl::StrCat("expected a positive number of seconds, got '", ToAbsl(value), "'"));
}

template <auto kMember>
absl::Status ReadText(std::string_view value, StudioSettings& settings) {
  if (!value.empty()) settings.*kMember = std::string(value);
  return absl::OkStatus();
}

template <auto kMember>
absl::Status ReadInteger(std::string_view value, StudioSettings& settings) {
  if (value.empty()) return absl::OkStatus();
  REDOUBLE_ASSIGN_OR_RETURN(settings.*kMember, Integer(value));
  return absl::OkStatus();
}

template <auto kMember>
absl::Status ReadOptionalInteger(std::string_view value, StudioSettings& settings) {
  settings.*kMember = std::nullopt;
  return IsOff(value) ? absl::OkStatus() : ReadInteger<kMember>(value, settings);
}

// Whole seconds.
template <auto kMember>
absl::Status ReadAge(std::string_view value, StudioSettings& settings) {
  if (value.empty()) return absl::OkStatus();
  REDOUBLE_ASSIGN_OR_RETURN(const int64_t seconds, Integer(value));
  settings.*kMember = absl::Seconds(seconds);
  return absl::OkStatus();
}

template <auto kMember>
absl::Status ReadDuration(std::string_view value, StudioSettings& settings) {
  if (value.empty()) return absl::OkStatus();
  REDOUBLE_ASSIGN_OR_RETURN(settings.*kMember, PositiveSeconds(value));
  return absl::OkStatus();
}

template <auto kMember>
absl::Status ReadInterval(std::string_view value, StudioSettings& settings) {
  settings.*kMember = std::nullopt;
  return IsOff(value) ? absl::OkStatus() : ReadDuration<kMember>(value, settings);
}

absl::Status ReadPushIngest(std::string_view value, StudioSettings& settings) {
  if (value.empty()) return absl::OkStatus();
  const std::string lower = python::Lower(value);
  settings.push_ingest_enabled = lower == "1" || lower == "true" || lower == "yes" || lower == "on";
  return absl::OkStatus();
}

std::vector<std::string> Items(std::string_view value) {
  std::vector<std::string> items;
  for (const absl::string_view item : absl::StrSplit(ToAbsl(value), ',')) {
    const std::string_view stripped = python::Strip(base::ToStd(item));
    if (!stripped.empty()) items.emplace_back(stripped);
  }
  return items;
}

// A list without items means the default hosts.
absl::Status ReadAllowedHosts(std::string_view value, StudioSettings& settings) {
  std::vector<std::string> hosts = Items(value);
  settings.outbound.allowed_hosts.reset();
  if (!hosts.empty()) settings.outbound.allowed_hosts = std::move(hosts);
  return absl::OkStatus();
}

absl::Status ReadAllowedNetworks(std::string_view value, StudioSettings& settings) {
  settings.outbound.allowed_networks = Items(value);
  return absl::OkStatus();
}

struct Variable {
  std::string_view name;  // Without the prefix.
  Reader read;
};

using S = StudioSettings;
constexpr std::array kVariables = {
    Variable{"REDIS_URL", ReadText<&S::redis_url>},
    Variable{"REGISTRY_PREFIX", ReadText<&S::registry_prefix>},
    Variable{"CAPABILITY_REFRESH_ALLOWED_HOSTS", ReadAllowedHosts},
    Variable{"CAPABILITY_REFRESH_ALLOWED_NETWORKS", ReadAllowedNetworks},
    Variable{"FEDERATION_TIMEOUT_SECONDS", ReadDuration<&S::federation_timeout>},
    Variable{"EVENT_STORE_PREFIX", ReadText<&S::event_store_prefix>},
    Variable{"EVENT_STORE_TTL_SECONDS", ReadOptionalInteger<&S::event_store_ttl_seconds>},
    Variable{"EVENT_HISTORY_MAXLEN", ReadInteger<&S::event_history_maxlen>},
    Variable{"PUSH_INGEST_ENABLED", ReadPushIngest},
    Variable{"PULL_SYNC_INTERVAL_SECONDS", ReadInterval<&S::pull_sync_interval>},
    Variable{"HEALTH_STORE_PREFIX", ReadText<&S::health_store_prefix>},
    Variable{"HEALTH_REFRESH_INTERVAL_SECONDS", ReadInterval<&S::health_refresh_interval>},
    Variable{"CAPABILITY_STALE_AFTER_SECONDS", ReadAge<&S::capability_stale_after>},
    Variable{"OBSERVATION_STALE_AFTER_SECONDS", ReadAge<&S::observation_stale_after>},
    Variable{"WORKER_HEARTBEAT_STALE_AFTER_SECONDS", ReadAge<&S::worker_heartbeat_stale_after>},
    Variable{"TASK_SEARCH_INDEX_PREFIX", ReadText<&S::task_search_index_prefix>},
    Variable{"TASK_INDEX_TTL_SECONDS", ReadInteger<&S::task_index_ttl_seconds>},
    Variable{"RETENTION_PRUNE_INTERVAL_SECONDS", ReadInterval<&S::retention_prune_interval>},
};

}  // namespace

absl::StatusOr<StudioSettings> ReadStudioSettings(Variables variables) {
  StudioSettings settings;
  for (const auto& [name, value] : variables) {
    if (!name.starts_with(kPrefix)) continue;
    for (const Variable& variable : kVariables) {
      if (name.substr(kPrefix.size()) != variable.name) continue;
      const absl::Status read = variable.read(python::Strip(value), settings);
      if (!read.ok()) {
        return python::ValueError(absl::StrCat(ToAbsl(name), ": ", read.message()));
      }
    }
  }
  return settings;
}

}  // namespace redouble::studio
