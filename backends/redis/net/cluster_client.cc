#include "backends/redis/net/cluster_client.h"

#include <boost/asio/steady_timer.hpp>
#include <boost/system/error_code.hpp>
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/status/status.h"
#include "backends/redis/net/client_start.h"
#include "backends/redis/net/node_lines.h"
#include "core/base/crc.h"

namespace redouble::redis {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using std::chrono::steady_clock;

absl::Status CheckOptions(const Options& options) {
  if (absl::Status status = options.Validate(); !status.ok()) return status;
  if (!options.cluster) {
    return absl::InvalidArgumentError("ClusterClient needs options with cluster=yes");
  }
  return absl::OkStatus();
}

}  // namespace

// Performs what the machine asks for. Pending operations keep it alive, so that a waiter may
// destroy the client.
class ClusterClient::Core final : public store::RequestKeeper,
                                  public std::enable_shared_from_this<Core> {
 public:
  Core(asio::any_io_executor executor, const Options& options, const ClientHooks& hooks)
      : options_(options),
        machine_(options_, hooks.is_idempotent),
        lines_(std::make_shared<NodeLines>(executor, options_, hooks)),
        timer_(executor) {}

  // Asks for the map; calls `started` once it is there, or known not to come.
  void Start(std::function<void()> started) {
    started_ = std::move(started);
    machine_.Start(SteadyMicros());
    Perform();
  }

  void Submit(store::Request& request) {
    request.SetKeeper(this);
    machine_.Submit(request, SteadyMicros());
    Perform();
  }

  void Abandon(store::Request& request) override {
    machine_.Abandon(request);
    Perform();
  }

  void Close(const std::string& reason) {
    const auto self = shared_from_this();
    started_ = nullptr;
    timer_.cancel();
    machine_.Close(reason);
    Perform();
    sent_.clear();
    lines_->Close();
  }

  const Options& options() const { return options_; }
  const ClusterMachine& machine() const { return machine_; }
  Counters traffic() const { return lines_->counters(); }

 private:
  static constexpr uint64_t kMapRequest = 0;

  void Perform() {
    for (const uint64_t part : machine_.TakeDropped()) sent_.erase(part);
    if (performing_) return;
    performing_ = true;
    while (const std::optional<ClusterAction> action = machine_.NextAction()) Perform(*action);
    performing_ = false;
  }

  void Perform(const ClusterAction& action) {
    switch (action.kind) {
      case ClusterAction::Kind::kSend: {
        const ClusterPart& part = machine_.Part(action.part);
        return Send(action.part, action.node, part.kind(), part.commands());
      }
      case ClusterAction::Kind::kAskMap:
        return Send(kMapRequest, action.node, store::Request::Kind::kCommand,
                    std::span(&ask_map_, 1));
      case ClusterAction::Kind::kWake:
        return SetTimer(action.at_us);
    }
  }

  void Send(uint64_t id, size_t node, store::Request::Kind kind,
            std::span<const store::Command> commands) {
    auto done = [this, id, node](bool reached, absl::StatusOr<store::Reply> result) {
      const auto self = shared_from_this();
      sent_.erase(id);
      OnDone(id, node, reached, std::move(result));
    };
    auto& request = sent_[id];
    request = std::make_unique<NodeRequest>(kind, commands, std::move(done));
    lines_->Submit(machine_.Address(node), *request);
  }

  void OnDone(uint64_t id, size_t node, bool reached, absl::StatusOr<store::Reply> result) {
    if (id == kMapRequest) {
      machine_.MapAnswered(node, result, SteadyMicros());
      ReportStart();
    } else if (reached) {
      machine_.PartAnswered(id, std::move(result), SteadyMicros());
    } else {
      machine_.PartUnreachable(id, result.status(), SteadyMicros());
    }
    Perform();
  }

  void ReportStart() {
    if (started_ == nullptr) return;
    if (!machine_.ready() && machine_.start_status().ok()) return;
    const std::function<void()> started = std::exchange(started_, nullptr);
    started();
  }

  void SetTimer(int64_t at_us) {
    timer_.expires_at(steady_clock::time_point(std::chrono::microseconds(at_us)));
    timer_.async_wait([self = shared_from_this()](const error_code& error) {
      if (error) return;
      self->machine_.Timer(SteadyMicros());
      self->Perform();
    });
  }

  const Options options_;
  const store::Command ask_map_ = store::Command::Named("CLUSTER", kSlots);
  ClusterMachine machine_;
  const std::shared_ptr<NodeLines> lines_;
  asio::steady_timer timer_;
  std::map<uint64_t, std::unique_ptr<NodeRequest>> sent_;  // By part.
  std::function<void()> started_;
  bool performing_ = false;

  static constexpr std::string_view kSlots[] = {"SLOTS"};
};

base::Task<absl::StatusOr<std::unique_ptr<ClusterClient>>> ClusterClient::Connect(
    asio::any_io_executor executor, Options options) {
  return Connect(std::move(executor), std::move(options), ClientHooks());
}

base::Task<absl::StatusOr<std::unique_ptr<ClusterClient>>> ClusterClient::Connect(
    asio::any_io_executor executor, Options options, ClientHooks hooks) {
  if (absl::Status status = CheckOptions(options); !status.ok()) co_return status;
  const auto core = std::make_shared<Core>(executor, options, hooks);
  co_await StartAwaiter<Core>(*core);
  if (!core->machine().ready()) {
    const absl::Status status = core->machine().start_status();
    core->Close("no node gave the cluster's map");
    co_return status;
  }
  co_return absl::WrapUnique(new ClusterClient(core));
}

ClusterClient::ClusterClient(std::shared_ptr<Core> core) : core_(std::move(core)) {}

ClusterClient::~ClusterClient() { core_->Close("the client was destroyed"); }

void ClusterClient::Submit(store::Request& request) { core_->Submit(request); }

void ClusterClient::Close() { core_->Close("the client was closed"); }

const Options& ClusterClient::options() const { return core_->options(); }

const SlotMap& ClusterClient::map() const { return core_->machine().map(); }

absl::StatusOr<Options> ClusterClient::OptionsOfMaster(std::string_view key) const {
  const TcpAddress* const master = map().MasterOf(base::KeySlot(key));
  if (master == nullptr) return absl::UnavailableError("no master is known to serve the slot");
  Options options = NodeLines::ServerOptions(core_->options());
  options.address = *master;
  return options;
}

const ClusterCounters& ClusterClient::counters() const { return core_->machine().counters(); }

Counters ClusterClient::traffic() const { return core_->traffic(); }

}  // namespace redouble::redis
