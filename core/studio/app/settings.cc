#include "redouble/core/studio/app/settings.h"

#include <array>
#include <vector>

#include "absl/strings/str_split.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/python/error.h"
#include "redouble/core/python/text.h"

namespace redouble::inline v0_1::studio {
namespace {

using base::kAnyInteger;
using base::ToAbsl;

// Whole seconds.
template <auto kMember>
absl::Status ReadAge(std::string_view value, StudioSettings& settings) {
  if (value.empty()) return absl::OkStatus();
  REDOUBLE_ASSIGN_OR_RETURN(const int64_t seconds, base::ParseInteger(value, kAnyInteger));
  settings.*kMember = absl::Seconds(seconds);
  return absl::OkStatus();
}

// Every other value is off.
absl::Status ReadPushIngest(std::string_view value, StudioSettings& settings) {
  if (value.empty()) return absl::OkStatus();
  settings.push_ingest_enabled = base::ParseFlag(value).value_or(false);
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

using S = StudioSettings;
using Row = base::VariableRow<S>;
constexpr std::array kRows = {
    Row{"RELAYNA_STUDIO_REDIS_URL", base::ReadText<&S::redis_url>},
    Row{"RELAYNA_STUDIO_KEY_LAYOUT", store::ReadKeyLayout<S, &S::key_layout>},
    Row{"RELAYNA_STUDIO_CHANNELS", store::ReadChannelKind<S, &S::channels>},
    Row{"RELAYNA_STUDIO_REGISTRY_PREFIX", base::ReadText<&S::registry_prefix>},
    Row{"RELAYNA_STUDIO_CAPABILITY_REFRESH_ALLOWED_HOSTS", ReadAllowedHosts},
    Row{"RELAYNA_STUDIO_CAPABILITY_REFRESH_ALLOWED_NETWORKS", ReadAllowedNetworks},
    Row{"RELAYNA_STUDIO_FEDERATION_TIMEOUT_SECONDS", base::ReadSeconds<&S::federation_timeout>},
    Row{"RELAYNA_STUDIO_EVENT_STORE_PREFIX", base::ReadText<&S::event_store_prefix>},
    Row{"RELAYNA_STUDIO_EVENT_STORE_TTL_SECONDS",
        base::ReadOptionalInteger<&S::event_store_ttl_seconds, kAnyInteger>},
    Row{"RELAYNA_STUDIO_EVENT_HISTORY_MAXLEN",
        base::ReadInteger<&S::event_history_maxlen, kAnyInteger>},
    Row{"RELAYNA_STUDIO_PUSH_INGEST_ENABLED", ReadPushIngest},
    Row{"RELAYNA_STUDIO_PULL_SYNC_INTERVAL_SECONDS",
        base::ReadOptionalSeconds<&S::pull_sync_interval>},
    Row{"RELAYNA_STUDIO_HEALTH_STORE_PREFIX", base::ReadText<&S::health_store_prefix>},
    Row{"RELAYNA_STUDIO_HEALTH_REFRESH_INTERVAL_SECONDS",
        base::ReadOptionalSeconds<&S::health_refresh_interval>},
    Row{"RELAYNA_STUDIO_CAPABILITY_STALE_AFTER_SECONDS", ReadAge<&S::capability_stale_after>},
    Row{"RELAYNA_STUDIO_OBSERVATION_STALE_AFTER_SECONDS", ReadAge<&S::observation_stale_after>},
    Row{"RELAYNA_STUDIO_WORKER_HEARTBEAT_STALE_AFTER_SECONDS",
        ReadAge<&S::worker_heartbeat_stale_after>},
    Row{"RELAYNA_STUDIO_TASK_SEARCH_INDEX_PREFIX", base::ReadText<&S::task_search_index_prefix>},
    Row{"RELAYNA_STUDIO_TASK_INDEX_TTL_SECONDS",
        base::ReadInteger<&S::task_index_ttl_seconds, kAnyInteger>},
    Row{"RELAYNA_STUDIO_RETENTION_PRUNE_INTERVAL_SECONDS",
        base::ReadOptionalSeconds<&S::retention_prune_interval>},
};

}  // namespace

absl::StatusOr<StudioSettings> ReadStudioSettings(base::Variables variables) {
  absl::StatusOr<StudioSettings> settings = base::ReadVariables<StudioSettings>(kRows, variables);
  if (!settings.ok()) return python::ValueError(base::ToStd(settings.status().message()));
  return settings;
}

}  // namespace redouble::inline v0_1::studio
