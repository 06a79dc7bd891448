#include "redouble/core/orchestrator/app/settings.h"

#include <array>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/orchestrator/document_reader.h"

namespace redouble::inline v0_1::orchestrator {
namespace {

using S = EngineSettings;
using base::ReadFlag;
using base::ReadInteger;
using base::ReadOptionalInteger;
using base::ReadOptionalSeconds;
using base::ReadSeconds;
using base::ReadText;
using base::ToAbsl;

absl::Status ReadTokenIds(std::string_view value, S& settings) {
  if (value == "path") {
    settings.token_ids = TokenIdForm::kPath;
  } else if (value.empty() || value == "hashed") {
    settings.token_ids = TokenIdForm::kHashed;
  } else {
    return absl::InvalidArgumentError(
        absl::StrCat("expected hashed or path, got '", ToAbsl(value), "'"));
  }
  return absl::OkStatus();
}

absl::Status ReadInstance(std::string_view value, S& settings) {
  if (!value.empty() && !IsId(value)) {
    return absl::InvalidArgumentError(
        absl::StrCat("expected an id of letters, digits, _ and -, got '", ToAbsl(value), "'"));
  }
  return ReadText<&S::instance>(value, settings);
}

absl::Status ReadQueueShards(std::string_view value, S& settings) {
  S read;
  REDOUBLE_RETURN_IF_ERROR((ReadInteger<&S::queue_shards, 1>(value, read)));
  if (read.queue_shards > kMaxQueueShards) {
    return absl::InvalidArgumentError(
        absl::StrCat("expected at most ", kMaxQueueShards, ", got '", ToAbsl(value), "'"));
  }
  settings.queue_shards = read.queue_shards;
  return absl::OkStatus();
}

template <bool Hardening::*kOption>
absl::Status ReadHardening(std::string_view value, S& settings) {
  return ReadFlag<kOption>(value, settings.hardening);
}

using Row = base::VariableRow<S>;
constexpr std::array kRows = {
    Row{"ORCHESTRATOR_REDIS_URL", ReadText<&S::redis_url>},
    Row{"ORCHESTRATOR_KEY_LAYOUT", store::ReadKeyLayout<S, &S::key_layout>},
    Row{"ORCHESTRATOR_CHANNELS", store::ReadChannelKind<S, &S::channels>},
    Row{"ORCHESTRATOR_QUEUE_SHARDS", ReadQueueShards},
    Row{"ORCHESTRATOR_TOKEN_IDS", ReadTokenIds},
    Row{"ORCHESTRATOR_RUN_TTL_SECONDS", ReadSeconds<&S::run_ttl>},
    Row{"ORCHESTRATOR_INSTANCE", ReadInstance},
    Row{"ORCHESTRATOR_BLOCK_SECONDS", ReadOptionalSeconds<&S::block>},
    Row{"ORCHESTRATOR_STREAM_MAX_LENGTH", ReadOptionalInteger<&S::stream_max_length>},
    Row{"ORCHESTRATOR_WORKER_GROUP", ReadText<&S::worker_group>},
    Row{"ORCHESTRATOR_WORKER_MIN_IDLE_SECONDS", ReadSeconds<&S::worker_min_idle>},
    Row{"ORCHESTRATOR_WORKER_MAX_DELIVERIES", ReadInteger<&S::worker_max_deliveries>},
    Row{"ORCHESTRATOR_WORKER_RECLAIM_COUNT", ReadInteger<&S::worker_reclaim_count>},
    Row{"ORCHESTRATOR_WORKER_KEEP_CLAIMS", ReadFlag<&S::worker_keep_claims>},
    Row{"ORCHESTRATOR_WORKER_DELETE_ACKNOWLEDGED", ReadFlag<&S::worker_delete_acknowledged>},
    Row{"ORCHESTRATOR_SERVICE_INTERVAL_SECONDS", ReadSeconds<&S::service_interval>},
    Row{"ORCHESTRATOR_SERVICE_LEASE_SECONDS", ReadSeconds<&S::service_lease>},
    Row{"ORCHESTRATOR_RECOVER_AFTER_SECONDS", ReadSeconds<&S::recover_after>},
    Row{"ORCHESTRATOR_STUCK_AFTER_SECONDS", ReadOptionalSeconds<&S::stuck_after>},
    Row{"ORCHESTRATOR_FAIL_STUCK_RUNS", ReadFlag<&S::fail_stuck_runs>},
    Row{"ORCHESTRATOR_STORE_OUTPUTS", ReadFlag<&S::store_outputs>},
    Row{"ORCHESTRATOR_RELIABLE_POP", ReadHardening<&Hardening::reliable_pop>},
    Row{"ORCHESTRATOR_EXTEND_ON_COMMIT", ReadHardening<&Hardening::extend_on_commit>},
    Row{"ORCHESTRATOR_ATOMIC_HOPS", ReadHardening<&Hardening::atomic_hops>},
    Row{"ORCHESTRATOR_KEEP_DECISION_DETAILS", ReadHardening<&Hardening::keep_decision_details>},
};

}  // namespace

absl::StatusOr<EngineSettings> ReadEngineSettings(base::Variables variables) {
  return base::ReadVariables<EngineSettings>(kRows, variables);
}

}  // namespace redouble::inline v0_1::orchestrator
