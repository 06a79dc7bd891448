#include "redouble/sim/world/servers/cluster_bus.h"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <set>
#include <utility>

#include "redouble/backends/memory/engine/engine_core.h"
#include "redouble/core/base/hash/crc.h"
#include "redouble/sim/world/servers/server_links.h"

namespace redouble::inline v0_1::sim {
namespace {

memory::ClusterAddress AddressOf(const ClusterBus::Node& node) {
  return {.host = node.name, .port = kServerPort};
}

// The index of the shard whose master has the name.
size_t ShardOf(const std::vector<memory::ClusterShard>& shards, const std::string& master) {
  const auto found =
      std::find_if(shards.begin(), shards.end(),
                   [&](const memory::ClusterShard& shard) { return shard.master.host == master; });
  assert(found != shards.end());
  return static_cast<size_t>(found - shards.begin());
}

// Divides the slots, as redis-cli --cluster create does.
void ShareSlots(std::vector<memory::ClusterShard>& shards) {
  const auto count = static_cast<int>(shards.size());
  for (int i = 0; i < count; ++i) {
    shards[static_cast<size_t>(i)].slots = {{.first = i * base::kClusterSlots / count,
                                             .last = (i + 1) * base::kClusterSlots / count - 1}};
  }
}

}  // namespace

std::vector<memory::ClusterOptions> ClusterBus::Nodes(const std::vector<Node>& nodes) {
  std::vector<memory::ClusterShard> shards;
  std::vector<memory::ClusterOptions> options;
  for (const Node& node : nodes) {
    memory::ClusterOptions& added = options.emplace_back();
    if (node.master.empty()) {
      added.self = shards.size();
      shards.push_back({.master = AddressOf(node)});
    } else {
      added.self = ShardOf(shards, node.master);
      std::vector<memory::ClusterAddress>& replicas = shards[added.self].replicas;
      added.self_replica = replicas.size();
      replicas.push_back(AddressOf(node));
    }
  }
  ShareSlots(shards);
  for (memory::ClusterOptions& each : options) each.shards = shards;
  return options;
}

WorldServer& ClusterBus::Find(const WorldServer& server) const {
  return **std::find(servers_.begin(), servers_.end(), &server);
}

ClusterBus::ClusterBus(std::vector<WorldServer*> servers) : servers_(std::move(servers)) {
  for (WorldServer* server : servers_) {
    server->engine().core().SetClusterListener([this] { OnChange(); });
  }
  OnChange();
}

ClusterBus::~ClusterBus() {
  for (WorldServer* server : servers_) server->engine().core().SetClusterListener(nullptr);
}

void ClusterBus::OnChange() {
  news_.clear();
  for (size_t receiver = 0; receiver < servers_.size(); ++receiver) {
    for (size_t sender = 0; sender < servers_.size(); ++sender) {
      if (receiver == sender) continue;
      const bool is_new = servers_[receiver]->cluster()->HasNews(*servers_[sender]->cluster());
      if (is_new) news_.push_back({.receiver = receiver, .sender = sender});
    }
  }
  if (listener_) listener_();
}

void ClusterBus::Tell(News news) {
  const memory::ClusterView& said = *servers_[news.sender]->cluster();
  memory::EngineCore& core = servers_[news.receiver]->engine().core();
  std::set<int> lost;
  core.ChangeCluster([&](memory::ClusterView& view) { lost = view.Learn(said); });
  core.RemoveKeysInSlots(lost);
  core.FinishCommand();
  core.DeliverPending();
}

void ClusterBus::TakeOver(const WorldServer& replica, const WorldServer& former) {
  WorldServer& next = Find(replica);
  WorldServer& last = Find(former);
  uint64_t newest = 0;
  for (WorldServer* server : servers_) {
    newest = std::max(newest, server->cluster()->current_epoch());
  }
  next.engine().core().ChangeCluster([&](memory::ClusterView& view) {
    // It has the keys of slots that its master got lately.
    if (view.HasNews(*last.cluster())) view.Learn(*last.cluster());
    view.TakeOver(newest + 1);
  });
  last.engine().core().ChangeCluster(
      [&](memory::ClusterView& view) { view.Learn(*next.cluster()); });
}

}  // namespace redouble::inline v0_1::sim
