#include "backends/redis/net/sentinel_client.h"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/system/error_code.hpp>
#include <chrono>
#include <exception>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/memory/memory.h"
#include "backends/redis/net/await_task.h"
#include "backends/redis/net/client_start.h"
#include "backends/redis/net/node_lines.h"
#include "backends/redis/net/subscriber.h"
#include "core/store/message_source.h"
#include "core/store/pubsub.h"

namespace redouble::redis {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

constexpr std::string_view kSwitchChannels[] = {"+switch-master"};

absl::Status CheckOptions(const Options& options) {
  if (absl::Status status = options.Validate(); !status.ok()) return status;
  if (options.sentinel_master.empty()) {
    return absl::InvalidArgumentError("SentinelClient needs options with sentinel_master");
  }
  return absl::OkStatus();
}

// How to talk to the sentinels: they have logins of their own, and no databases.
Options SentinelOptions(Options options) {
  options.user = options.sentinel_user;
  options.password = options.sentinel_password;
  options.database = 0;
  return options;
}

std::vector<store::Command> AskSentinel(const std::string& master) {
  std::vector<store::Command> commands;
  for (const std::string_view question : {"GET-MASTER-ADDR-BY-NAME", "SENTINELS"}) {
    store::Command& command = commands.emplace_back(store::Command::Named("SENTINEL"));
    command.Add(question).Add(master);
  }
  return commands;
}

}  // namespace

// Performs what the machine asks for. Pending operations keep it alive, so that a waiter may
// destroy the client.
class SentinelClient::Core final : public store::RequestKeeper,
                                   public store::PushListener,
                                   public std::enable_shared_from_this<Core> {
 public:
  Core(asio::any_io_executor executor, const Options& options, const ClientHooks& hooks)
      : executor_(executor),
        options_(options),
        ask_sentinel_(AskSentinel(options_.sentinel_master)),
        machine_(options_, hooks.is_idempotent),
        masters_(std::make_shared<NodeLines>(executor, options_, hooks)),
        sentinels_(std::make_shared<NodeLines>(executor, SentinelOptions(options_), hooks)),
        timer_(executor) {}

  // Looks for the master; calls `started` once it is found, or known not to be.
  void Start(std::function<void()> started) {
    started_ = std::move(started);
    machine_.Start(SteadyMicros());
    Perform();
  }

  void Submit(store::Request& request) {
    // A connection that comes back is no sign that the server behind it is still the master.
    if (machine_.master() && !masters_->IsConnected(*machine_.master())) {
      machine_.MasterLost(SteadyMicros());
    }
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
    closed_ = true;
    started_ = nullptr;
    timer_.cancel();
    if (watching_ != nullptr) watching_->emit(asio::cancellation_type::terminal);
    if (subscriber_ != nullptr) subscriber_->Listen(nullptr);
    subscriber_.reset();
    machine_.Close(reason);
    Perform();
    sent_.clear();
    masters_->Close();
    sentinels_->Close();
  }

  void OnPush(const store::Reply& push) override {
    const std::optional<store::Message> message = store::ReadMessage(push);
    if (!message) return;
    machine_.Switched(message->payload, SteadyMicros());
    Perform();
  }
  // Something may have been missed: the master is looked at again.
  void OnGap() override {
    machine_.MasterLost(SteadyMicros());
    Perform();
  }

  const Options& options() const { return options_; }
  const SentinelMachine& machine() const { return machine_; }
  Counters traffic() const { return masters_->counters(); }

 private:
  // Numbers of requests of the machine's own.
  static constexpr uint64_t kSearch = 0;

  void Perform() {
    for (const uint64_t request : machine_.TakeDropped()) sent_.erase(request);
    if (performing_) return;
    performing_ = true;
    while (const std::optional<SentinelAction> action = machine_.NextAction()) Perform(*action);
    performing_ = false;
    ReportStart();
  }

  void Perform(const SentinelAction& action) {
    using Kind = SentinelAction::Kind;
    switch (action.kind) {
      case Kind::kAskSentinel:
        return Send(*sentinels_, action, store::Request::Kind::kPipeline, ask_sentinel_);
      case Kind::kAskRole:
        return Send(*masters_, action, store::Request::Kind::kCommand, std::span(&ask_role_, 1));
      case Kind::kSend: {
        const store::Request& request = machine_.RequestOf(action.request);
        return Send(*masters_, action, request.kind(), request.commands());
      }
      case Kind::kWatch:
        return Watch(action.address);
      case Kind::kWake:
        return SetTimer(action.at_us);
    }
  }

  void Send(NodeLines& lines, const SentinelAction& action, store::Request::Kind kind,
            std::span<const store::Command> commands) {
    auto done = [this, id = action.request, asked = action.kind](
                    bool reached, absl::StatusOr<store::Reply> result) {
      const auto self = shared_from_this();
      sent_.erase(id);
      OnDone(id, asked, reached, std::move(result));
      Perform();
    };
    auto& request = sent_[action.request];
    request = std::make_unique<NodeRequest>(kind, commands, std::move(done));
    lines.Submit(action.address, *request);
  }

  void OnDone(uint64_t id, SentinelAction::Kind asked, bool reached,
              absl::StatusOr<store::Reply> result) {
    const int64_t now_us = SteadyMicros();
    if (asked == SentinelAction::Kind::kAskSentinel) {
      machine_.SentinelAnswered(result, now_us);
    } else if (asked == SentinelAction::Kind::kAskRole) {
      machine_.RoleAnswered(result, now_us);
    } else if (reached) {
      machine_.Answered(id, std::move(result), now_us);
    } else {
      machine_.Unreachable(id, result.status(), now_us);
    }
  }

  void ReportStart() {
    if (started_ == nullptr) return;
    if (!machine_.master() && machine_.start_status().ok()) return;
    const std::function<void()> started = std::exchange(started_, nullptr);
    started();
  }

  // Without it a failover is noticed by the loss of the connection; so what fails here is no error.
  void Watch(const TcpAddress& sentinel) {
    if (watching_ != nullptr) watching_->emit(asio::cancellation_type::terminal);
    watching_ = std::make_shared<asio::cancellation_signal>();
    auto done = [self = shared_from_this(), watching = watching_](std::exception_ptr) {
      if (self->watching_ == watching) self->watching_.reset();
    };
    asio::co_spawn(executor_, AwaitTask(Subscribe(sentinel)),
                   asio::bind_cancellation_slot(watching_->slot(), std::move(done)));
  }

  base::Task<void> Subscribe(TcpAddress sentinel) {
    const auto self = shared_from_this();
    Options options = NodeLines::ServerOptions(SentinelOptions(options_));
    options.address = std::move(sentinel);
    options.reconnect = true;
    auto connected = co_await Subscriber::Connect(executor_, std::move(options));
    if (!connected.ok() || closed_) co_return;
    subscriber_ = *std::move(connected);
    subscriber_->Listen(this);
    static_cast<void>(co_await store::Subscribe(*subscriber_, kSwitchChannels));
  }

  void SetTimer(int64_t at_us) {
    timer_.expires_at(std::chrono::steady_clock::time_point(std::chrono::microseconds(at_us)));
    timer_.async_wait([self = shared_from_this()](const error_code& error) {
      if (error) return;
      self->machine_.Timer(SteadyMicros());
      self->Perform();
    });
  }

  const asio::any_io_executor executor_;
  const Options options_;
  const std::vector<store::Command> ask_sentinel_;
  const store::Command ask_role_ = store::Command::Named("ROLE");
  SentinelMachine machine_;
  const std::shared_ptr<NodeLines> masters_;
  const std::shared_ptr<NodeLines> sentinels_;
  asio::steady_timer timer_;
  std::map<uint64_t, std::unique_ptr<NodeRequest>> sent_;  // By the machine's numbers.
  std::shared_ptr<asio::cancellation_signal> watching_;    // While a subscription is made.
  std::unique_ptr<Subscriber> subscriber_;
  std::function<void()> started_;
  bool performing_ = false;
  bool closed_ = false;
};

base::Task<absl::StatusOr<std::unique_ptr<SentinelClient>>> SentinelClient::Connect(
    asio::any_io_executor executor, Options options) {
  return Connect(std::move(executor), std::move(options), ClientHooks());
}

base::Task<absl::StatusOr<std::unique_ptr<SentinelClient>>> SentinelClient::Connect(
    asio::any_io_executor executor, Options options, ClientHooks hooks) {
  if (absl::Status status = CheckOptions(options); !status.ok()) co_return status;
  const auto core = std::make_shared<Core>(executor, options, hooks);
  co_await StartAwaiter<Core>(*core);
  if (!core->machine().master()) {
    const absl::Status status = core->machine().start_status();
    core->Close("no master was found");
    co_return status;
  }
  co_return absl::WrapUnique(new SentinelClient(core));
}

SentinelClient::SentinelClient(std::shared_ptr<Core> core) : core_(std::move(core)) {}

SentinelClient::~SentinelClient() { core_->Close("the client was destroyed"); }

void SentinelClient::Submit(store::Request& request) { core_->Submit(request); }

void SentinelClient::Close() { core_->Close("the client was closed"); }

const Options& SentinelClient::options() const { return core_->options(); }

std::optional<TcpAddress> SentinelClient::master() const { return core_->machine().master(); }

const SentinelCounters& SentinelClient::counters() const { return core_->machine().counters(); }

Counters SentinelClient::traffic() const { return core_->traffic(); }

}  // namespace redouble::redis
