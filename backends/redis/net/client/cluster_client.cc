#include "redouble/backends/redis/net/client/cluster_client.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/status/status.h"
#include "redouble/backends/redis/net/client/multi_server_core.h"
#include "redouble/backends/redis/net/client/node_connections.h"
#include "redouble/core/base/hash/crc.h"
#include "redouble/core/base/status/status_macros.h"

namespace redouble::redis {
namespace {

namespace asio = boost::asio;

absl::Status CheckOptions(const Options& options) {
  REDOUBLE_RETURN_IF_ERROR(options.Validate());
  if (!options.cluster) {
    return absl::InvalidArgumentError("ClusterClient needs options with cluster=yes");
  }
  return absl::OkStatus();
}

}  // namespace

class ClusterClient::Core final : public MultiServerCore<ClusterMachine, ClusterAction> {
 public:
  using MultiServerCore::MultiServerCore;

  bool ready() const override { return machine().ready(); }

 private:
  void WantTopology() override { mutable_machine().WantMap(SteadyMicros()); }
  uint64_t topology() override {
    return machine().counters().map_reads + machine().counters().moved;
  }

  // The id of CLUSTER SLOTS among the requests under way; parts are numbered from 1.
  static constexpr uint64_t kMapRequest = 0;

  void PerformAction(const ClusterAction& action) override {
    switch (action.kind) {
      case ClusterAction::Kind::kSend:
        return SendPart(action.part, action.node);
      case ClusterAction::Kind::kAskMap:
        return AskMap(action.node);
      case ClusterAction::Kind::kWake:
        return SetTimer(action.at_us);
    }
  }

  void SendPart(uint64_t id, size_t node) {
    const ClusterPart& part = machine().Part(id);
    Send(nodes(), id, machine().Address(node), part.kind(), part.commands(),
         [this, id](bool reached, absl::StatusOr<store::Reply> result) {
           if (reached) {
             mutable_machine().PartAnswered(id, std::move(result), SteadyMicros());
           } else {
             mutable_machine().PartUnreachable(id, result.status(), SteadyMicros());
           }
         });
  }

  void AskMap(size_t node) {
    Send(nodes(), kMapRequest, machine().Address(node), store::Request::Kind::kPipeline, ask_map_,
         [this, node](bool, absl::StatusOr<store::Reply> result) {
           mutable_machine().MapAnswered(node, result, SteadyMicros());
         });
  }

  void AfterActions() override {
    for (const TcpAddress& address : mutable_machine().TakeForgotten()) nodes().Forget(address);
  }

  static constexpr std::string_view kSlots[] = {"SLOTS"};
  static constexpr std::string_view kInfo[] = {"INFO"};
  const store::Command ask_map_[2] = {store::Command::Named("CLUSTER", kSlots),
                                      store::Command::Named("CLUSTER", kInfo)};
};

base::Task<absl::StatusOr<std::unique_ptr<ClusterClient>>> ClusterClient::Connect(
    asio::any_io_executor executor, Options options) {
  return Connect(std::move(executor), std::move(options), ClientHooks());
}

base::Task<absl::StatusOr<std::unique_ptr<ClusterClient>>> ClusterClient::Connect(
    asio::any_io_executor executor, Options options, ClientHooks hooks) {
  REDOUBLE_CO_RETURN_IF_ERROR(CheckOptions(options));
  const auto core = std::make_shared<Core>(executor, options, hooks);
  REDOUBLE_CO_RETURN_IF_ERROR(co_await StartCore(core, "no node gave the cluster's map"));
  co_return absl::WrapUnique(new ClusterClient(core));
}

ClusterClient::ClusterClient(std::shared_ptr<Core> core) : core_(std::move(core)) {}

ClusterClient::~ClusterClient() { core_->Close("the client was destroyed"); }

void ClusterClient::Submit(store::Request& request) { core_->Submit(request); }

void ClusterClient::Close() { core_->Close("the client was closed"); }

void ClusterClient::Refresh() { core_->Refresh(); }

void ClusterClient::set_on_topology(std::function<void()> on_topology) {
  core_->set_on_topology(std::move(on_topology));
}

const Options& ClusterClient::options() const { return core_->options(); }

const SlotMap& ClusterClient::map() const { return core_->machine().map(); }

absl::StatusOr<Options> ClusterClient::OptionsOfMaster(std::string_view key) const {
  const TcpAddress* const master = map().MasterOf(base::KeySlot(key));
  if (master == nullptr) return absl::UnavailableError("no master is known to serve the slot");
  return NodeConnections::ServerOptionsAt(core_->options(), *master);
}

const ClusterCounters& ClusterClient::counters() const { return core_->machine().counters(); }

Counters ClusterClient::traffic() const { return core_->traffic(); }

}  // namespace redouble::redis
