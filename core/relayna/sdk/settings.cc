#include "redouble/core/relayna/sdk/settings.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/python/error.h"
#include "redouble/core/python/text.h"

namespace redouble::relayna {
namespace {

using base::ToAbsl;

constexpr std::string_view kPrefix = "RELAYNA_";

// Reads a stripped value into a member. Returns false if it is not a number.
using Reader = bool (*)(std::string_view value, SdkSettings& settings);

bool IsNone(std::string_view value) {
  const std::string lower = python::Lower(value);
  return lower.empty() || lower == "none" || lower == "null" || lower == "off";
}

template <auto kMember>
bool ReadText(std::string_view value, SdkSettings& settings) {
  if (!value.empty()) settings.*kMember = std::string(value);
  return true;
}

template <auto kMember>
bool ReadOptionalText(std::string_view value, SdkSettings& settings) {
  settings.*kMember = std::nullopt;
  if (!IsNone(value)) settings.*kMember = std::string(value);
  return true;
}

template <auto kMember>
bool ReadInteger(std::string_view value, SdkSettings& settings) {
  int64_t number = 0;
  if (value.empty()) return true;
  if (!absl::SimpleAtoi(ToAbsl(value), &number)) return false;
  settings.*kMember = number;
  return true;
}

template <auto kMember>
bool ReadOptionalInteger(std::string_view value, SdkSettings& settings) {
  settings.*kMember = std::nullopt;
  return IsNone(value) || ReadInteger<kMember>(value, settings);
}

struct Row {
  std::string_view name;
  Reader read;
};

constexpr Row kRows[] = {
    {"REDIS_URL", ReadText<&SdkSettings::redis_url>},
    {"STORE_PREFIX", ReadText<&SdkSettings::store_prefix>},
    {"STORE_TTL_SECONDS", ReadOptionalInteger<&SdkSettings::store_ttl_seconds>},
    {"STORE_HISTORY_MAXLEN", ReadInteger<&SdkSettings::store_history_maxlen>},
    {"OBSERVATION_STORE_PREFIX", ReadOptionalText<&SdkSettings::observation_store_prefix>},
    {"OBSERVATION_STORE_TTL_SECONDS",
     ReadOptionalInteger<&SdkSettings::observation_store_ttl_seconds>},
    {"OBSERVATION_HISTORY_MAXLEN", ReadInteger<&SdkSettings::observation_history_maxlen>},
    {"SERVICE_EVENT_STORE_PREFIX", ReadOptionalText<&SdkSettings::service_event_store_prefix>},
    {"SERVICE_EVENT_STORE_TTL_SECONDS",
     ReadOptionalInteger<&SdkSettings::service_event_store_ttl_seconds>},
    {"SERVICE_EVENT_FEED_MAXLEN", ReadInteger<&SdkSettings::service_event_feed_maxlen>},
    {"DLQ_STORE_PREFIX", ReadOptionalText<&SdkSettings::dlq_store_prefix>},
    {"DLQ_STORE_TTL_SECONDS", ReadOptionalInteger<&SdkSettings::dlq_store_ttl_seconds>},
    {"WORKFLOW_PREFIX", ReadText<&SdkSettings::workflow_prefix>},
    {"WORKFLOW_TTL_SECONDS", ReadOptionalInteger<&SdkSettings::workflow_ttl_seconds>},
};

}  // namespace

std::optional<int64_t> SdkSettings::observation_ttl() const {
  return observation_store_ttl_seconds ? observation_store_ttl_seconds : store_ttl_seconds;
}

std::optional<int64_t> SdkSettings::feed_ttl() const {
  return service_event_store_ttl_seconds ? service_event_store_ttl_seconds : store_ttl_seconds;
}

absl::StatusOr<SdkSettings> ReadSdkSettings(Variables variables) {
  SdkSettings settings;
  for (const auto& [name, value] : variables) {
    if (!name.starts_with(kPrefix)) continue;
    const std::string stripped = std::string(python::Strip(value));
    for (const Row& row : kRows) {
      if (name.substr(kPrefix.size()) != row.name || row.read(stripped, settings)) continue;
      return python::ValueError(
          absl::StrCat(ToAbsl(name), ": invalid literal for int() with base 10: '", stripped, "'"));
    }
  }
  return settings;
}

}  // namespace redouble::relayna
