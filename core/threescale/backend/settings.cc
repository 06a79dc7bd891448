#include "redouble/core/threescale/backend/settings.h"

#include <cmath>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"

namespace redouble::threescale {
namespace {

using base::ToAbsl;

absl::Status NotAllowed(std::string_view value) {
  return absl::InvalidArgumentError(
      absl::StrCat("expected a positive number, got \"", ToAbsl(value), "\""));
}

bool IsOn(std::string_view value) {
  const std::string lower = absl::AsciiStrToLower(ToAbsl(value));
  return lower == "1" || lower == "true" || lower == "yes";
}

absl::Status ReadCount(std::string_view value, int64_t& into) {
  int64_t number = 0;
  if (!absl::SimpleAtoi(ToAbsl(value), &number) || number <= 0) return NotAllowed(value);
  into = number;
  return absl::OkStatus();
}

absl::Status ReadSeconds(std::string_view value, absl::Duration& into) {
  double seconds = 0;
  const bool is_number = absl::SimpleAtod(ToAbsl(value), &seconds);
  if (!is_number || !std::isfinite(seconds) || seconds <= 0) return NotAllowed(value);
  into = absl::Seconds(seconds);
  return absl::OkStatus();
}

// Reads a stripped value, which is not blank.
template <typename Settings>
using Reader = absl::Status (*)(std::string_view value, Settings& settings);

template <typename Settings>
struct Row {
  std::string_view name;
  Reader<Settings> read;
};

template <auto kMember, typename Settings>
absl::Status ReadText(std::string_view value, Settings& settings) {
  settings.*kMember = std::string(value);
  return absl::OkStatus();
}
template <auto kMember, typename Settings>
absl::Status ReadFlag(std::string_view value, Settings& settings) {
  settings.*kMember = IsOn(value);
  return absl::OkStatus();
}
template <auto kMember, typename Settings>
absl::Status ReadDuration(std::string_view value, Settings& settings) {
  return ReadSeconds(value, settings.*kMember);
}
template <auto kMember, typename Settings>
absl::Status ReadNumber(std::string_view value, Settings& settings) {
  return ReadCount(value, settings.*kMember);
}

absl::Status ReadSentinels(std::string_view value, RedisSettings& settings) {
  settings.sentinels.clear();
  for (const absl::string_view host : absl::StrSplit(ToAbsl(value), ',')) {
    const absl::string_view stripped = absl::StripAsciiWhitespace(host);
    if (!stripped.empty()) settings.sentinels.emplace_back(stripped);
  }
  return absl::OkStatus();
}

constexpr Row<RedisSettings> kRedisRows[] = {
    // The storage has a proxy, the queues a master.
    {"PROXY", ReadText<&RedisSettings::server>},
    {"MASTER_NAME", ReadText<&RedisSettings::server>},
    {"USERNAME", ReadText<&RedisSettings::username>},
    {"PASSWORD", ReadText<&RedisSettings::password>},
    {"SSL", ReadFlag<&RedisSettings::ssl>},
    {"CA_FILE", ReadText<&RedisSettings::ca_file>},
    {"CERT", ReadText<&RedisSettings::certificate>},
    {"PRIVATE_KEY", ReadText<&RedisSettings::private_key>},
    {"SENTINEL_HOSTS", ReadSentinels},
    {"SENTINEL_USERNAME", ReadText<&RedisSettings::sentinel_username>},
    {"SENTINEL_PASSWORD", ReadText<&RedisSettings::sentinel_password>},
    {"SENTINEL_ROLE", ReadText<&RedisSettings::role>},
    {"CONNECT_TIMEOUT", ReadDuration<&RedisSettings::connect_timeout>},
    {"READ_TIMEOUT", ReadDuration<&RedisSettings::read_timeout>},
    {"WRITE_TIMEOUT", ReadDuration<&RedisSettings::write_timeout>},
    {"MAX_CONNECTIONS", ReadNumber<&RedisSettings::max_connections>},
};

constexpr Row<BackendSettings> kRows[] = {
    {"MASTER_SERVICE_ID", ReadText<&BackendSettings::master_service_id>},
    {"MASTER_METRICS_TRANSACTIONS", ReadText<&BackendSettings::transactions_metric>},
    {"MASTER_METRICS_TRANSACTIONS_AUTHORIZE", ReadText<&BackendSettings::authorizations_metric>},
    {"NOTIFICATION_BATCH", ReadNumber<&BackendSettings::notification_batch>},
    {"LEGACY_REFERRER_FILTERS", ReadFlag<&BackendSettings::legacy_referrer_filters>},
    {"EVENTS_HOOK", ReadText<&BackendSettings::events_hook>},
    {"EVENTS_HOOK_SHARED_SECRET", ReadText<&BackendSettings::events_hook_shared_secret>},
};

// Reads one variable whose name begins with `prefix`. A blank value restores the default.
template <typename Settings>
absl::Status ReadRow(std::span<const Row<Settings>> rows, std::string_view name,
                     std::string_view value, Settings& settings) {
  for (const Row<Settings>& row : rows) {
    if (row.name == name && !value.empty()) return row.read(value, settings);
  }
  return absl::OkStatus();
}

absl::Status ReadVariable(std::string_view name, std::string_view value,
                          BackendSettings& settings) {
  constexpr std::string_view kStorage = "CONFIG_REDIS_";
  constexpr std::string_view kQueues = "CONFIG_QUEUES_";
  constexpr std::string_view kConfig = "CONFIG_";
  if (name.starts_with(kStorage)) {
    return ReadRow<RedisSettings>(kRedisRows, name.substr(kStorage.size()), value,
                                  settings.storage);
  }
  if (name.starts_with(kQueues)) {
    return ReadRow<RedisSettings>(kRedisRows, name.substr(kQueues.size()), value, settings.queues);
  }
  if (!name.starts_with(kConfig)) return absl::OkStatus();
  return ReadRow<BackendSettings>(kRows, name.substr(kConfig.size()), value, settings);
}

}  // namespace

absl::StatusOr<BackendSettings> ReadBackendSettings(Variables variables) {
  BackendSettings settings;
  for (const auto& [name, value] : variables) {
    const absl::string_view stripped = absl::StripAsciiWhitespace(ToAbsl(value));
    const absl::Status read = ReadVariable(name, base::ToStd(stripped), settings);
    if (!read.ok()) {
      return absl::InvalidArgumentError(absl::StrCat(ToAbsl(name), ": ", read.message()));
    }
  }
  return settings;
}

}  // namespace redouble::threescale
