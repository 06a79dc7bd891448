#include "redouble/tests/conformance/cluster_server.h"

#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

namespace redouble::inline v0_1::tests {
namespace {

constexpr std::string_view kNodeId = "3a5b1f0c9d8e7f6a5b4c3d2e1f0a9b8c7d6e5f40";
// Only announced; the server does not listen on this port.
constexpr int kPort = 6379;
constexpr int kBusPort = 16379;

template <typename T>
T Require(absl::StatusOr<T> result) {
  if (!result.ok()) throw std::runtime_error(result.status().ToString());
  return *std::move(result);
}

// Writes the node's cluster configuration: a single node that serves all slots.
void WriteNodesFile(const std::string& path) {
  std::ofstream(path) << kNodeId << " 127.0.0.1:" << kPort << "@" << kBusPort
                      << " myself,master - 0 0 0 connected 0-16383\n"
                      << "vars currentEpoch 0 lastVoteEpoch 0\n";
}

// A node begins to serve about two seconds of its clock after its start.
void WaitUntilServing(Target& target) {
  constexpr int kAttempts = 1000;
  target.Reset(absl::FromUnixSeconds(1'700'000'000));
  for (int i = 0; i < kAttempts; ++i) {
    target.SetTime(target.now() + absl::Seconds(3));
    target.Settle();
    const std::optional<store::Reply> info = target.Run(0, {"CLUSTER", "INFO"});
    if (info && info->is_bulk() && info->text().starts_with("cluster_state:ok")) return;
  }
  throw std::runtime_error("the node of the cluster does not begin to serve");
}

}  // namespace

memory::EngineOptions ClusterEngineOptions() {
  memory::EngineOptions options;
  options.cluster = memory::ClusterOptions();
  options.cluster->shards[0].master = {.id = std::string(kNodeId), .port = kPort};
  return options;
}

ClusterServer::ClusterServer(std::string executable)
    : bus_port_(Require(redis::LoopbackPort::Reserve())),
      folder_(std::make_unique<redis::PrivateFolder>(
          Require(redis::PrivateFolder::Create("redouble-")))) {
  const std::string nodes_file = folder_->PathOf("nodes.conf");
  WriteNodesFile(nodes_file);
  target_ = std::make_unique<ServerTarget>(
      std::vector<std::string>{
          "cluster-enabled yes",
          "enable-debug-command yes",
          absl::StrCat("cluster-config-file ", nodes_file),
          absl::StrCat("cluster-port ", bus_port_->number()),
          "cluster-announce-ip 127.0.0.1",
          absl::StrCat("cluster-announce-port ", kPort),
          absl::StrCat("cluster-announce-bus-port ", kBusPort),
      },
      /*resp3=*/false, std::move(executable));
  WaitUntilServing(*target_);
}

}  // namespace redouble::inline v0_1::tests
