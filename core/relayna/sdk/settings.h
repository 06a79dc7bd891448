// SdkSettings: the settings of the Relayna SDK's stores, with the names and defaults of its
// lifespan, the start-up function of the SDK's web application.
//
// Fill in the members, or read them from variables:
//
//   const std::pair<std::string_view, std::string_view> variables[] = {
//       {"RELAYNA_STORE_TTL_SECONDS", "3600"},
//       {"RELAYNA_DLQ_STORE_PREFIX", "relayna"}};
//   absl::StatusOr<SdkSettings> settings = ReadSdkSettings(variables);
//
// Thread-safety: plain values and a pure function.
// Source: docs/systems/relayna.md 1.1, D2, D9.
#ifndef REDOUBLE_CORE_RELAYNA_SDK_SETTINGS_H_
#define REDOUBLE_CORE_RELAYNA_SDK_SETTINGS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "redouble/core/base/settings/variables.h"
#include "redouble/core/relayna/hardening.h"
#include "redouble/core/relayna/keys.h"
#include "redouble/core/store/pubsub/channel.h"

namespace redouble::inline v0_1::relayna {

struct SdkSettings {
  // The server, for the program that connects the store.
  std::string redis_url;
  std::string store_prefix = std::string(kRelaynaPrefix);
  // Seconds. nullopt and 0: no TTL.
  std::optional<int64_t> store_ttl_seconds = kDefaultTtlSeconds;
  int64_t store_history_maxlen = 50;
  // nullopt: no observation store.
  std::optional<std::string> observation_store_prefix = std::string(kObservationPrefix);
  // nullopt: the TTL of the status store, so that it cannot be turned off alone.
  std::optional<int64_t> observation_store_ttl_seconds = std::nullopt;
  int64_t observation_history_maxlen = 500;
  // nullopt: no feed.
  std::optional<std::string> service_event_store_prefix = std::string(kFeedPrefix);
  // nullopt: the TTL of the status store.
  std::optional<int64_t> service_event_store_ttl_seconds = std::nullopt;
  int64_t service_event_feed_maxlen = 5000;
  // nullopt: no DLQ store.
  std::optional<std::string> dlq_store_prefix = std::nullopt;
  // nullopt: no TTL. It is not inherited.
  std::optional<int64_t> dlq_store_ttl_seconds = std::nullopt;

  // What the lifespan does not set. nullopt: no TTL.
  std::string workflow_prefix = std::string(kRelaynaPrefix);
  std::optional<int64_t> workflow_ttl_seconds = kDefaultTtlSeconds;
  Hardening hardening = {};
  // All processes that share a Redis must have the same layout.
  store::KeyLayout key_layout = store::KeyLayout::kDocumented;
  // The channels on which status events are published, and which EventStream follows.
  store::ChannelKind channels = store::ChannelKind::kDocumented;

  // The TTLs after inheritance.
  std::optional<int64_t> observation_ttl() const;
  std::optional<int64_t> feed_ttl() const;
};

// Returns the defaults, changed by the variables whose names begin with RELAYNA_; the rest is the
// name of the member in upper case. White space around a value is removed. "none", "null", "off"
// and a blank value are Python's None for what can be None: a TTL, and the prefix of a store other
// than the status store. For other settings a blank value means the default. Other variables are
// ignored; of a repeated one the last counts.
//
// Errors: InvalidArgument (ValueError), with the name, for a value that is not a number.
absl::StatusOr<SdkSettings> ReadSdkSettings(base::Variables variables);

}  // namespace redouble::inline v0_1::relayna

#endif  // REDOUBLE_CORE_RELAYNA_SDK_SETTINGS_H_
