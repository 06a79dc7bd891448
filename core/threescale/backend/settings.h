// BackendSettings: the settings of a 3scale backend, with the names and defaults of the original.
//
// Fill in the members, or read them from variables as the original reads its environment:
//
//   const std::pair<std::string_view, std::string_view> variables[] = {
//       {"CONFIG_REDIS_PROXY", "redis://storage:6379/0"},
//       {"CONFIG_MASTER_SERVICE_ID", "1"}};
//   absl::StatusOr<BackendSettings> settings = ReadBackendSettings(variables);
//
// Thread-safety: plain values and a pure function.
// Source: docs/systems/threescale.md 1.3.
#ifndef REDOUBLE_CORE_THREESCALE_BACKEND_SETTINGS_H_
#define REDOUBLE_CORE_THREESCALE_BACKEND_SETTINGS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/core/base/settings/variables.h"
#include "redouble/core/store/keyspace/key_layout.h"
#include "redouble/core/threescale/hardening.h"
#include "redouble/core/threescale/notify/notifier.h"
#include "redouble/core/threescale/text/periods.h"

namespace redouble::inline v0_1::threescale {

// How to reach one Redis, for the program that connects the store.
struct RedisSettings {
  // "host:port", a URL, or with sentinels the name of the master.
  std::string server = "localhost:6379";
  std::string username;
  std::string password;
  bool ssl = false;
  std::string ca_file;
  std::string certificate;
  std::string private_key;
  std::vector<std::string> sentinels;  // "host:port"; empty: no sentinels.
  std::string sentinel_username;
  std::string sentinel_password;
  std::string role = "master";
  absl::Duration connect_timeout = absl::Seconds(5);
  absl::Duration read_timeout = absl::Seconds(3);
  absl::Duration write_timeout = absl::Seconds(3);
  int64_t max_connections = 10;

  friend bool operator==(const RedisSettings&, const RedisSettings&) = default;
};

struct BackendSettings {
  RedisSettings storage = {};
  RedisSettings queues = {};
  // The service on which notifications are counted; nullopt: there are none.
  std::optional<std::string> master_service_id = std::nullopt;
  std::string transactions_metric = NotifierOptions().transactions_metric;
  std::string authorizations_metric = NotifierOptions().authorizations_metric;
  int64_t notification_batch = NotifierOptions().batch_size;
  // A part of the referrer is enough to match a filter.
  bool legacy_referrer_filters = false;
  // The URL that is called for events, and its secret, for the program's hook. Empty: no ping.
  std::string events_hook;
  std::string events_hook_shared_secret;

  // What the original does not set by variables.
  // All processes that share a Redis must have the same layout.
  store::KeyLayout key_layout = store::KeyLayout::kDocumented;
  StampFormat stamp_format = StampFormat::kFixedWidth;
  // Whether reads are cached for up to 60 s, as in the original (4.24).
  bool read_cache = false;
  Hardening hardening = {};
};

// Returns the defaults, changed by the variables CONFIG_REDIS_* (storage), CONFIG_QUEUES_* and
// CONFIG_*. White space around a value is removed. A blank value means the default; a blank master
// service, hook or sentinel list is off. A flag is on for 1, true and yes, in any case, and
// otherwise off. Lists are separated by commas. Other variables are ignored; of a repeated one the
// last counts.
//
// Errors: InvalidArgument, with the name, for a value that is not a number, and for a timeout, a
// number of connections or a batch that is not positive.
absl::StatusOr<BackendSettings> ReadBackendSettings(base::Variables variables);

}  // namespace redouble::inline v0_1::threescale

#endif  // REDOUBLE_CORE_THREESCALE_BACKEND_SETTINGS_H_
