// INFO. The section about memory is in info_memory.cc.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "redouble/backends/memory/commands/server/config_values.h"
#include "redouble/backends/memory/commands/server/info_memory.h"
#include "redouble/backends/memory/compatibility/feature.h"
#include "redouble/backends/memory/engine/argument.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/engine/handlers.h"
#include "redouble/backends/memory/server/kept_parameters.h"
#include "redouble/core/store/table/command_table.h"

namespace redouble::inline v0_1::memory {
namespace {

constexpr int64_t kMicrosPerSecond = 1'000'000;

ProcessFigures FiguresOf(const EngineCore& engine) {
  Host* host = engine.administration().host();
  return host == nullptr ? ProcessFigures() : host->Figures();
}

ReplicationFigures ReplicationOf(const EngineCore& engine) {
  const Replication* replication = engine.administration().replication();
  if (replication != nullptr) return replication->figures();
  return {.id = FiguresOf(engine).run_id};
}

// Valkey reports the version of Redis that it is compatible with, and its own.
void AppendVersion(const EngineCore& engine, std::string& out) {
  const store::VersionSpec& version = engine.compatibility().spec();
  absl::StrAppend(&out, "redis_version:", base::ToAbsl(version.redis_version), "\r\n");
  if (!engine.Has(Feature::kValkeyNames)) return;
  absl::StrAppend(&out, "server_name:valkey\r\nvalkey_version:", base::ToAbsl(version.version),
                  "\r\n");
  if (engine.Has(Feature::kReleaseStage)) absl::StrAppend(&out, "valkey_release_stage:ga\r\n");
}

void AppendServer(EngineCore& engine, std::string& out) {
  const ProcessFigures process = FiguresOf(engine);
  const int64_t now_us = engine.clock().NowMicros();
  const std::string hz = KeptValue("hz", engine.options());
  const int64_t uptime_s = (now_us - engine.administration().started_us()) / kMicrosPerSecond;
  AppendVersion(engine, out);
  const bool is_valkey = engine.Has(Feature::kValkeyNames);
  absl::StrAppend(
      &out, "redis_git_sha1:00000000\r\nredis_git_dirty:0\r\nredis_build_id:redouble\r\n",
      is_valkey ? "server" : "redis", "_mode:", engine.cluster() ? "cluster" : "standalone",
      "\r\nos:Linux\r\narch_bits:64\r\nmonotonic_clock:", process.monotonic_clock,
      "\r\nmultiplexing_api:", process.multiplexing_api,
      "\r\natomicvar_api:none\r\ngcc_version:0.0.0\r\nprocess_id:", process.process_id,
      "\r\nprocess_supervised:no\r\nrun_id:", process.run_id, "\r\ntcp_port:", process.tcp_port,
      "\r\nserver_time_usec:", now_us, "\r\nuptime_in_seconds:", uptime_s,
      "\r\nuptime_in_days:", uptime_s / 86'400, "\r\nhz:", hz, "\r\nconfigured_hz:", hz,
      "\r\nlru_clock:", (now_us / kMicrosPerSecond) & 0xffffff,
      "\r\nexecutable:", process.executable, "\r\nconfig_file:", process.config_file,
      "\r\nio_threads_active:0\r\n");
  const Shutdown* shutdown = engine.administration().shutdown();
  const std::optional<int64_t> left_ms =
      shutdown == nullptr ? std::nullopt : shutdown->millis_left();
  if (left_ms) absl::StrAppend(&out, "shutdown_in_milliseconds:", *left_ms, "\r\n");
}

void AppendClients(EngineCore& engine, std::string& out) {
  const ProcessFigures process = FiguresOf(engine);
  const auto& sessions = engine.administration().sessions();
  const size_t replicas = ReplicationOf(engine).replicas.size();
  int64_t blocked = 0;
  int64_t timed = 0;
  for (const auto& [id, session] : sessions) {
    // As in Redis, clients that wait for the end of a pause are blocked as well.
    if (session->postponed()) ++blocked;
    if (!session->blocked()) continue;
    ++blocked;
    if (session->blocked_operation().deadline_ms) ++timed;
  }
  absl::StrAppend(&out, "connected_clients:", sessions.size() - replicas,
                  "\r\ncluster_connections:0\r\nmaxclients:", engine.options().server.maxclients,
                  "\r\nclient_recent_max_input_buffer:", process.largest_input_bytes,
                  "\r\nclient_recent_max_output_buffer:", process.largest_output_bytes,
                  "\r\nblocked_clients:", blocked,
                  "\r\ntracking_clients:", engine.tracking().client_count(),
                  "\r\nclients_in_timeout_table:", timed, "\r\n");
}

AppendLogFigures AppendLogOf(EngineCore& engine) {
  const AppendLog* append_log = engine.administration().append_log();
  return append_log == nullptr ? AppendLogFigures() : append_log->figures();
}

void AppendLoading(const LoadingFigures& loading, int64_t now_s, std::string& out) {
  // Without a size, the memory of the writing server is an estimation of it.
  const bool is_estimated = loading.total_bytes == 0;
  const uint64_t total = is_estimated ? loading.used_memory_bytes : loading.total_bytes;
  double percent =
      total == 0 ? 0
                 : 100.0 * static_cast<double>(loading.loaded_bytes) / static_cast<double>(total);
  if (is_estimated) percent = std::min(percent, 99.99);
  const uint64_t left = total - std::min(total, loading.loaded_bytes);
  const int64_t elapsed_s = now_s - loading.since_s;
  const uint64_t eta_s = elapsed_s <= 0 ? 1
                                        : static_cast<uint64_t>(elapsed_s) *
                                              std::max<uint64_t>(left, is_estimated ? 1 : 0) /
                                              (loading.loaded_bytes + 1);
  absl::StrAppend(&out, "loading_start_time:", loading.since_s,
                  "\r\nloading_total_bytes:", loading.total_bytes,
                  "\r\nloading_rdb_used_mem:", loading.used_memory_bytes,
                  "\r\nloading_loaded_bytes:", loading.loaded_bytes,
                  absl::StrFormat("\r\nloading_loaded_perc:%.2f", percent),
                  "\r\nloading_eta_seconds:", eta_s, "\r\n");
}

void AppendPersistence(EngineCore& engine, std::string& out) {
  const KeyFileFigures file = engine.administration().key_file_figures();
  const AppendLogFigures log = AppendLogOf(engine);
  const int64_t now_s = engine.clock().NowMillis() / 1000;
  const ReplicationFigures replication = ReplicationOf(engine);
  const SaveProgress& save = file.saving             ? file.progress
                             : replication.is_saving ? replication.progress
                                                     : log.progress;
  const double percentage = save.keys == 0 ? 0.0
                                           : 100.0 * static_cast<double>(save.written_keys) /
                                                 static_cast<double>(save.keys);
  const std::optional<LoadingFigures>& loading = engine.loading();
  const bool is_async = loading && loading->is_async;
  absl::StrAppend(
      &out, "loading:", loading && !is_async ? 1 : 0, "\r\nasync_loading:", is_async ? 1 : 0,
      "\r\ncurrent_cow_peak:", save.peak_kept_bytes, "\r\ncurrent_cow_size:", save.kept_bytes,
      absl::StrFormat("\r\ncurrent_cow_size_age:0\r\ncurrent_fork_perc:%.2f\r\n", percentage),
      "current_save_keys_processed:", save.written_keys, "\r\ncurrent_save_keys_total:", save.keys,
      "\r\nrdb_changes_since_last_save:", engine.changes() - file.changes_at_save,
      "\r\nrdb_bgsave_in_progress:", file.saving || replication.is_saving ? 1 : 0,
      "\r\nrdb_last_save_time:", file.saved_at_s,
      "\r\nrdb_last_bgsave_status:", file.last_ok ? "ok" : "err",
      "\r\nrdb_last_bgsave_time_sec:", file.last_duration_s,
      "\r\nrdb_current_bgsave_time_sec:", file.saving ? now_s - file.saving_since_s : -1,
      "\r\nrdb_saves:", file.saves, "\r\nrdb_last_cow_size:", file.last_kept_bytes,
      "\r\nrdb_last_load_keys_expired:", file.expired_keys,
      "\r\nrdb_last_load_keys_loaded:", file.loaded_keys, "\r\n");
  const auto flag = [](bool value) { return value ? "1\r\n" : "0\r\n"; };
  const auto status = [](bool ok) { return ok ? "ok\r\n" : "err\r\n"; };
  absl::StrAppend(
      &out, "aof_enabled:", flag(log.on), "aof_rewrite_in_progress:", flag(log.rewriting),
      "aof_rewrite_scheduled:", flag(log.rewrite_scheduled),
      "aof_last_rewrite_time_sec:", log.last_rewrite_duration_s,
      "\r\naof_current_rewrite_time_sec:", log.rewriting ? now_s - log.rewrite_began_s : -1,
      "\r\naof_last_bgrewrite_status:", status(log.last_rewrite_ok), "aof_rewrites:", log.rewrites,
      "\r\naof_rewrites_consecutive_failures:", log.failed_rewrites,
      "\r\naof_last_write_status:", status(log.last_write_ok));
  absl::StrAppend(&out, "aof_last_cow_size:", log.last_kept_bytes,
                  "\r\nmodule_fork_in_progress:0\r\nmodule_fork_last_cow_size:0\r\n");
  if (log.on) {
    absl::StrAppend(&out, "aof_current_size:", log.bytes, "\r\naof_base_size:", log.base_bytes,
                    "\r\naof_pending_rewrite:0\r\naof_buffer_length:", log.buffered_bytes,
                    "\r\naof_pending_bio_fsync:0\r\naof_delayed_fsync:0\r\n");
  }
  if (loading) AppendLoading(*loading, now_s, out);
}

// The line of expired hash fields, which comes before the line of expired keys.
std::string ExpiredFields(const EngineCore& engine) {
  if (!engine.Has(Feature::kExpiredFields)) return "";
  return absl::StrCat("expired_subkeys:", engine.expired_fields(), "\r\n");
}

void AppendStats(EngineCore& engine, std::string& out) {
  const ProcessFigures process = FiguresOf(engine);
  const Statistics& statistics = engine.administration().statistics();
  const Traffic& traffic = statistics.traffic();
  const Synchronizations& syncs = statistics.synchronizations();
  const auto names = [&](SubscriptionKind kind) {
    return engine.subscriptions().table(kind).size();
  };
  absl::StrAppend(
      &out, "total_connections_received:", traffic.connections_received,
      "\r\ntotal_commands_processed:", statistics.calls(),
      "\r\ninstantaneous_ops_per_sec:", static_cast<int64_t>(process.operations_per_second),
      "\r\ntotal_net_input_bytes:", traffic.input_bytes,
      "\r\ntotal_net_output_bytes:", traffic.output_bytes,
      "\r\ntotal_net_repl_input_bytes:0\r\ntotal_net_repl_output_bytes:0\r\n",
      absl::StrFormat("instantaneous_input_kbps:%.2f\r\ninstantaneous_output_kbps:%.2f\r\n",
                      process.input_kilobytes_per_second, process.output_kilobytes_per_second),
      "instantaneous_input_repl_kbps:0.00\r\ninstantaneous_output_repl_kbps:0.00\r\n",
      "rejected_connections:", traffic.connections_rejected, "\r\nsync_full:", syncs.full,
      "\r\nsync_partial_ok:", syncs.partial, "\r\nsync_partial_err:", syncs.refused_partial, "\r\n",
      ExpiredFields(engine), "expired_keys:", engine.expired_keys(),
      "\r\nexpired_stale_perc:0.00\r\nexpired_time_cap_reached_count:0\r\n",
      "expire_cycle_cpu_milliseconds:0\r\nevicted_keys:", engine.evicted_keys(),
      "\r\nevicted_clients:", statistics.evicted_clients(),
      "\r\ntotal_eviction_exceeded_time:0\r\n",
      "current_eviction_exceeded_time:0\r\nkeyspace_hits:", statistics.hits(),
      "\r\nkeyspace_misses:", statistics.misses(),
      "\r\npubsub_channels:", names(SubscriptionKind::kChannel));
  absl::StrAppend(
      &out, "\r\npubsub_patterns:", names(SubscriptionKind::kPattern),
      "\r\npubsubshard_channels:", names(SubscriptionKind::kShard),
      "\r\nlatest_fork_usec:0\r\ntotal_forks:", statistics.background_jobs(),
      "\r\nmigrate_cached_sockets:", process.migration_sockets,
      "\r\nslave_expires_tracked_keys:0\r\nactive_defrag_hits:0\r\nactive_defrag_misses:0\r\n",
      "active_defrag_key_hits:0\r\nactive_defrag_key_misses:0\r\ntotal_active_defrag_time:0\r\n",
      "current_active_defrag_time:0\r\ntracking_total_keys:", engine.tracking().key_count(),
      "\r\ntracking_total_items:", engine.tracking().reader_count(),
      "\r\ntracking_total_prefixes:", engine.tracking().prefix_count(),
      "\r\nunexpected_error_replies:0\r\ntotal_error_replies:", statistics.error_replies(),
      "\r\ndump_payload_sanitizations:0\r\ntotal_reads_processed:", traffic.reads,
      "\r\ntotal_writes_processed:", traffic.writes,
      "\r\nio_threaded_reads_processed:0\r\nio_threaded_writes_processed:0\r\n",
      "reply_buffer_shrinks:0\r\nreply_buffer_expands:0\r\n");
}

void AppendMaster(const EngineOptions& options, const MasterFigures& master, std::string& out) {
  using Link = MasterFigures::Link;
  absl::StrAppend(&out, "master_host:", master.host, "\r\nmaster_port:", master.port,
                  "\r\nmaster_link_status:", master.link == Link::kConnected ? "up" : "down",
                  "\r\nmaster_last_io_seconds_ago:", master.silent_s,
                  "\r\nmaster_sync_in_progress:", master.link == Link::kSync ? 1 : 0,
                  "\r\nslave_read_repl_offset:", master.read_offset,
                  "\r\nslave_repl_offset:", master.offset, "\r\n");
  if (master.link == Link::kSync) {
    const double percent = master.file_bytes == 0
                               ? 0
                               : 100.0 * static_cast<double>(master.file_read_bytes) /
                                     static_cast<double>(master.file_bytes);
    absl::StrAppend(&out, "master_sync_total_bytes:", master.file_bytes,
                    "\r\nmaster_sync_read_bytes:", master.file_read_bytes,
                    "\r\nmaster_sync_left_bytes:", master.file_bytes - master.file_read_bytes,
                    absl::StrFormat("\r\nmaster_sync_perc:%.2f", percent),
                    "\r\nmaster_sync_last_io_seconds_ago:", master.silent_s, "\r\n");
  }
  if (master.link != Link::kConnected) {
    absl::StrAppend(&out, "master_link_down_since_seconds:", master.down_s, "\r\n");
  }
  const auto flag = [&](std::string_view name) {
    return KeptValue(name, options) == "yes" ? 1 : 0;
  };
  absl::StrAppend(&out, "slave_priority:", KeptValue("replica-priority", options),
                  "\r\nslave_read_only:", flag("replica-read-only"),
                  "\r\nreplica_announced:", flag("replica-announced"), "\r\n");
}

std::string_view FailoverText(FailoverState state) {
  if (state == FailoverState::kNone) return "no-failover";
  return state == FailoverState::kInProgress ? "failover-in-progress" : "waiting-for-sync";
}

void AppendReplication(EngineCore& engine, std::string& out) {
  const ReplicationFigures figures = ReplicationOf(engine);
  const EngineOptions& options = engine.options();
  absl::StrAppend(&out, "role:", figures.master ? "slave" : "master", "\r\n");
  if (figures.master) AppendMaster(options, *figures.master, out);
  absl::StrAppend(&out, "connected_slaves:", figures.replicas.size(), "\r\n");
  if (options.min_replicas_to_write > 0 && options.min_replicas_max_lag_s > 0) {
    const Replication* replication = engine.administration().replication();
    absl::StrAppend(&out, "min_slaves_good_slaves:",
                    replication == nullptr ? 0 : replication->good_replicas(), "\r\n");
  }
  for (size_t i = 0; i < figures.replicas.size(); ++i) {
    const ReplicaFigures& replica = figures.replicas[i];
    absl::StrAppend(&out, "slave", i, ":ip=", replica.address, ",port=", replica.port,
                    ",state=", base::ToAbsl(TextOf(replica.state)), ",offset=", replica.offset,
                    ",lag=", replica.lag_s, "\r\n");
  }
  absl::StrAppend(&out, "master_failover_state:", base::ToAbsl(FailoverText(figures.failover)),
                  "\r\nmaster_replid:", figures.id, "\r\nmaster_replid2:", figures.former_id,
                  "\r\nmaster_repl_offset:", figures.offset,
                  "\r\nsecond_repl_offset:", figures.former_end,
                  "\r\nrepl_backlog_active:", figures.has_backlog ? 1 : 0,
                  "\r\nrepl_backlog_size:", KeptValue("repl-backlog-size", options),
                  "\r\nrepl_backlog_first_byte_offset:", figures.backlog_offset,
                  "\r\nrepl_backlog_histlen:", figures.backlog_length, "\r\n");
}

void AppendCpu(EngineCore& engine, std::string& out) {
  const ProcessFigures process = FiguresOf(engine);
  absl::StrAppend(
      &out,
      absl::StrFormat("used_cpu_sys:%.6f\r\nused_cpu_user:%.6f\r\n", process.system_cpu_seconds,
                      process.user_cpu_seconds),
      "used_cpu_sys_children:0.000000\r\nused_cpu_user_children:0.000000\r\n",
      absl::StrFormat("used_cpu_sys_main_thread:%.6f\r\nused_cpu_user_main_thread:%.6f\r\n",
                      process.system_cpu_seconds, process.user_cpu_seconds));
}

void AppendModules(EngineCore&, std::string&) {}

void AppendCommandStats(EngineCore& engine, std::string& out) {
  for (const store::CommandSpec& spec : store::AllCommands()) {
    const CommandStatistics& command = engine.administration().statistics().of(spec.id);
    if (command.calls == 0 && command.rejected == 0) continue;
    const double per_call = command.calls == 0 ? 0
                                               : static_cast<double>(command.duration_us) /
                                                     static_cast<double>(command.calls);
    absl::StrAppend(
        &out,
        absl::StrFormat(
            "cmdstat_%s:calls=%d,usec=%d,usec_per_call=%.2f,rejected_calls=%d,failed_calls=%d\r\n",
            base::ToAbsl(spec.name), command.calls, command.duration_us, per_call, command.rejected,
            command.failed));
  }
}

void AppendErrorStats(EngineCore& engine, std::string& out) {
  for (const auto& [code, count] : engine.administration().statistics().errors()) {
    absl::StrAppend(&out, "errorstat_", code, ":count=", count, "\r\n");
  }
}

void AppendLatencyStats(EngineCore& engine, std::string& out) {
  for (const store::CommandSpec& spec : store::AllCommands()) {
    const CommandStatistics& command = engine.administration().statistics().of(spec.id);
    if (command.durations == nullptr) continue;
    absl::StrAppend(&out, "latency_percentiles_usec_", base::ToAbsl(spec.name), ":");
    std::string_view comma;
    for (const double percent : engine.options().latency_tracking_info_percentiles) {
      absl::StrAppendFormat(&out, "%sp%s=%.3f", base::ToAbsl(comma), PercentileText(percent),
                            static_cast<double>(command.durations->Percentile(percent)));
      comma = ",";
    }
    out += "\r\n";
  }
}

void AppendCluster(EngineCore& engine, std::string& out) {
  absl::StrAppend(&out, "cluster_enabled:", engine.cluster() ? 1 : 0, "\r\n");
}

// The mean TTL of the keys with an expiry, in milliseconds.
int64_t AverageTtl(Database& db, int64_t now_ms) {
  if (db.expiring() == 0) return 0;
  double sum_ms = 0;
  for (size_t i = 0; i < db.size(); ++i) {
    if (const std::optional<int64_t> deadline_ms = db.DeadlineOf(db.at(i))) {
      sum_ms += static_cast<double>(std::max<int64_t>(*deadline_ms - now_ms, 0));
    }
  }
  return static_cast<int64_t>(sum_ms / static_cast<double>(db.expiring()));
}

void AppendKeyspace(EngineCore& engine, std::string& out) {
  for (int index = 0; index < engine.database_count(); ++index) {
    Database& db = engine.database(index);
    if (db.size() == 0) continue;
    absl::StrAppend(&out, "db", index, ":keys=", db.size(), ",expires=", db.expiring(),
                    ",avg_ttl=", AverageTtl(db, engine.clock().NowMillis()));
    if (engine.Has(Feature::kExpiredFields)) {
      const FieldDeadlines* fields = db.field_deadlines();
      absl::StrAppend(&out, ",subexpiry=", fields == nullptr ? 0 : fields->hash_count());
    }
    absl::StrAppend(&out, "\r\n");
  }
}

struct Section {
  std::string_view name;
  std::string_view title;
  void (*append)(EngineCore& engine, std::string& out);
  bool is_default;  // Part of INFO without arguments.
};

// In Redis's order.
constexpr Section kSections[] = {
    {"server", "Server", AppendServer, true},
    {"clients", "Clients", AppendClients, true},
    {"memory", "Memory", AppendMemory, true},
    {"persistence", "Persistence", AppendPersistence, true},
    {"stats", "Stats", AppendStats, true},
    {"replication", "Replication", AppendReplication, true},
    {"cpu", "CPU", AppendCpu, true},
    {"modules", "Modules", AppendModules, true},
    {"commandstats", "Commandstats", AppendCommandStats, false},
    {"errorstats", "Errorstats", AppendErrorStats, true},
    {"latencystats", "Latencystats", AppendLatencyStats, false},
    {"cluster", "Cluster", AppendCluster, true},
    {"keyspace", "Keyspace", AppendKeyspace, true},
};

// "module_list" is what Redis calls the modules of the default sections.
bool IsAskedFor(const Section& section, Arguments arguments) {
  if (arguments.empty()) return section.is_default;
  return std::any_of(arguments.begin(), arguments.end(), [&](std::string_view word) {
    const bool lists_modules = IsWord(word, "module_list") && section.append == AppendModules;
    return lists_modules || IsWord(word, section.name) || IsWord(word, "everything") ||
           IsWord(word, "all") || (IsWord(word, "default") && section.is_default);
  });
}

}  // namespace

Reply HandleInfo(CommandContext& context, Arguments arguments) {
  std::string out;
  for (const Section& section : kSections) {
    if (!IsAskedFor(section, arguments)) continue;
    absl::StrAppend(&out, out.empty() ? "# " : "\r\n# ", base::ToAbsl(section.title), "\r\n");
    section.append(context.engine(), out);
  }
  return Reply::Verbatim(std::move(out));
}

}  // namespace redouble::inline v0_1::memory
