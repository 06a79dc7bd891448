// StudioSettings: the settings of one Studio, with the names and defaults of the documented system.
//
// Fill in the members, or read them from variables as the original reads its environment:
//
//   const std::pair<std::string_view, std::string_view> variables[] = {
//       {"RELAYNA_STUDIO_REGISTRY_PREFIX", "team-a:services"},
//       {"RELAYNA_STUDIO_PULL_SYNC_INTERVAL_SECONDS", "off"}};
//   absl::StatusOr<StudioSettings> settings = ReadStudioSettings(variables);
//
// Thread-safety: plain values and a pure function.
// Source: docs/systems/studio.md 1.1.
#ifndef REDOUBLE_CORE_STUDIO_APP_SETTINGS_H_
#define REDOUBLE_CORE_STUDIO_APP_SETTINGS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/core/base/settings/variables.h"
#include "redouble/core/store/pubsub/channel.h"
#include "redouble/core/studio/hardening.h"
#include "redouble/core/studio/ingest/ingest_service.h"
#include "redouble/core/studio/ingest/loops.h"
#include "redouble/core/studio/keys.h"
#include "redouble/core/studio/registry/url.h"

namespace redouble::inline v0_1::studio {

struct StudioSettings {
  // The server, for the program that connects the store. The original requires it.
  std::string redis_url;
  // A deployment keeps it.
  store::KeyLayout key_layout = store::KeyLayout::kDocumented;
  // The channels on which events are published.
  store::ChannelKind channels = store::ChannelKind::kDocumented;
  std::string registry_prefix = std::string(kDefaultRegistryPrefix);
  // The URLs that Studio may call.
  OutboundPolicyOptions outbound = {};
  // The timeout of one HTTP call to a service, for the program's fetchers.
  absl::Duration federation_timeout = absl::Seconds(5);
  std::string event_store_prefix = std::string(kDefaultEventPrefix);
  // Seconds. nullopt and 0: no TTL.
  std::optional<int64_t> event_store_ttl_seconds = absl::ToInt64Seconds(kDefaultEventTtl);
  int64_t event_history_maxlen = 5000;
  // Whether Studio::Push accepts events.
  bool push_ingest_enabled = false;
  // The pauses of the loops. nullopt: the loop does not run.
  std::optional<absl::Duration> pull_sync_interval = kDefaultPullSyncInterval;
  std::string health_store_prefix = std::string(kDefaultHealthPrefix);
  std::optional<absl::Duration> health_refresh_interval = kDefaultHealthInterval;
  absl::Duration capability_stale_after = HealthLimits().capability_stale_after;
  absl::Duration observation_stale_after = HealthLimits().observation_stale_after;
  absl::Duration worker_heartbeat_stale_after = HealthLimits().worker_heartbeat_stale_after;
  std::string task_search_index_prefix = std::string(kDefaultSearchPrefix);
  int64_t task_index_ttl_seconds = 86400;
  std::optional<absl::Duration> retention_prune_interval = kDefaultRetentionInterval;

  // What the original does not set by variables.
  PullSyncOptions pull_sync = {};
  // The zone of search timestamps without an offset (S7).
  absl::TimeZone local_zone = absl::UTCTimeZone();
  Hardening hardening = {};
};

// Returns the defaults, changed by the variables whose names begin with RELAYNA_STUDIO_, by the
// rules of base::ReadVariables. A TTL and an interval can be off. Lists are separated by commas.
//
// Errors: InvalidArgument (ValueError) for a value that is not a number, and for an interval or a
// timeout that is not positive, which the original accepts.
absl::StatusOr<StudioSettings> ReadStudioSettings(base::Variables variables);

}  // namespace redouble::inline v0_1::studio

#endif  // REDOUBLE_CORE_STUDIO_APP_SETTINGS_H_
