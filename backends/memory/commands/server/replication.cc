// ROLE, REPLICAOF, SLAVEOF, REPLCONF, SYNC, PSYNC and FAILOVER of a master. A host has its
// replicas.
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

namespace redouble::memory {
namespace {

constexpr int64_t kMaxPort = 65535;
// The port of a replica's address.
constexpr size_t kMaxHostBytes = 256;

Reply NothingIsReplicated() {
  return Reply::Error(
      "ERR nothing is replicated: this server follows no other and has no replicas");
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

// The options of FAILOVER. Returns an error reply, or nil.
Reply CheckFailoverOptions(Arguments arguments) {
  bool has_timeout = false;
  bool has_target = false;
  bool is_forced = false;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const size_t behind = arguments.size() - i - 1;
    if (IsWord(arguments[i], "TIMEOUT") && behind >= 1 && !has_timeout) {
      const std::optional<int64_t> timeout_ms = base::ParseInt64(arguments[++i]);
      if (!timeout_ms) return Reply::Error(error_text::kNotAnInteger);
      if (*timeout_ms <= 0) return Reply::Error("ERR FAILOVER timeout must be greater than 0");
      has_timeout = true;
    } else if (IsWord(arguments[i], "TO") && behind >= 2 && !has_target) {
      i += 2;
      if (!base::ParseInt64(arguments[i])) return Reply::Error(error_text::kNotAnInteger);
      has_target = true;
    } else if (IsWord(arguments[i], "FORCE") && !is_forced) {
      is_forced = true;
    } else {
      return SyntaxError();
    }
  }
  return Reply::Nil();
}

}  // namespace

Reply HandleRole(CommandContext& context, Arguments) {
  const Replication* replication = context.engine().administration().replication();
  const ReplicationFigures figures =
      replication == nullptr ? ReplicationFigures() : replication->figures();
  std::vector<Reply> replicas;
  for (const ReplicaFigures& replica : figures.replicas) {
    if (!replica.is_online) continue;
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
  if (IsWord(arguments[0], "NO") && IsWord(arguments[1], "ONE")) return Reply::Ok();
  const std::optional<int64_t> port = base::ParseInt64(arguments[1]);
  if (!port || *port < 0 || *port > kMaxPort) return Reply::Error("ERR Invalid master port");
  return NothingIsReplicated();
}

Reply HandleSlaveOf(CommandContext& context, Arguments arguments) {
  return HandleReplicaOf(context, arguments);
}

Reply HandleReplConf(CommandContext& context, Arguments arguments) {
  if (arguments.size() % 2 != 0) return SyntaxError();
  Replication* replication = context.engine().administration().replication();
  for (size_t i = 0; i < arguments.size(); i += 2) {
    const auto [option, value] = std::pair(arguments[i], arguments[i + 1]);
    if (replication != nullptr && IsWord(option, "ack")) {
      // A replica gets no reply.
      if (const auto offset = base::ParseInt64(value)) {
        replication->Acknowledge(context.session(), *offset);
      }
      return Reply::Ok();
    }
    if (Reply error = ReadReplConf(option, value); error.is_error()) return error;
    if (replication != nullptr) replication->Describe(context.session(), option, value);
  }
  return Reply::Ok();
}

Reply HandleSync(CommandContext& context, Arguments) {
  Replication* replication = context.engine().administration().replication();
  if (replication == nullptr) return NothingIsReplicated();
  return replication->Synchronize(context.session(), /*id=*/{}, /*offset=*/-1);
}

Reply HandlePSync(CommandContext& context, Arguments arguments) {
  Replication* replication = context.engine().administration().replication();
  if (replication == nullptr) return NothingIsReplicated();
  const std::optional<int64_t> offset = base::ParseInt64(arguments[1]);
  if (!offset) return Reply::Error(error_text::kNotAnInteger);
  return replication->Synchronize(context.session(), arguments[0], *offset);
}

Reply HandleFailover(CommandContext& context, Arguments arguments) {
  if (context.engine().cluster() != nullptr) {
    return Reply::Error(
        "ERR FAILOVER not allowed in cluster mode. Use CLUSTER FAILOVER command instead.");
  }
  if (arguments.size() == 1 && IsWord(arguments[0], "ABORT")) {
    return Reply::Error("ERR No failover in progress.");
  }
  if (Reply error = CheckFailoverOptions(arguments); error.is_error()) return error;
  return Reply::Error("ERR FAILOVER requires connected replicas.");
}

}  // namespace redouble::memory
