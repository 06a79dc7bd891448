// EngineSettings: the settings of one Engine, with their names and defaults.
//
// Fill in the members, or read them from variables:
//
//   const std::pair<std::string_view, std::string_view> variables[] = {
//       {"ORCHESTRATOR_KEY_LAYOUT", "cluster"}, {"ORCHESTRATOR_STUCK_AFTER_SECONDS", "off"}};
//   absl::StatusOr<EngineSettings> settings = ReadEngineSettings(variables);
//
// Thread-safety: plain values and a pure function.
// Source: docs/systems/orchestrator.md 1.5.
#ifndef REDOUBLE_CORE_ORCHESTRATOR_APP_SETTINGS_H_
#define REDOUBLE_CORE_ORCHESTRATOR_APP_SETTINGS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/core/base/settings/variables.h"
#include "redouble/core/orchestrator/app/service.h"
#include "redouble/core/orchestrator/hardening.h"
#include "redouble/core/orchestrator/keys.h"
#include "redouble/core/orchestrator/run/worker.h"
#include "redouble/core/orchestrator/token_ids.h"
#include "redouble/core/store/pubsub/channel.h"

namespace redouble::inline v0_1::orchestrator {

struct EngineSettings {
  // The server, for the program that connects the store.
  std::string redis_url = {};
  // A deployment keeps it.
  store::KeyLayout key_layout = store::KeyLayout::kDocumented;
  // The channels on which events are published.
  store::ChannelKind channels = store::ChannelKind::kDocumented;
  // The shards of the task streams and of the signals; see Keys. At most kMaxQueueShards.
  int64_t queue_shards = 1;
  TokenIdForm token_ids = TokenIdForm::kHashed;
  // How long the keys of a run live.
  absl::Duration run_ttl = RunTtl();
  // Unique for each process: the coordinator's and the service's name.
  std::string instance = "engine-1";
  // How long the coordinator and the workers wait for work. Nullopt: not at all.
  std::optional<absl::Duration> block = std::nullopt;
  // Trims task streams; larger than the largest backlog. Nullopt: no trimming.
  std::optional<int64_t> stream_max_length = std::nullopt;

  // Of each worker; see WorkerOptions.
  std::string worker_group = WorkerOptions().group;
  absl::Duration worker_min_idle = WorkerOptions().min_idle;
  int64_t worker_max_deliveries = WorkerOptions().max_deliveries;
  int64_t worker_reclaim_count = WorkerOptions().reclaim_count;
  bool worker_keep_claims = WorkerOptions().keep_claims;
  bool worker_delete_acknowledged = WorkerOptions().delete_acknowledged;

  // Of the service; see ServiceOptions.
  absl::Duration service_interval = ServiceOptions().interval;
  absl::Duration service_lease = ServiceOptions().lease;
  absl::Duration recover_after = ServiceOptions().recover_after;
  std::optional<absl::Duration> stuck_after = ServiceOptions().stuck_after;
  bool fail_stuck_runs = ServiceOptions().fail_stuck_runs;

  // Whether the record of a run gets the outputs of its nodes, beside their references.
  bool store_outputs = true;
  Hardening hardening = {};
};

// Returns the defaults, changed by the variables whose names begin with ORCHESTRATOR_. A blank
// value means the default, except for BLOCK_SECONDS, STREAM_MAX_LENGTH and STUCK_AFTER_SECONDS:
// they are off if the value is blank, "none", "null" or "off". Other variables are ignored; of a
// repeated one the last counts.
//
// Errors: InvalidArgument that begins with the name of the variable, for a value that is not of its
// kind.
absl::StatusOr<EngineSettings> ReadEngineSettings(base::Variables variables);

}  // namespace redouble::inline v0_1::orchestrator

#endif  // REDOUBLE_CORE_ORCHESTRATOR_APP_SETTINGS_H_
