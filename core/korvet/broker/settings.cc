#include "redouble/core/korvet/broker/settings.h"

#include <array>
#include <limits>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/korvet/errors.h"

namespace redouble::inline v0_1::korvet {
namespace {

using S = BrokerSettings;
using base::ReadInteger;
using base::ReadText;
using base::ToAbsl;
using base::ToStd;

absl::Status Expected(std::string_view what, std::string_view value) {
  return absl::InvalidArgumentError(
      absl::StrCat("expected ", ToAbsl(what), ", got '", ToAbsl(value), "'"));
}

// Reads a member of the consumer's options, in milliseconds.
template <auto kMember, int64_t kLeast>
absl::Status ReadMillis(std::string_view value, S& settings) {
  if (value.empty()) return absl::OkStatus();
  REDOUBLE_ASSIGN_OR_RETURN(const int64_t millis, base::ParseInteger(value, kLeast));
  settings.consumer.*kMember = absl::Milliseconds(millis);
  return absl::OkStatus();
}

absl::Status ReadRetentionInterval(std::string_view value, S& settings) {
  settings.retention_interval = std::nullopt;
  if (base::IsOff(value) || value == "-1") return absl::OkStatus();
  REDOUBLE_ASSIGN_OR_RETURN(const int64_t millis, base::ParseInteger(value, 1));
  settings.retention_interval = absl::Milliseconds(millis);
  return absl::OkStatus();
}

absl::Status ReadNumPartitions(std::string_view value, S& settings) {
  if (value.empty()) return absl::OkStatus();
  constexpr int32_t kMost = std::numeric_limits<int32_t>::max();
  REDOUBLE_ASSIGN_OR_RETURN(const int64_t number, base::ParseInteger(value, 1));
  if (number > kMost) return Expected(absl::StrCat("an integer of at most ", kMost), value);
  settings.num_partitions = static_cast<int32_t>(number);
  return absl::OkStatus();
}

absl::Status ReadAcks(std::string_view value, S& settings) {
  if (value.empty()) return absl::OkStatus();
  const absl::StatusOr<int64_t> acks = base::ParseInteger(value == "all" ? "-1" : value, -1);
  if (!acks.ok() || *acks > 1) return Expected("all, -1, 0 or 1", value);
  settings.producer.acks = static_cast<int>(*acks);
  return absl::OkStatus();
}

absl::Status ReadAssignor(std::string_view value, S& settings) {
  if (value.empty()) return absl::OkStatus();
  const std::optional<Assignor> assignor = FindAssignor(value);
  if (!assignor) return Expected("the name of an assignor", value);
  settings.consumer.assignor = *assignor;
  return absl::OkStatus();
}

absl::Status ReadOffsetReset(std::string_view value, S& settings) {
  using Kind = GroupPosition::Kind;
  if (value.empty()) return absl::OkStatus();
  if (value != "earliest" && value != "latest") return Expected("earliest or latest", value);
  settings.consumer.group.start.kind = value == "earliest" ? Kind::kEarliest : Kind::kLatest;
  return absl::OkStatus();
}

absl::Status ReadMaxBytes(std::string_view value, S& settings) {
  return ReadInteger<&ProducerOptions::max_record_bytes, 0>(value, settings.producer);
}

absl::Status ReadClientId(std::string_view value, S& settings) {
  return ReadText<&ConsumerOptions::client_id>(value, settings.consumer);
}

absl::Status ReadMaxRecords(std::string_view value, S& settings) {
  return ReadInteger<&ConsumerOptions::max_records>(value, settings.consumer);
}

using Row = base::VariableRow<S>;
constexpr std::array kRows = {
    Row{"KORVET_REDIS_URL", ReadText<&S::redis_url>},
    Row{"KORVET_KEYSPACE", ReadText<&S::keyspace>},
    Row{"KORVET_KEY_LAYOUT", store::ReadKeyLayout<S, &S::key_layout>},
    Row{"KORVET_NUM_PARTITIONS", ReadNumPartitions},
    Row{"KORVET_ACKS", ReadAcks},
    Row{"KORVET_MESSAGE_MAX_BYTES", ReadMaxBytes},
    Row{"KORVET_CLIENT_ID", ReadClientId},
    Row{"KORVET_MAX_POLL_RECORDS", ReadMaxRecords},
    Row{"KORVET_FETCH_MAX_WAIT_MS", ReadMillis<&ConsumerOptions::max_wait, 1>},
    Row{"KORVET_SESSION_TIMEOUT_MS", ReadMillis<&ConsumerOptions::session_timeout, 1>},
    Row{"KORVET_HEARTBEAT_INTERVAL_MS", ReadMillis<&ConsumerOptions::heartbeat_interval, 0>},
    Row{"KORVET_CLAIM_IDLE_MS", ReadMillis<&ConsumerOptions::claim_idle, 0>},
    Row{"KORVET_METADATA_MAX_AGE_MS", ReadMillis<&ConsumerOptions::metadata_max_age, 0>},
    Row{"KORVET_PARTITION_ASSIGNMENT_STRATEGY", ReadAssignor},
    Row{"KORVET_AUTO_OFFSET_RESET", ReadOffsetReset},
    Row{"KORVET_LOG_RETENTION_CHECK_INTERVAL_MS", ReadRetentionInterval},
};

}  // namespace

absl::StatusOr<BrokerSettings> ReadBrokerSettings(base::Variables variables) {
  absl::StatusOr<BrokerSettings> settings = base::ReadVariables<BrokerSettings>(kRows, variables);
  if (!settings.ok()) {
    return MakeError(ErrorCode::kInvalidConfig, ToStd(settings.status().message()));
  }
  if (settings->consumer.heartbeat_interval >= settings->consumer.session_timeout) {
    return MakeError(ErrorCode::kInvalidConfig,
                     "KORVET_HEARTBEAT_INTERVAL_MS must be below KORVET_SESSION_TIMEOUT_MS");
  }
  return settings;
}

}  // namespace redouble::inline v0_1::korvet
