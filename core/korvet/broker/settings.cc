#include "redouble/core/korvet/broker/settings.h"

#include <limits>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/redis_number.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/korvet/errors.h"

namespace redouble::korvet {
namespace {

using base::ToAbsl;
using base::ToStd;

constexpr std::string_view kPrefix = "KORVET_";

// Reads a stripped value, which is not blank, into a member of the settings. Returns false if the
// value is not allowed.
using Reader = bool (*)(std::string_view value, BrokerSettings& settings);

std::optional<int64_t> Integer(std::string_view value, int64_t least,
                               int64_t most = std::numeric_limits<int64_t>::max()) {
  const std::optional<int64_t> number = base::ParseInt64(value);
  return number && *number >= least && *number <= most ? number : std::nullopt;
}

bool ReadMillis(std::string_view value, int64_t least, absl::Duration& into) {
  const std::optional<int64_t> number = Integer(value, least);
  if (number) into = absl::Milliseconds(*number);
  return number.has_value();
}

bool ReadRetentionInterval(std::string_view value, BrokerSettings& settings) {
  const std::string lower = absl::AsciiStrToLower(ToAbsl(value));
  settings.retention_interval = std::nullopt;
  if (lower.empty() || lower == "none" || lower == "null" || lower == "off" || lower == "-1") {
    return true;
  }
  return ReadMillis(value, 1, settings.retention_interval.emplace());
}

bool ReadAssignor(std::string_view value, BrokerSettings& settings) {
  const std::optional<Assignor> assignor = FindAssignor(value);
  if (assignor) settings.consumer.assignor = *assignor;
  return assignor.has_value();
}

bool ReadOffsetReset(std::string_view value, BrokerSettings& settings) {
  using Kind = GroupPosition::Kind;
  if (value != "earliest" && value != "latest") return false;
  settings.consumer.group.start.kind = value == "earliest" ? Kind::kEarliest : Kind::kLatest;
  return true;
}

bool ReadAcks(std::string_view value, BrokerSettings& settings) {
  const std::optional<int64_t> acks = Integer(value == "all" ? "-1" : value, -1, 1);
  if (acks) settings.producer.acks = static_cast<int>(*acks);
  return acks.has_value();
}

struct Row {
  std::string_view name;
  Reader read;
};

constexpr Row kRows[] = {
    {"REDIS_URL",
     [](std::string_view value, BrokerSettings& settings) {
       settings.redis_url = std::string(value);
       return true;
     }},
    {"KEYSPACE",
     [](std::string_view value, BrokerSettings& settings) {
       settings.keyspace = std::string(value);
       return true;
     }},
    {"NUM_PARTITIONS",
     [](std::string_view value, BrokerSettings& settings) {
       const auto number = Integer(value, 1, std::numeric_limits<int32_t>::max());
       if (number) settings.num_partitions = static_cast<int32_t>(*number);
       return number.has_value();
     }},
    {"ACKS", ReadAcks},
    {"MESSAGE_MAX_BYTES",
     [](std::string_view value, BrokerSettings& settings) {
       const auto number = Integer(value, 0);
       if (number) settings.producer.max_record_bytes = *number;
       return number.has_value();
     }},
    {"CLIENT_ID",
     [](std::string_view value, BrokerSettings& settings) {
       settings.consumer.client_id = std::string(value);
       return true;
     }},
    {"MAX_POLL_RECORDS",
     [](std::string_view value, BrokerSettings& settings) {
       const auto number = Integer(value, 1);
       if (number) settings.consumer.max_records = *number;
       return number.has_value();
     }},
    {"FETCH_MAX_WAIT_MS",
     [](std::string_view value, BrokerSettings& settings) {
       return ReadMillis(value, 1, settings.consumer.max_wait.emplace());
     }},
    {"SESSION_TIMEOUT_MS",
     [](std::string_view value, BrokerSettings& settings) {
       return ReadMillis(value, 1, settings.consumer.session_timeout);
     }},
    {"HEARTBEAT_INTERVAL_MS",
     [](std::string_view value, BrokerSettings& settings) {
       return ReadMillis(value, 0, settings.consumer.heartbeat_interval);
     }},
    {"CLAIM_IDLE_MS",
     [](std::string_view value, BrokerSettings& settings) {
       return ReadMillis(value, 0, settings.consumer.claim_idle);
     }},
    {"METADATA_MAX_AGE_MS",
     [](std::string_view value, BrokerSettings& settings) {
       return ReadMillis(value, 0, settings.consumer.metadata_max_age);
     }},
    {"PARTITION_ASSIGNMENT_STRATEGY", ReadAssignor},
    {"AUTO_OFFSET_RESET", ReadOffsetReset},
    {"LOG_RETENTION_CHECK_INTERVAL_MS", ReadRetentionInterval},
};

absl::Status ReadVariable(std::string_view name, std::string_view value, BrokerSettings& settings) {
  if (!name.starts_with(kPrefix)) return absl::OkStatus();
  for (const Row& row : kRows) {
    if (name.substr(kPrefix.size()) != row.name) continue;
    const std::string_view stripped = ToStd(absl::StripAsciiWhitespace(ToAbsl(value)));
    const bool keeps_default = stripped.empty() && row.read != ReadRetentionInterval;
    if (keeps_default || row.read(stripped, settings)) return absl::OkStatus();
    return MakeError(ErrorCode::kInvalidConfig,
                     absl::StrCat(ToAbsl(name), ": \"", ToAbsl(stripped), "\" is not allowed"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<BrokerSettings> ReadBrokerSettings(Variables variables) {
  BrokerSettings settings;
  for (const auto& [name, value] : variables) {
    REDOUBLE_RETURN_IF_ERROR(ReadVariable(name, value, settings));
  }
  if (settings.consumer.heartbeat_interval >= settings.consumer.session_timeout) {
    return MakeError(ErrorCode::kInvalidConfig,
                     "KORVET_HEARTBEAT_INTERVAL_MS must be below KORVET_SESSION_TIMEOUT_MS");
  }
  return settings;
}

}  // namespace redouble::korvet
