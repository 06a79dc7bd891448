#include "redouble/core/relayna/sdk/settings.h"

#include <array>
#include <string_view>

#include "absl/status/status.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/python/error.h"

namespace redouble::inline v0_1::relayna {
namespace {

using S = SdkSettings;
using base::kAnyInteger;
using base::ReadInteger;
using base::ReadOptionalInteger;
using base::ReadText;

template <auto kMember>
absl::Status ReadOptionalText(std::string_view value, S& settings) {
  settings.*kMember = std::nullopt;
  if (!base::IsOff(value)) settings.*kMember = std::string(value);
  return absl::OkStatus();
}

using Row = base::VariableRow<S>;
constexpr std::array kRows = {
    Row{"RELAYNA_REDIS_URL", ReadText<&S::redis_url>},
    Row{"RELAYNA_STORE_PREFIX", ReadText<&S::store_prefix>},
    Row{"RELAYNA_STORE_TTL_SECONDS", ReadOptionalInteger<&S::store_ttl_seconds, kAnyInteger>},
    Row{"RELAYNA_STORE_HISTORY_MAXLEN", ReadInteger<&S::store_history_maxlen, kAnyInteger>},
    Row{"RELAYNA_OBSERVATION_STORE_PREFIX", ReadOptionalText<&S::observation_store_prefix>},
    Row{"RELAYNA_OBSERVATION_STORE_TTL_SECONDS",
        ReadOptionalInteger<&S::observation_store_ttl_seconds, kAnyInteger>},
    Row{"RELAYNA_OBSERVATION_HISTORY_MAXLEN",
        ReadInteger<&S::observation_history_maxlen, kAnyInteger>},
    Row{"RELAYNA_SERVICE_EVENT_STORE_PREFIX", ReadOptionalText<&S::service_event_store_prefix>},
    Row{"RELAYNA_SERVICE_EVENT_STORE_TTL_SECONDS",
        ReadOptionalInteger<&S::service_event_store_ttl_seconds, kAnyInteger>},
    Row{"RELAYNA_SERVICE_EVENT_FEED_MAXLEN",
        ReadInteger<&S::service_event_feed_maxlen, kAnyInteger>},
    Row{"RELAYNA_DLQ_STORE_PREFIX", ReadOptionalText<&S::dlq_store_prefix>},
    Row{"RELAYNA_DLQ_STORE_TTL_SECONDS",
        ReadOptionalInteger<&S::dlq_store_ttl_seconds, kAnyInteger>},
    Row{"RELAYNA_WORKFLOW_PREFIX", ReadText<&S::workflow_prefix>},
    Row{"RELAYNA_WORKFLOW_TTL_SECONDS", ReadOptionalInteger<&S::workflow_ttl_seconds, kAnyInteger>},
    Row{"RELAYNA_KEY_LAYOUT", store::ReadKeyLayout<S, &S::key_layout>},
    Row{"RELAYNA_CHANNELS", store::ReadChannelKind<S, &S::channels>},
};

}  // namespace

std::optional<int64_t> SdkSettings::observation_ttl() const {
  return observation_store_ttl_seconds ? observation_store_ttl_seconds : store_ttl_seconds;
}

std::optional<int64_t> SdkSettings::feed_ttl() const {
  return service_event_store_ttl_seconds ? service_event_store_ttl_seconds : store_ttl_seconds;
}

absl::StatusOr<SdkSettings> ReadSdkSettings(base::Variables variables) {
  absl::StatusOr<SdkSettings> settings = base::ReadVariables<SdkSettings>(kRows, variables);
  if (!settings.ok()) return python::ValueError(base::ToStd(settings.status().message()));
  return settings;
}

}  // namespace redouble::inline v0_1::relayna
