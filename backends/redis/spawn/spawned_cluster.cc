#include "redouble/backends/redis/spawn/spawned_cluster.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "redouble/backends/redis/net/client/sync_client.h"
#include "redouble/backends/redis/spawn/ask_server.h"
#include "redouble/backends/redis/spawn/child_process.h"
#include "redouble/backends/redis/spawn/private_folder.h"
#include "redouble/core/base/hash/crc.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/store/cluster/slot_move.h"

namespace redouble::inline v0_1::redis {
namespace {

constexpr absl::Duration kPollInterval = absl::Milliseconds(5);
// With a held clock, hours may pass between two pings.
constexpr absl::Duration kNeverDead = absl::Hours(24 * 365 * 20);
// Longer than a restarted master refuses to serve.
constexpr absl::Duration kStartDelay = absl::Seconds(3);

// A name of 40 hexadecimal digits.
std::string NamedBy(char digit, size_t index) {
  const std::string number = absl::StrCat(absl::Hex(index + 1, absl::kZeroPad4));
  return std::string(40 - number.size(), digit) + number;
}

}  // namespace

absl::StatusOr<std::unique_ptr<SpawnedCluster>> SpawnedCluster::Start(
    const SpawnedClusterOptions& options) {
  std::unique_ptr<SpawnedCluster> cluster(new SpawnedCluster(options));
  REDOUBLE_ASSIGN_OR_RETURN(PrivateFolder folder, PrivateFolder::Create("redouble-cluster-"));
  cluster->folder_ = std::make_unique<PrivateFolder>(std::move(folder));
  REDOUBLE_RETURN_IF_ERROR(cluster->ReservePorts());
  REDOUBLE_ASSIGN_OR_RETURN(const bool names_shards, cluster->NamesShards());
  for (size_t i = 0; i < cluster->ports_.size(); ++i) {
    REDOUBLE_RETURN_IF_ERROR(cluster->WriteNodesFile(i, names_shards));
    SpawnedServerOptions server;
    server.port = cluster->ports_[i];
    server.tls = options.tls;
    server.held_time = options.held_time;
    server.config = cluster->Config(i);
    server.patience = options.patience;
    REDOUBLE_ASSIGN_OR_RETURN(std::unique_ptr<SpawnedServer> node, SpawnedServer::Start(server));
    cluster->nodes_.push_back(std::move(node));
  }
  REDOUBLE_RETURN_IF_ERROR(cluster->WaitUntilServing());
  return cluster;
}

SpawnedCluster::~SpawnedCluster() = default;

std::string SpawnedCluster::NodeId(size_t index) { return NamedBy('a', index); }

absl::Status SpawnedCluster::ReservePorts() {
  for (size_t i = 0; i < options_.masters * (1 + options_.replicas); ++i) {
    REDOUBLE_ASSIGN_OR_RETURN(auto port, LoopbackPort::Reserve());
    ports_.push_back(std::move(port));
    REDOUBLE_ASSIGN_OR_RETURN(auto bus_port, LoopbackPort::Reserve());
    bus_ports_.push_back(std::move(bus_port));
  }
  return absl::OkStatus();
}

std::string SpawnedCluster::NodesFile(size_t index) const {
  return folder_->PathOf(absl::StrCat("nodes-", index, ".conf"));
}

std::pair<int, int> SpawnedCluster::SlotsOf(size_t master) const {
  const auto bound = [&](size_t i) {
    return static_cast<int>(i * base::kClusterSlots / options_.masters);
  };
  return {bound(master), bound(master + 1) - 1};
}

absl::StatusOr<bool> SpawnedCluster::NamesShards() const {
  ChildProcessOptions options;
  REDOUBLE_ASSIGN_OR_RETURN(options.executable, FindExecutable(SpawnedServerOptions().executable));
  options.arguments = {"--version"};
  options.output_path = folder_->PathOf("version");
  REDOUBLE_ASSIGN_OR_RETURN(const auto process, ChildProcess::Start(options));
  if (!process->WaitForExit(options_.patience)) {
    return absl::DeadlineExceededError(absl::StrCat(options.executable, " --version does not end"));
  }
  REDOUBLE_ASSIGN_OR_RETURN(const std::string text, ReadFile(options.output_path));
  // "Redis server v=7.0.15 sha=..."
  const std::vector<std::string> halves = absl::StrSplit(text, "v=");
  const std::vector<std::string> numbers = absl::StrSplit(halves.back(), '.');
  std::pair<int, int> version;
  if (halves.size() != 2 || numbers.size() < 2 || !absl::SimpleAtoi(numbers[0], &version.first) ||
      !absl::SimpleAtoi(numbers[1], &version.second)) {
    return absl::FailedPreconditionError(
        absl::StrCat(options.executable, " --version says no version: ", text));
  }
  return version >= std::pair(7, 2);
}

// The nodes.conf of node `self`: the whole cluster. A server that names shards ends at its first
// SPUBLISH without them; Redis 7.0 would take them for the host's name.
absl::Status SpawnedCluster::WriteNodesFile(size_t self, bool names_shards) const {
  std::string text;
  for (size_t i = 0; i < ports_.size(); ++i) {
    const size_t master = i % options_.masters;
    absl::StrAppend(&text, NodeId(i), " 127.0.0.1:", ports_[i]->number(), "@",
                    bus_ports_[i]->number());
    if (names_shards) absl::StrAppend(&text, ",,shard-id=", NamedBy('b', master));
    text += i == self ? " myself," : " ";
    if (i == master) {
      const auto [first, last] = SlotsOf(master);
      absl::StrAppend(&text, "master - 0 0 ", master + 1, " connected ", first, "-", last, "\n");
    } else {
      absl::StrAppend(&text, "slave ", NodeId(master), " 0 0 ", master + 1, " connected\n");
    }
  }
  absl::StrAppend(&text, "vars currentEpoch ", options_.masters, " lastVoteEpoch 0\n");
  return WriteFile(NodesFile(self), text);
}

std::vector<std::string> SpawnedCluster::Config(size_t index) const {
  const absl::Duration node_timeout = options_.held_time ? kNeverDead : options_.node_timeout;
  std::vector<std::string> config = {
      "cluster-enabled yes",
      absl::StrCat("cluster-config-file ", NodesFile(index)),
      absl::StrCat("cluster-port ", bus_ports_[index]->number()),
      absl::StrCat("cluster-node-timeout ", absl::ToInt64Milliseconds(node_timeout)),
      "repl-diskless-sync-delay 0",
      // Replicas are listed for clients once they have received data.
      "repl-ping-replica-period 1",
  };
  if (options_.tls) {
    config.push_back("tls-cluster yes");
    config.push_back("tls-replication yes");
  }
  // The fastest timer in several nodes would keep a small machine busy.
  if (!options_.held_time) config.push_back("hz 20");
  config.insert(config.end(), options_.config.begin(), options_.config.end());
  return config;
}

std::string SpawnedCluster::uri() const {
  std::string uri = absl::StrCat(options_.tls ? "rediss" : "redis",
                                 "://127.0.0.1:", ports_[0]->number(), "?cluster=yes");
  for (size_t i = 1; i < ports_.size(); ++i) {
    absl::StrAppend(&uri, i == 1 ? "&seeds=" : ",", "127.0.0.1:", ports_[i]->number());
  }
  return uri;
}

absl::Status SpawnedCluster::SetTime(absl::Time now) {
  for (const auto& node : nodes_) {
    REDOUBLE_RETURN_IF_ERROR(node->SetTime(now));
  }
  return absl::OkStatus();
}

absl::Status SpawnedCluster::Settle() {
  for (const auto& node : nodes_) {
    if (node->pid() == 0) continue;
    REDOUBLE_RETURN_IF_ERROR(node->Settle());
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> SpawnedCluster::Serves(const SpawnedServer& node) const {
  REDOUBLE_ASSIGN_OR_RETURN(std::string state, AskServer(node, "CLUSTER", "INFO"));
  if (!absl::StartsWith(state, "cluster_state:ok")) return false;
  REDOUBLE_ASSIGN_OR_RETURN(std::string replication, AskServer(node, "INFO", "replication"));
  return !absl::StrContains(replication, "role:slave") ||
         absl::StrContains(replication, "master_link_status:up");
}

absl::Status SpawnedCluster::MoveSlot(int slot, size_t from, size_t to) {
  std::vector<std::unique_ptr<SyncClient>> clients;
  std::vector<store::Store*> all;
  std::vector<store::Store*> others;
  for (size_t master = 0; master < options_.masters; ++master) {
    REDOUBLE_ASSIGN_OR_RETURN(clients.emplace_back(), SyncClient::Connect(node(master).uri()));
    all.push_back(clients.back().get());
    if (master != from && master != to) others.push_back(clients.back().get());
  }
  const auto end = [&](size_t index) {
    return store::SlotNode{clients[index].get(), NodeId(index), "127.0.0.1", node(index).port()};
  };
  const auto end_of_patience = PatienceEnd();
  while (true) {
    REDOUBLE_ASSIGN_OR_RETURN(const bool agree, base::Run(store::AgreeOnEpochs(all)));
    if (agree) break;
    if (std::chrono::steady_clock::now() > end_of_patience) {
      return absl::DeadlineExceededError("the masters do not hear of each other's moves");
    }
    nodes_[to]->WaitForExit(kPollInterval);
  }
  return base::Run(store::MoveSlot(slot, end(from), end(to), others));
}

std::chrono::steady_clock::time_point SpawnedCluster::PatienceEnd() const {
  return std::chrono::steady_clock::now() +
         std::chrono::duration_cast<std::chrono::steady_clock::duration>(
             absl::ToChronoNanoseconds(options_.patience));
}

absl::Status SpawnedCluster::WaitUntilServing() {
  const auto end = PatienceEnd();
  for (const auto& node : nodes_) {
    while (!node->WaitForExit(kPollInterval)) {
      REDOUBLE_ASSIGN_OR_RETURN(const bool serves, Serves(*node));
      if (serves) break;
      if (std::chrono::steady_clock::now() > end) {
        return absl::DeadlineExceededError("the cluster does not begin to serve");
      }
      if (const std::optional<absl::Time> now = node->held_time()) {
        REDOUBLE_RETURN_IF_ERROR(SetTime(*now + kStartDelay));
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace redouble::inline v0_1::redis
