#include "redouble/core/threescale/backend/settings.h"

#include <array>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::inline v0_1::threescale {
namespace {

using R = RedisSettings;
using S = BackendSettings;
using base::ReadInteger;
using base::ReadSeconds;
using base::ReadText;
using base::ToAbsl;

// On for 1, true and yes, and otherwise off, so that no value is refused (1.3).
template <typename Settings, bool Settings::*kMember>
absl::Status ReadOn(std::string_view value, Settings& settings) {
  if (value.empty()) return absl::OkStatus();
  const std::string lower = absl::AsciiStrToLower(ToAbsl(value));
  settings.*kMember = lower == "1" || lower == "true" || lower == "yes";
  return absl::OkStatus();
}

absl::Status ReadSentinels(std::string_view value, R& settings) {
  if (value.empty()) return absl::OkStatus();
  settings.sentinels.clear();
  for (const absl::string_view host : absl::StrSplit(ToAbsl(value), ',')) {
    const absl::string_view stripped = absl::StripAsciiWhitespace(host);
    if (!stripped.empty()) settings.sentinels.emplace_back(stripped);
  }
  return absl::OkStatus();
}

// The names follow CONFIG_REDIS_ for the storage, and CONFIG_QUEUES_ for the queues.
using RedisRow = base::VariableRow<R>;
constexpr std::array kRedisRows = {
    // The storage has a proxy, the queues a master.
    RedisRow{"PROXY", ReadText<&R::server>},
    RedisRow{"MASTER_NAME", ReadText<&R::server>},
    RedisRow{"USERNAME", ReadText<&R::username>},
    RedisRow{"PASSWORD", ReadText<&R::password>},
    RedisRow{"SSL", ReadOn<R, &R::ssl>},
    RedisRow{"CA_FILE", ReadText<&R::ca_file>},
    RedisRow{"CERT", ReadText<&R::certificate>},
    RedisRow{"PRIVATE_KEY", ReadText<&R::private_key>},
    RedisRow{"SENTINEL_HOSTS", ReadSentinels},
    RedisRow{"SENTINEL_USERNAME", ReadText<&R::sentinel_username>},
    RedisRow{"SENTINEL_PASSWORD", ReadText<&R::sentinel_password>},
    RedisRow{"SENTINEL_ROLE", ReadText<&R::role>},
    RedisRow{"CONNECT_TIMEOUT", ReadSeconds<&R::connect_timeout>},
    RedisRow{"READ_TIMEOUT", ReadSeconds<&R::read_timeout>},
    RedisRow{"WRITE_TIMEOUT", ReadSeconds<&R::write_timeout>},
    RedisRow{"MAX_CONNECTIONS", ReadInteger<&R::max_connections>},
};

using Row = base::VariableRow<S>;
constexpr std::array kRows = {
    Row{"CONFIG_MASTER_SERVICE_ID", ReadText<&S::master_service_id>},
    Row{"CONFIG_MASTER_METRICS_TRANSACTIONS", ReadText<&S::transactions_metric>},
    Row{"CONFIG_MASTER_METRICS_TRANSACTIONS_AUTHORIZE", ReadText<&S::authorizations_metric>},
    Row{"CONFIG_NOTIFICATION_BATCH", ReadInteger<&S::notification_batch>},
    Row{"CONFIG_LEGACY_REFERRER_FILTERS", ReadOn<S, &S::legacy_referrer_filters>},
    Row{"CONFIG_EVENTS_HOOK", ReadText<&S::events_hook>},
    Row{"CONFIG_EVENTS_HOOK_SHARED_SECRET", ReadText<&S::events_hook_shared_secret>},
    Row{"CONFIG_KEY_LAYOUT", store::ReadKeyLayout<S, &S::key_layout>},
};

// Reads one Redis from the variables whose names begin with `prefix`.
absl::StatusOr<R> ReadRedis(std::string_view prefix, base::Variables variables) {
  std::vector<std::pair<std::string_view, std::string_view>> own;
  for (const auto& [name, value] : variables) {
    if (name.starts_with(prefix)) own.emplace_back(name.substr(prefix.size()), value);
  }
  absl::StatusOr<R> settings = base::ReadVariables<R>(kRedisRows, own);
  if (settings.ok()) return settings;
  // The message begins with the name without the prefix.
  return absl::InvalidArgumentError(absl::StrCat(ToAbsl(prefix), settings.status().message()));
}

}  // namespace

absl::StatusOr<BackendSettings> ReadBackendSettings(base::Variables variables) {
  REDOUBLE_ASSIGN_OR_RETURN(BackendSettings settings, base::ReadVariables<S>(kRows, variables));
  REDOUBLE_ASSIGN_OR_RETURN(settings.storage, ReadRedis("CONFIG_REDIS_", variables));
  REDOUBLE_ASSIGN_OR_RETURN(settings.queues, ReadRedis("CONFIG_QUEUES_", variables));
  return settings;
}

}  // namespace redouble::inline v0_1::threescale
