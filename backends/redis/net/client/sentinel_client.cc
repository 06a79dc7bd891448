#include "redouble/backends/redis/net/client/sentinel_client.h"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/memory/memory.h"
#include "redouble/backends/redis/net/client/multi_server_core.h"
#include "redouble/backends/redis/net/client/node_connections.h"
#include "redouble/backends/redis/net/subscriber.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/store/message_source.h"
#include "redouble/core/store/pubsub/pubsub.h"

namespace redouble::inline v0_1::redis {
namespace {

namespace asio = boost::asio;

constexpr std::string_view kSwitchChannels[] = {"+switch-master"};

absl::Status CheckOptions(const Options& options) {
  REDOUBLE_RETURN_IF_ERROR(options.Validate());
  if (options.sentinel_master.empty()) {
    return absl::InvalidArgumentError("SentinelClient needs options with sentinel_master");
  }
  return absl::OkStatus();
}

// The options for the sentinels, which have their own credentials and no databases.
Options SentinelOptions(Options options) {
  options.user = options.sentinel_user;
  options.password = options.sentinel_password;
  options.database = 0;
  options.tls.enabled = options.sentinel_tls.value_or(options.tls.enabled);
  options.protocol = RespVersion::kResp2;
  options.cache_bytes = 0;
  options.cache_broadcast = false;
  options.cache_prefixes.clear();
  return options;
}

// The sentinels have credentials of their own.
ClientHooks SentinelHooks(ClientHooks hooks) {
  hooks.credentials = nullptr;
  return hooks;
}

// The commands refer to `master`.
std::vector<store::Command> AskSentinel(const std::string& master, ReadFrom read_from) {
  std::vector<std::string_view> questions = {"MASTER", "GET-MASTER-ADDR-BY-NAME", "SENTINELS"};
  if (read_from != ReadFrom::kMaster) questions.push_back("REPLICAS");
  std::vector<store::Command> commands;
  for (const std::string_view question : questions) {
    store::Command& command = commands.emplace_back(store::Command::Named("SENTINEL"));
    command.Add(question).Add(master);
  }
  return commands;
}

}  // namespace

class SentinelClient::Core final : public MultiServerCore<SentinelMachine, SentinelAction> {
 public:
  Core(asio::any_io_executor executor, const Options& options, const ClientHooks& hooks)
      : MultiServerCore(executor, options, hooks),
        executor_(executor),
        ask_sentinel_(AskSentinel(MultiServerCore::options().sentinel_master, options.read_from)),
        sentinels_(std::make_shared<NodeConnections>(executor, SentinelOptions(options),
                                                     SentinelHooks(hooks))) {}

  bool ready() const override { return machine().master().has_value(); }

 private:
  // A connection that comes back does not prove that its server is still the master.
  void BeforeSubmit() override {
    if (machine().master() && !nodes().IsConnected(*machine().master())) {
      mutable_machine().MasterLost(SteadyMicros());
    }
  }

  void BeforeClose() override { watching_.reset(); }

  void WantTopology() override { mutable_machine().MasterLost(SteadyMicros()); }
  uint64_t topology() override {
    if (machine().master() != reported_master_) {
      reported_master_ = machine().master();
      ++topology_;
    }
    return topology_;
  }

  // Connections to former masters, and to replicas and sentinels that left, are closed. A former
  // master that is a replica now is connected to again for the next read.
  void AfterActions() override {
    const std::optional<TcpAddress>& master = machine().master();
    if (master && connected_to_ != master) {
      if (connected_to_) nodes().Forget(*connected_to_);
      connected_to_ = master;
    }
    ForgetLeft(machine().replicas(), known_replicas_, nodes());
    ForgetLeft(machine().sentinels(), known_sentinels_, *sentinels_);
  }

  void ForgetLeft(const std::vector<TcpAddress>& now, std::vector<TcpAddress>& before,
                  NodeConnections& connections) {
    if (now == before) return;
    for (const TcpAddress& known : before) {
      const bool stays = std::find(now.begin(), now.end(), known) != now.end();
      if (!stays && known != machine().master()) connections.Forget(known);
    }
    before = now;
  }
  void AfterClose() override { sentinels_->Close(); }

  void PerformAction(const SentinelAction& action) override {
    using Kind = SentinelAction::Kind;
    switch (action.kind) {
      case Kind::kAskSentinel:
        return Send(*sentinels_, action, store::Request::Kind::kPipeline, ask_sentinel_);
      case Kind::kAskRole:
        return Send(nodes(), action, store::Request::Kind::kCommand, std::span(&ask_role_, 1));
      case Kind::kSend: {
        return Send(nodes(), action, machine().KindOf(action.request),
                    machine().CommandsOf(action.request));
      }
      case Kind::kWatch:
        return Watch(action.address);
      case Kind::kWake:
        return SetTimer(action.at_us);
    }
  }

  // The machine's own requests have the id 0; the callers' requests are numbered from 1.
  void Send(NodeConnections& servers, const SentinelAction& action, store::Request::Kind kind,
            std::span<const store::Command> commands) {
    MultiServerCore::Send(servers, action.request, action.address, kind, commands,
                          [this, id = action.request, asked = action.kind](
                              bool reached, absl::StatusOr<store::Reply> result) {
                            OnDone(id, asked, reached, std::move(result));
                          });
  }

  void OnDone(uint64_t id, SentinelAction::Kind asked, bool reached,
              absl::StatusOr<store::Reply> result) {
    const int64_t now_us = SteadyMicros();
    if (asked == SentinelAction::Kind::kAskSentinel) {
      mutable_machine().SentinelAnswered(result, now_us);
    } else if (asked == SentinelAction::Kind::kAskRole) {
      mutable_machine().RoleAnswered(result, now_us);
    } else if (reached) {
      mutable_machine().Answered(id, std::move(result), now_us);
    } else {
      mutable_machine().Unreachable(id, result.status(), now_us);
    }
  }

  // Subscribes to the messages of a sentinel, until the subscription is lost or replaced.
  void Watch(const TcpAddress& sentinel) {
    watching_.emplace(FollowSwitches(sentinel, ++watches_));
    watching_->Start();
  }

  base::Task<void> FollowSwitches(TcpAddress sentinel, uint64_t watch) {
    co_await ReportSwitches(std::move(sentinel));
    Post([this, watch] {
      if (watch != watches_) return;
      watching_.reset();
      mutable_machine().WatchEnded(SteadyMicros());
    });
  }

  base::Task<void> ReportSwitches(TcpAddress sentinel) {
    Options server = NodeConnections::ServerOptionsAt(SentinelOptions(options()), sentinel);
    auto subscriber = co_await Subscriber::Connect(executor_, std::move(server));
    if (!subscriber.ok()) co_return;
    const auto confirmed = co_await store::Subscribe(**subscriber, kSwitchChannels);
    if (!confirmed.ok()) co_return;
    Post([this] { mutable_machine().Watching(SteadyMicros()); });
    while (true) {
      absl::StatusOr<PushEvent> event = co_await (*subscriber)->Next();
      if (!event.ok()) co_return;
      if (event->is_gap()) {
        // A message may be missing, so the master is searched again.
        Post([this] { mutable_machine().MasterLost(SteadyMicros()); });
      } else if (std::optional<store::Message> message = store::ReadMessage(*event->push)) {
        Post([this, text = std::string(message->payload)] {
          mutable_machine().Switched(text, SteadyMicros());
        });
      }
    }
  }

  // Reports an event in a turn of its own, because the event may destroy the task that reports it.
  void Post(std::function<void()> report) {
    asio::post(executor_, [this, self = shared_from_this(), report = std::move(report)] {
      if (closed()) return;
      report();
      Perform();
    });
  }

  const asio::any_io_executor executor_;
  const std::vector<store::Command> ask_sentinel_;
  const store::Command ask_role_ = store::Command::Named("ROLE");
  const std::shared_ptr<NodeConnections> sentinels_;
  std::optional<base::Task<void>> watching_;
  uint64_t watches_ = 0;                    // Identifies the task in watching_.
  std::optional<TcpAddress> connected_to_;  // The last master.
  std::optional<TcpAddress> reported_master_;
  uint64_t topology_ = 0;
  std::vector<TcpAddress> known_replicas_;
  std::vector<TcpAddress> known_sentinels_;
};

base::Task<absl::StatusOr<std::unique_ptr<SentinelClient>>> SentinelClient::Connect(
    asio::any_io_executor executor, Options options) {
  return Connect(std::move(executor), std::move(options), ClientHooks());
}

base::Task<absl::StatusOr<std::unique_ptr<SentinelClient>>> SentinelClient::Connect(
    asio::any_io_executor executor, Options options, ClientHooks hooks) {
  REDOUBLE_CO_RETURN_IF_ERROR(CheckOptions(options));
  const auto core = std::make_shared<Core>(executor, options, hooks);
  REDOUBLE_CO_RETURN_IF_ERROR(co_await StartCore(core, "no master was found"));
  co_return absl::WrapUnique(new SentinelClient(core));
}

SentinelClient::SentinelClient(std::shared_ptr<Core> core) : core_(std::move(core)) {}

SentinelClient::~SentinelClient() { core_->Close("the client was destroyed"); }

void SentinelClient::Submit(store::Request& request) { core_->Submit(request); }

void SentinelClient::Close() { core_->Close("the client was closed"); }

void SentinelClient::Refresh() { core_->Refresh(); }

void SentinelClient::set_on_topology(std::function<void()> on_topology) {
  core_->set_on_topology(std::move(on_topology));
}

const Options& SentinelClient::options() const { return core_->options(); }

std::optional<TcpAddress> SentinelClient::master() const { return core_->machine().master(); }

const SentinelCounters& SentinelClient::counters() const { return core_->machine().counters(); }

Counters SentinelClient::traffic() const { return core_->traffic(); }

}  // namespace redouble::inline v0_1::redis
