// The subcommands of CLUSTER that report the simulated topology of EngineOptions::cluster, and keys
// of slots; ASKING, READONLY and READWRITE.
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "redouble/backends/memory/cluster/cluster_view.h"
#include "redouble/backends/memory/commands/cluster/cluster_nodes.h"
#include "redouble/backends/memory/commands/help.h"
#include "redouble/backends/memory/compatibility/feature.h"
#include "redouble/backends/memory/engine/argument.h"
#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/backends/memory/engine/handlers.h"
#include "redouble/core/base/text/redis_number.h"

namespace redouble::inline v0_1::memory {
namespace {

// Consecutive slots of one shard.
struct ServedRange {
  int first;
  int last;
  int16_t shard;
};

std::vector<ServedRange> ServedRanges(const ClusterView& view) {
  std::vector<ServedRange> ranges;
  for (int slot = 0; slot < base::kClusterSlots; ++slot) {
    const int16_t shard = view.ShardOf(slot);
    if (shard == ClusterView::kNobody) continue;
    const bool continues =
        !ranges.empty() && ranges.back().last == slot - 1 && ranges.back().shard == shard;
    if (!continues) ranges.push_back({slot, slot, shard});
    ranges.back().last = slot;
  }
  return ranges;
}

// The number of shards with at least one slot.
int64_t ServingShards(const ClusterView& view) {
  std::vector<bool> serves(view.shards().size());
  for (const ServedRange& range : ServedRanges(view))
    serves[static_cast<size_t>(range.shard)] = true;
  int64_t count = 0;
  for (const bool one : serves) count += one ? 1 : 0;
  return count;
}

int64_t KnownNodes(const ClusterView& view) {
  size_t count = 0;
  for (const ClusterShard& shard : view.shards()) count += 1 + shard.replicas.size();
  return static_cast<int64_t>(count);
}

// "id host:port@bus flags master ping pong epoch link": a node's line without its slots. The pong
// time of the node itself is 0; that of the others is now.
std::string NodeLine(const ClusterAddress& node, std::string_view flags, std::string_view master,
                     int64_t pong_ms, uint64_t epoch) {
  return absl::StrCat(node.id, " ", node.host, ":", node.port, "@", node.port + kBusPortOffset, " ",
                      base::ToAbsl(flags), " ", base::ToAbsl(master), " 0 ", pong_ms, " ", epoch,
                      " connected");
}

std::string ReplicaLine(const ClusterView& view, size_t shard, const ClusterAddress& replica,
                        int64_t now_ms) {
  const bool is_self = replica.id == view.address().id;
  return NodeLine(replica, is_self ? "myself,slave" : "slave", view.shards()[shard].master.id,
                  is_self ? 0 : now_ms, view.EpochOf(shard));
}

// The slots that the node itself is giving away or getting: " [5->-id] [7-<-id]".
std::string MovingSlots(const ClusterView& view) {
  std::map<int, std::string> texts;
  const auto add = [&](const std::map<int, size_t>& moving, absl::string_view arrow) {
    for (const auto& [slot, shard] : moving) {
      absl::StrAppend(&texts[slot], " [", slot, arrow, view.shards()[shard].master.id, "]");
    }
  };
  add(view.migrating(), "->-");
  add(view.importing(), "-<-");
  std::string text;
  for (const auto& [slot, moves] : texts) text += moves;
  return text;
}

Reply SlotsNode(const ClusterAddress& node) {
  return Reply::Array(
      {Reply::Bulk(node.host), Reply::Integer(node.port), Reply::Bulk(node.id), Reply::Map({})});
}

Reply ShardsNode(const ClusterAddress& node, std::string_view role) {
  return Reply::Map({Reply::Bulk("id"), Reply::Bulk(node.id), Reply::Bulk("port"),
                     Reply::Integer(node.port), Reply::Bulk("ip"), Reply::Bulk(node.host),
                     Reply::Bulk("endpoint"), Reply::Bulk(node.host), Reply::Bulk("role"),
                     Reply::Bulk(role), Reply::Bulk("replication-offset"), Reply::Integer(0),
                     Reply::Bulk("health"), Reply::Bulk("online")});
}

// Visits each key of the database in the slot, newest first.
template <typename Visit>
void ForEachKeyInSlot(CommandContext& context, int slot, Visit visit) {
  Database& db = context.db();
  for (size_t i = db.size(); i > 0; --i) {
    const std::string_view key = db.at(i - 1).key();
    if (base::KeySlot(key) == slot && !visit(key)) return;
  }
}

Reply SetReadsReplica(CommandContext& context, bool reads) {
  const bool alone = context.engine().Has(Feature::kReadOnlyAlone);
  if (context.engine().cluster() == nullptr && !alone) return ClusterDisabled();
  context.session().set_reads_replica(reads);
  return Reply::Ok();
}

}  // namespace

Reply ClusterDisabled() { return Reply::Error("ERR This instance has cluster support disabled"); }

Reply UnknownNode(std::string_view id) {
  return Reply::Error("ERR Unknown node " + WordInError(id));
}

Reply InvalidSlot() { return Reply::Error("ERR Invalid or out of range slot"); }

std::optional<int> ReadSlot(std::string_view text) {
  const std::optional<int64_t> slot = base::ParseInt64(text);
  if (!slot || !IsSlot(*slot)) return std::nullopt;
  return static_cast<int>(*slot);
}

int64_t CountKeysInSlot(CommandContext& context, int slot) {
  int64_t count = 0;
  ForEachKeyInSlot(context, slot, [&](std::string_view) {
    ++count;
    return true;
  });
  return count;
}

std::optional<ClusterNode> FindNode(const ClusterView& view, std::string_view id) {
  for (size_t i = 0; i < view.shards().size(); ++i) {
    const ClusterShard& shard = view.shards()[i];
    if (shard.master.id == id) return ClusterNode{i, true};
    for (const ClusterAddress& replica : shard.replicas) {
      if (replica.id == id) return ClusterNode{i, false};
    }
  }
  return std::nullopt;
}

Reply HandleClusterCountKeysInSlot(CommandContext& context, Arguments arguments) {
  if (context.engine().cluster() == nullptr) return ClusterDisabled();
  const std::optional<int64_t> slot = base::ParseInt64(arguments[0]);
  if (!slot) return Reply::Error(error_text::kNotAnInteger);
  if (!IsSlot(*slot)) return Reply::Error("ERR Invalid slot");
  return Reply::Integer(CountKeysInSlot(context, static_cast<int>(*slot)));
}

Reply HandleClusterGetKeysInSlot(CommandContext& context, Arguments arguments) {
  if (context.engine().cluster() == nullptr) return ClusterDisabled();
  const std::optional<int64_t> slot = base::ParseInt64(arguments[0]);
  if (!slot) return Reply::Error(error_text::kNotAnInteger);
  const std::optional<int64_t> most = base::ParseInt64(arguments[1]);
  if (!most) return Reply::Error(error_text::kNotAnInteger);
  if (!IsSlot(*slot) || *most < 0) return Reply::Error("ERR Invalid slot or number of keys");
  std::vector<Reply> keys;
  if (*most == 0) return Reply::EmptyArray();
  ForEachKeyInSlot(context, static_cast<int>(*slot), [&](std::string_view key) {
    keys.push_back(Reply::Bulk(key));
    return static_cast<int64_t>(keys.size()) < *most;
  });
  return Reply::Array(std::move(keys));
}

Reply HandleClusterInfo(CommandContext& context, Arguments) {
  const ClusterView* view = context.engine().cluster();
  if (view == nullptr) return ClusterDisabled();
  std::string info;
  const auto line = [&info](absl::string_view name, const absl::AlphaNum& value) {
    absl::StrAppend(&info, name, ":", value, "\r\n");
  };
  line("cluster_state", view->is_up() ? "ok" : "fail");
  line("cluster_slots_assigned", view->assigned_slots());
  line("cluster_slots_ok", view->assigned_slots());
  line("cluster_slots_pfail", 0);
  line("cluster_slots_fail", 0);
  line("cluster_known_nodes", KnownNodes(*view));
  line("cluster_size", ServingShards(*view));
  line("cluster_current_epoch", view->current_epoch());
  line("cluster_my_epoch", view->EpochOf(view->self()));
  line("cluster_stats_messages_sent", 0);
  line("cluster_stats_messages_received", 0);
  line("total_cluster_links_buffer_limit_exceeded", 0);
  return Reply::Verbatim(std::move(info));
}

Reply HandleClusterKeySlot(CommandContext& context, Arguments arguments) {
  if (context.engine().cluster() == nullptr) return ClusterDisabled();
  return Reply::Integer(base::KeySlot(arguments[0]));
}

Reply HandleAsking(CommandContext& context, Arguments) {
  if (context.engine().cluster() == nullptr) return ClusterDisabled();
  context.session().AskNext();
  return Reply::Ok();
}

Reply HandleReadOnly(CommandContext& context, Arguments) { return SetReadsReplica(context, true); }

Reply HandleReadWrite(CommandContext& context, Arguments) {
  return SetReadsReplica(context, false);
}

Reply HandleClusterMyId(CommandContext& context, Arguments) {
  const ClusterView* view = context.engine().cluster();
  if (view == nullptr) return ClusterDisabled();
  return Reply::Bulk(view->address().id);
}

// The nodes of a shard share an id. Here it is the id of the master.
Reply HandleClusterMyShardId(CommandContext& context, Arguments) {
  const ClusterView* view = context.engine().cluster();
  if (view == nullptr) return ClusterDisabled();
  return Reply::Bulk(view->shards()[view->self()].master.id);
}

Reply HandleClusterNodes(CommandContext& context, Arguments) {
  const ClusterView* view = context.engine().cluster();
  if (view == nullptr) return ClusterDisabled();
  const std::vector<ServedRange> ranges = ServedRanges(*view);
  std::string nodes;
  for (size_t i = 0; i < view->shards().size(); ++i) {
    const ClusterShard& shard = view->shards()[i];
    const bool is_self = shard.master.id == view->address().id;
    absl::StrAppend(&nodes, NodeLine(shard.master, is_self ? "myself,master" : "master", "-",
                                     is_self ? 0 : context.now_ms(), view->EpochOf(i)));
    for (const ServedRange& range : ranges) {
      if (static_cast<size_t>(range.shard) != i) continue;
      absl::StrAppend(&nodes, " ", range.first);
      if (range.last != range.first) absl::StrAppend(&nodes, "-", range.last);
    }
    if (is_self) absl::StrAppend(&nodes, MovingSlots(*view));
    absl::StrAppend(&nodes, "\n");
    for (const ClusterAddress& replica : shard.replicas) {
      absl::StrAppend(&nodes, ReplicaLine(*view, i, replica, context.now_ms()), "\n");
    }
  }
  return Reply::Verbatim(std::move(nodes));
}

Reply HandleClusterShards(CommandContext& context, Arguments) {
  const ClusterView* view = context.engine().cluster();
  if (view == nullptr) return ClusterDisabled();
  const std::vector<ServedRange> ranges = ServedRanges(*view);
  std::vector<Reply> shards;
  for (size_t i = 0; i < view->shards().size(); ++i) {
    const ClusterShard& shard = view->shards()[i];
    std::vector<Reply> slots;
    for (const ServedRange& range : ranges) {
      if (static_cast<size_t>(range.shard) != i) continue;
      slots.push_back(Reply::Integer(range.first));
      slots.push_back(Reply::Integer(range.last));
    }
    std::vector<Reply> nodes = {ShardsNode(shard.master, "master")};
    for (const ClusterAddress& replica : shard.replicas) {
      nodes.push_back(ShardsNode(replica, "replica"));
    }
    shards.push_back(Reply::Map({Reply::Bulk("slots"), Reply::Array(std::move(slots)),
                                 Reply::Bulk("nodes"), Reply::Array(std::move(nodes))}));
  }
  return Reply::Array(std::move(shards));
}

Reply HandleClusterSlots(CommandContext& context, Arguments) {
  const ClusterView* view = context.engine().cluster();
  if (view == nullptr) return ClusterDisabled();
  std::vector<Reply> slots;
  for (const ServedRange& range : ServedRanges(*view)) {
    const ClusterShard& shard = view->shards()[static_cast<size_t>(range.shard)];
    std::vector<Reply> row = {Reply::Integer(range.first), Reply::Integer(range.last),
                              SlotsNode(shard.master)};
    for (const ClusterAddress& replica : shard.replicas) row.push_back(SlotsNode(replica));
    slots.push_back(Reply::Array(std::move(row)));
  }
  return Reply::Array(std::move(slots));
}

Reply HandleClusterReplicas(CommandContext& context, Arguments arguments) {
  const ClusterView* view = context.engine().cluster();
  if (view == nullptr) return ClusterDisabled();
  const std::optional<ClusterNode> node = FindNode(*view, arguments[0]);
  if (!node) return UnknownNode(arguments[0]);
  if (!node->is_master) return Reply::Error("ERR The specified node is not a master");
  const ClusterShard& shard = view->shards()[node->shard];
  std::vector<Reply> lines;
  for (const ClusterAddress& replica : shard.replicas) {
    lines.push_back(Reply::Bulk(ReplicaLine(*view, node->shard, replica, context.now_ms())));
  }
  return Reply::Array(std::move(lines));
}

Reply HandleClusterSlaves(CommandContext& context, Arguments arguments) {
  return HandleClusterReplicas(context, arguments);
}

// The other nodes do not exist: there are no links to them, and none is reported as failing.
Reply HandleClusterLinks(CommandContext& context, Arguments) {
  return context.engine().cluster() == nullptr ? ClusterDisabled() : Reply::EmptyArray();
}

Reply HandleClusterCountFailureReports(CommandContext& context, Arguments arguments) {
  const ClusterView* view = context.engine().cluster();
  if (view == nullptr) return ClusterDisabled();
  return FindNode(*view, arguments[0]) ? Reply::Integer(0) : UnknownNode(arguments[0]);
}

Reply HandleClusterHelp(CommandContext& context, Arguments) {
  if (context.engine().cluster() == nullptr) return ClusterDisabled();
  static constexpr HelpLine kHelp[] = {
      "ADDSLOTS <slot> [<slot> ...]",
      "    Assign slots to current node.",
      "ADDSLOTSRANGE <start slot> <end slot> [<start slot> <end slot> ...]",
      "    Assign slots which are between <start-slot> and <end-slot> to current node.",
      "BUMPEPOCH",
      "    Advance the cluster config epoch.",
      "COUNT-FAILURE-REPORTS <node-id>",
      "    Return number of failure reports for <node-id>.",
      "COUNTKEYSINSLOT <slot>",
      "    Return the number of keys in <slot>.",
      "DELSLOTS <slot> [<slot> ...]",
      "    Delete slots information from current node.",
      "DELSLOTSRANGE <start slot> <end slot> [<start slot> <end slot> ...]",
      "    Delete slots information which are between <start-slot> and <end-slot> from current "
      "node.",
      "FAILOVER [FORCE|TAKEOVER]",
      "    Promote current replica node to being a master.",
      "FORGET <node-id>",
      "    Remove a node from the cluster.",
      "GETKEYSINSLOT <slot> <count>",
      "    Return key names stored by current node in a slot.",
      "FLUSHSLOTS",
      "    Delete current node own slots information.",
      "INFO",
      "    Return information about the cluster.",
      "KEYSLOT <key>",
      "    Return the hash slot for <key>.",
      "MEET <ip> <port> [<bus-port>]",
      "    Connect nodes into a working cluster.",
      "MYID",
      "    Return the node id.",
      "NODES",
      "    Return cluster configuration seen by node. Output format:",
      "    <id> <ip:port> <flags> <master> <pings> <pongs> <epoch> <link> <slot> ...",
      "REPLICATE <node-id>",
      "    Configure current node as replica to <node-id>.",
      "RESET [HARD|SOFT]",
      "    Reset current node (default: soft).",
      "SET-CONFIG-EPOCH <epoch>",
      "    Set config epoch of current node.",
      "SETSLOT <slot> (IMPORTING <node-id>|MIGRATING <node-id>|STABLE|NODE <node-id>)",
      "    Set slot state.",
      "REPLICAS <node-id>",
      "    Return <node-id> replicas.",
      "SAVECONFIG",
      "    Force saving cluster configuration on disk.",
      "SLOTS",
      "    Return information about slots range mappings. Each range is made of:",
      "    start, end, master and replicas IP addresses, ports and ids",
      "SHARDS",
      "    Return information about slot range mappings and the nodes associated with them.",
      "LINKS",
      "    Return information about all network links between this node and its peers.",
      "    Output format is an array where each array element is a map containing attributes of a "
      "link",
  };
  return HelpReply(context, kHelp);
}

}  // namespace redouble::inline v0_1::memory
