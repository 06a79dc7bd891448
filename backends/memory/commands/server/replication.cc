// ROLE, REPLICAOF, SLAVEOF, REPLCONF, SYNC, PSYNC and FAILOVER. A host has the replicas and the
// link to a master.
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "redouble/backends/memory/engine/argument.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/engine/handlers.h"
#include "redouble/core/base/text/redis_number.h"

namespace redouble::inline v0_1::memory {
namespace {

constexpr int64_t kMaxPort = 65535;
// The port of a replica's address.
constexpr size_t kMaxHostBytes = 256;

Reply NothingIsReplicated() {
  return Reply::Error(
      "ERR nothing is replicated: this server follows no other and has no replicas");
}

Reply HostDecides() {
  return Reply::Error("ERR the host of this server decides who follows whom, not a command");
}

Replication* ReplicationOf(CommandContext& context) {
  return context.engine().administration().replication();
}

std::string_view LinkText(MasterFigures::Link link) {
  switch (link) {
    case MasterFigures::Link::kConnect:
      return "connect";
    case MasterFigures::Link::kConnecting:
      return "connecting";
    case MasterFigures::Link::kHandshake:
      return "handshake";
    case MasterFigures::Link::kSync:
      return "sync";
    case MasterFigures::Link::kConnected:
      break;
  }
  return "connected";
}

Reply RoleOfReplica(const MasterFigures& master) {
  const bool is_connected = master.link == MasterFigures::Link::kConnected;
  return Reply::Array({Reply::Bulk("slave"), Reply::Bulk(master.host), Reply::Integer(master.port),
                       Reply::Bulk(LinkText(master.link)),
                       Reply::Integer(is_connected ? master.offset : -1)});
}

Reply ReadReplConfNumber(std::string_view text) {
  return base::ParseInt64(text) ? Reply::Nil() : Reply::Error(error_text::kNotAnInteger);
}

Reply ReadRdbFilter(std::string_view filter) {
  for (const absl::string_view part :
       absl::StrSplit(base::ToAbsl(filter), ' ', absl::SkipEmpty())) {
    if (IsWord(base::ToStd(part), "functions")) continue;
    return Reply::Error("ERR Unsupported rdb-filter-only option: " +
                        WordInError(base::ToStd(part)));
  }
  return Reply::Nil();
}

// One option of REPLCONF. Returns an error reply, or nil.
Reply ReadReplConf(std::string_view name, std::string_view value) {
  if (IsWord(name, "listening-port")) return ReadReplConfNumber(value);
  if (IsWord(name, "ip-address")) {
    if (value.size() < kMaxHostBytes) return Reply::Nil();
    return Reply::Error(absl::StrCat(
        "ERR REPLCONF ip-address provided by replica instance is too long: ", value.size(),
        " bytes"));
  }
  if (IsWord(name, "capa")) return Reply::Nil();
  if (IsWord(name, "rdb-only")) {
    if (Reply error = ReadReplConfNumber(value); error.is_error()) return error;
    return value == "0" || value == "1" ? Reply::Nil() : Reply::Error(OutOfRangeText(0, 1));
  }
  if (IsWord(name, "rdb-filter-only")) return ReadRdbFilter(value);
  return Reply::Error("ERR Unrecognized REPLCONF option: " + WordInError(name));
}

// Reads the options of FAILOVER. Returns an error reply, or nil.
Reply ReadFailoverOptions(Arguments arguments, FailoverOptions& options) {
  for (size_t i = 0; i < arguments.size(); ++i) {
    const size_t left = arguments.size() - i - 1;
    if (IsWord(arguments[i], "TIMEOUT") && left >= 1 && !options.timeout_ms) {
      options.timeout_ms = base::ParseInt64(arguments[++i]);
      if (!options.timeout_ms) return Reply::Error(error_text::kNotAnInteger);
      if (*options.timeout_ms <= 0) {
        return Reply::Error("ERR FAILOVER timeout must be greater than 0");
      }
    } else if (IsWord(arguments[i], "TO") && left >= 2 && options.host.empty()) {
      options.host = arguments[i + 1];
      i += 2;
      const std::optional<int64_t> port = base::ParseInt64(arguments[i]);
      if (!port) return Reply::Error(error_text::kNotAnInteger);
      options.port = static_cast<int>(*port);
    } else if (IsWord(arguments[i], "FORCE") && !options.is_forced) {
      options.is_forced = true;
    } else {
      return SyntaxError();
    }
  }
  return Reply::Nil();
}

// The error for a failover to `options` now; nil if it may begin.
Reply CheckFailover(const ReplicationFigures& figures, const FailoverOptions& options) {
  if (figures.failover != FailoverState::kNone) {
    return Reply::Error("ERR FAILOVER already in progress.");
  }
  if (figures.master) return Reply::Error("ERR FAILOVER is not valid when server is a replica.");
  if (figures.replicas.empty()) return Reply::Error("ERR FAILOVER requires connected replicas.");
  if (options.is_forced && (!options.timeout_ms || options.host.empty())) {
    return Reply::Error(
        "ERR FAILOVER with force option requires both a timeout and target HOST and IP.");
  }
  if (options.host.empty()) return Reply::Nil();
  const auto target = std::find_if(
      figures.replicas.begin(), figures.replicas.end(), [&](const ReplicaFigures& replica) {
        return IsWord(replica.address, options.host) && replica.port == options.port;
      });
  if (target == figures.replicas.end()) {
    return Reply::Error("ERR FAILOVER target HOST and PORT is not a replica.");
  }
  return target->is_online() ? Reply::Nil()
                             : Reply::Error("ERR FAILOVER target replica is not online.");
}

// PSYNC of a former master, which asks this server to take over. Returns an error reply, or nil.
Reply TakeOver(const Replication& replication, ReplicationControl& control, std::string_view id) {
  const ReplicationFigures figures = replication.figures();
  if (!figures.master) return Reply::Error("ERR PSYNC FAILOVER can't be sent to a master.");
  if (!IsWord(id, figures.id)) {
    return Reply::Error("ERR PSYNC FAILOVER replid must match my replid.");
  }
  control.FollowNobody();
  return Reply::Nil();
}

// The error for SYNC and PSYNC while the server has no whole stream itself; nil if it has.
Reply RefuseSynchronization(const Replication& replication) {
  if (replication.figures().failover != FailoverState::kNone) {
    return Reply::Error("NOMASTERLINK Can't SYNC while failing over");
  }
  if (replication.link_is_down()) {
    return Reply::Error("NOMASTERLINK Can't SYNC while not connected with my master");
  }
  return Reply::Nil();
}

}  // namespace

std::string_view TextOf(ReplicaFigures::State state) {
  switch (state) {
    case ReplicaFigures::State::kWaitsForFile:
      return "wait_bgsave";
    case ReplicaFigures::State::kTakesFile:
      return "send_bulk";
    case ReplicaFigures::State::kOnline:
      break;
  }
  return "online";
}

Reply HandleRole(CommandContext& context, Arguments) {
  const Replication* replication = ReplicationOf(context);
  const ReplicationFigures figures =
      replication == nullptr ? ReplicationFigures() : replication->figures();
  if (figures.master) return RoleOfReplica(*figures.master);
  std::vector<Reply> replicas;
  for (const ReplicaFigures& replica : figures.replicas) {
    if (!replica.is_online()) continue;
    replicas.push_back(
        Reply::Array({Reply::Bulk(replica.address), Reply::Bulk(base::FormatInt64(replica.port)),
                      Reply::Bulk(base::FormatInt64(replica.offset))}));
  }
  return Reply::Array(
      {Reply::Bulk("master"), Reply::Integer(figures.offset), Reply::Array(std::move(replicas))});
}

Reply HandleReplicaOf(CommandContext& context, Arguments arguments) {
  if (context.engine().cluster() != nullptr) {
    return Reply::Error("ERR REPLICAOF not allowed in cluster mode.");
  }
  Replication* replication = ReplicationOf(context);
  const ReplicationFigures figures =
      replication == nullptr ? ReplicationFigures() : replication->figures();
  if (figures.failover != FailoverState::kNone) {
    return Reply::Error("ERR REPLICAOF not allowed while failing over.");
  }
  if (replication != nullptr && replication->control() == nullptr) return HostDecides();
  if (IsWord(arguments[0], "NO") && IsWord(arguments[1], "ONE")) {
    if (replication != nullptr) replication->control()->FollowNobody();
    return Reply::Ok();
  }
  if (replication != nullptr &&
      replication->PeerOf(context.session()) != Replication::Peer::kClient) {
    return Reply::Error("ERR Command is not valid when client is a replica.");
  }
  const std::optional<int64_t> port = base::ParseInt64(arguments[1]);
  if (!port || *port < 0 || *port > kMaxPort) return Reply::Error("ERR Invalid master port");
  if (replication == nullptr) return NothingIsReplicated();
  if (figures.master && IsWord(arguments[0], figures.master->host) &&
      figures.master->port == *port) {
    return Reply::Status("OK Already connected to specified master");
  }
  replication->control()->Follow(arguments[0], static_cast<int>(*port));
  return Reply::Ok();
}

Reply HandleSlaveOf(CommandContext& context, Arguments arguments) {
  return HandleReplicaOf(context, arguments);
}

Reply HandleReplConf(CommandContext& context, Arguments arguments) {
  if (arguments.size() % 2 != 0) return SyntaxError();
  Replication* replication = ReplicationOf(context);
  ReplicationControl* control = replication == nullptr ? nullptr : replication->control();
  for (size_t i = 0; i < arguments.size(); i += 2) {
    const auto [option, value] = std::pair(arguments[i], arguments[i + 1]);
    if (control != nullptr && IsWord(option, "ack")) {
      SessionCore& session = context.session();
      using ReplyMode = SessionCore::ReplyMode;
      if (!session.runs_atomically()) {
        session.SetUnanswered();
      } else if (session.reply_mode() == ReplyMode::kOn) {
        session.set_reply_mode(ReplyMode::kSkip);  // For EXEC.
      }
      if (const auto offset = base::ParseInt64(value)) {
        control->Acknowledge(session, *offset);
      }
      return Reply::Ok();
    }
    if (Reply error = ReadReplConf(option, value); error.is_error()) return error;
    if (control != nullptr) control->Describe(context.session(), option, value);
  }
  return Reply::Ok();
}

Reply HandleSync(CommandContext& context, Arguments) {
  Replication* replication = ReplicationOf(context);
  if (replication == nullptr) return NothingIsReplicated();
  if (replication->control() == nullptr) return HostDecides();
  if (Reply error = RefuseSynchronization(*replication); error.is_error()) return error;
  return replication->control()->Synchronize(context.session(), /*id=*/{}, /*offset=*/{});
}

Reply HandlePSync(CommandContext& context, Arguments arguments) {
  Replication* replication = ReplicationOf(context);
  if (replication == nullptr) return NothingIsReplicated();
  ReplicationControl* control = replication->control();
  if (control == nullptr) return HostDecides();
  if (arguments.size() > 2 && IsWord(arguments[2], "FAILOVER")) {
    Reply error = TakeOver(*replication, *control, arguments[0]);
    if (error.is_error()) return error;
  }
  if (Reply error = RefuseSynchronization(*replication); error.is_error()) return error;
  return control->Synchronize(context.session(), arguments[0], arguments[1]);
}

Reply HandleFailover(CommandContext& context, Arguments arguments) {
  if (context.engine().cluster() != nullptr) {
    return Reply::Error(
        "ERR FAILOVER not allowed in cluster mode. Use CLUSTER FAILOVER command instead.");
  }
  Replication* replication = ReplicationOf(context);
  const ReplicationFigures figures =
      replication == nullptr ? ReplicationFigures() : replication->figures();
  if (replication != nullptr && replication->control() == nullptr) return HostDecides();
  if (arguments.size() == 1 && IsWord(arguments[0], "ABORT")) {
    if (figures.failover == FailoverState::kNone) {
      return Reply::Error("ERR No failover in progress.");
    }
    replication->control()->AbortFailover();
    return Reply::Ok();
  }
  FailoverOptions options;
  if (Reply error = ReadFailoverOptions(arguments, options); error.is_error()) return error;
  if (Reply error = CheckFailover(figures, options); error.is_error()) return error;
  replication->control()->BeginFailover(options);
  return Reply::Ok();
}

}  // namespace redouble::inline v0_1::memory
