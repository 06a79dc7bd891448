#include "redouble/backends/redis/fsm/cluster/cluster_route.h"

#include <algorithm>
#include <limits>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "redouble/backends/redis/fsm/command_effect.h"
#include "redouble/core/base/hash/crc.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/command_row.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/table/command_details.h"

namespace redouble::inline v0_1::redis {
namespace {

using store::Command;
using store::CommandId;
using store::CommandSpec;
using store::Reply;

constexpr std::string_view kAllShards = "request_policy:all_shards";
constexpr std::string_view kAllNodes = "request_policy:all_nodes";

absl::Status Refused(const std::string& message) {
  return store::NotSentError(std::string_view(message), absl::StatusCode::kFailedPrecondition);
}

std::string UpperName(const Command& command) {
  return absl::AsciiStrToUpper(base::ToAbsl(command.name()));
}

bool GoesToAllMasters(CommandId id) {
  // The tips of these two name all nodes, but the reply of any node is sufficient.
  if (id == CommandId::kPing || id == CommandId::kRandomKey) return false;
  return HasTip(id, kAllShards) || HasTip(id, kAllNodes);
}

// Shard channels have slots like keys, although the table does not flag them as keys.
CommandSpec WithChannelsAsKeys(CommandSpec spec) {
  for (store::KeySpec& key : spec.key_specs) {
    key.flags = static_cast<uint16_t>(key.flags & ~store::KeySpec::kNotKey);
  }
  return spec;
}

std::vector<size_t> KeysOf(CommandId id, std::span<const std::string_view> arguments) {
  const CommandSpec& spec = store::SpecOf(id);
  const bool has_channels = spec.group == store::CommandGroup::kPubSub;
  std::optional<std::vector<size_t>> keys =
      store::KeyIndexes(has_channels ? WithChannelsAsKeys(spec) : spec, arguments);
  // Arguments that contradict the table: any node returns the error.
  return keys ? *std::move(keys) : std::vector<size_t>();
}

Route WithoutKeys(const Command& command) {
  const std::span<const std::string_view> arguments = command.arguments();
  return {Route::Kind::kNoKeys, arguments.empty() ? 0 : base::KeySlot(arguments[0])};
}

absl::Status CrossSlot(const std::string& what, int slot, int other) {
  return Refused(absl::StrCat(
      "the keys of ", what, " belong to different slots of the cluster (", slot, " and ", other,
      "), which no node can serve together: give them a common hash tag, as in {tag}name"));
}

// `keys` is not empty.
absl::StatusOr<Route> RouteOfKeys(const Command& command, const std::vector<size_t>& keys) {
  const int slot = base::KeySlot(command.arguments()[keys[0]]);
  for (size_t i = 1; i < keys.size(); ++i) {
    const int other = base::KeySlot(command.arguments()[keys[i]]);
    if (other != slot) return CrossSlot(UpperName(command), slot, other);
  }
  return Route{Route::Kind::kSlot, slot};
}

// A cursor over several masters is the cursor of one master times their number, plus its index.
constexpr uint64_t kMaxCursor = std::numeric_limits<uint64_t>::max();

Reply Sum(const std::vector<Reply>& replies) {
  int64_t sum = 0;
  for (const Reply& reply : replies) sum += reply.is_integer() ? reply.integer() : 0;
  return Reply::Integer(sum);
}

Reply Minimum(const std::vector<Reply>& replies) {
  int64_t minimum = std::numeric_limits<int64_t>::max();
  for (const Reply& reply : replies) {
    if (reply.is_integer()) minimum = std::min(minimum, reply.integer());
  }
  return Reply::Integer(minimum);
}

// Element by element.
Reply LogicalAnd(const std::vector<Reply>& replies) {
  std::vector<Reply> all = replies[0].is_array() ? replies[0].elements() : std::vector<Reply>();
  for (const Reply& reply : replies) {
    if (!reply.is_array()) continue;
    for (size_t i = 0; i < std::min(all.size(), reply.elements().size()); ++i) {
      if (reply.elements()[i] == Reply::Integer(0)) all[i] = Reply::Integer(0);
    }
  }
  return Reply::Array(std::move(all));
}

Reply Joined(std::vector<Reply> replies) {
  std::vector<Reply> all;
  for (Reply& reply : replies) {
    if (!reply.is_array()) return std::move(replies[0]);
    for (Reply& element : std::move(reply).elements()) all.push_back(std::move(element));
  }
  return Reply::Array(std::move(all));
}

}  // namespace

bool HasTip(CommandId id, std::string_view tip) {
  return store::DetailsOf(id).tips.find(tip) != std::string_view::npos;
}

absl::StatusOr<Route> RouteOf(const Command& command, const ServerCommands* server) {
  const CommandId id = store::RowOf(command);
  if (id == CommandId::kUnknown) {
    if (server == nullptr) return WithoutKeys(command);
    const auto keys = server->KeysOf(command.name(), command.arguments());
    return keys && !keys->empty() ? RouteOfKeys(command, *keys) : WithoutKeys(command);
  }
  const std::vector<size_t> keys = KeysOf(id, command.arguments());
  if (!keys.empty()) return RouteOfKeys(command, keys);
  if (id == CommandId::kScan) return Route{Route::Kind::kScan};
  if (GoesToAllMasters(id)) return Route{Route::Kind::kAllMasters};
  return WithoutKeys(command);
}

absl::StatusOr<Route> RouteOfTransaction(std::span<const Command> commands,
                                         const ServerCommands* server) {
  std::optional<Route> whole;
  for (const Command& command : commands) {
    REDOUBLE_ASSIGN_OR_RETURN(const Route route, RouteOf(command, server));
    if (route.kind == Route::Kind::kAllMasters || route.kind == Route::Kind::kScan) {
      return Refused(absl::StrCat(UpperName(command),
                                  " concerns all nodes of the cluster and cannot be part of a "
                                  "transaction, which one node runs"));
    }
    const bool first_key =
        route.kind == Route::Kind::kSlot && (!whole || whole->kind == Route::Kind::kNoKeys);
    if (!whole || first_key) {
      whole = route;
    } else if (route.kind == Route::Kind::kSlot && route.slot != whole->slot) {
      return CrossSlot("a transaction", whole->slot, route.slot);
    }
  }
  return whole ? *whole : Route();
}

Reply MergeReplies(const Command& command, std::vector<Reply> replies) {
  const CommandId id = store::RowOf(command);
  const auto is_error = [](const Reply& reply) { return reply.is_error(); };
  const auto error = std::find_if(replies.begin(), replies.end(), is_error);
  if (HasTip(id, "response_policy:one_succeeded")) {
    const auto success = std::find_if_not(replies.begin(), replies.end(), is_error);
    return std::move(success == replies.end() ? replies[0] : *success);
  }
  if (error != replies.end()) return std::move(*error);
  if (HasTip(id, "response_policy:agg_sum")) return Sum(replies);
  if (HasTip(id, "response_policy:agg_min")) return Minimum(replies);
  if (HasTip(id, "response_policy:agg_logical_and")) return LogicalAnd(replies);
  if (HasTip(id, "response_policy:")) return std::move(replies[0]);
  return Joined(std::move(replies));
}

std::optional<ScanPosition> ReadScanCursor(const Command& scan, size_t masters) {
  uint64_t cursor = 0;
  if (scan.arguments().empty()) return std::nullopt;
  if (!absl::SimpleAtoi(base::ToAbsl(scan.arguments()[0]), &cursor)) return std::nullopt;
  return ScanPosition{static_cast<size_t>(cursor % masters), cursor / masters};
}

Reply WithClusterCursor(Reply reply, size_t master, size_t masters) {
  uint64_t cursor = 0;
  const bool page = reply.is_array() && reply.elements().size() == 2 &&
                    reply.elements()[0].is_bulk() &&
                    absl::SimpleAtoi(reply.elements()[0].text(), &cursor);
  if (!page) return reply;
  if (cursor > (kMaxCursor - master) / masters) {
    return Reply::Error("ERR the cursor is too large to be one of a cluster");
  }
  const bool done = cursor == 0;
  const uint64_t next = !done ? cursor * masters + master : master + 1 < masters ? master + 1 : 0;
  std::vector<Reply> elements = std::move(reply).elements();
  elements[0] = Reply::Bulk(absl::StrCat(next));
  return Reply::Array(std::move(elements));
}

}  // namespace redouble::inline v0_1::redis
