#include "redouble/backends/redis/net/client/following_subscriber.h"

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/system/error_code.hpp>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/memory/memory.h"
#include "absl/status/status.h"
#include "redouble/backends/redis/fsm/backoff.h"
#include "redouble/backends/redis/fsm/subscribe/follow_machine.h"
#include "redouble/backends/redis/net/client/cluster_client.h"
#include "redouble/backends/redis/net/client/node_connections.h"
#include "redouble/backends/redis/net/client/sentinel_client.h"
#include "redouble/backends/redis/net/connection.h"
#include "redouble/backends/redis/net/push_delivery.h"
#include "redouble/backends/redis/net/subscriber.h"
#include "redouble/backends/redis/observe/request_observer.h"
#include "redouble/core/base/hash/crc.h"
#include "redouble/core/base/status/status_macros.h"

namespace redouble::inline v0_1::redis {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

// Finds the homes: a client that carries no requests.
class Finder : public TopicHomes {
 public:
  virtual void Refresh() = 0;
  virtual void Close() = 0;
  virtual void set_on_topology(std::function<void()> on_topology) = 0;
};

class SentinelFinder final : public Finder {
 public:
  explicit SentinelFinder(std::unique_ptr<SentinelClient> client) : client_(std::move(client)) {}

  std::optional<TcpAddress> HomeOfShard(std::string_view) const override {
    return client_->master();
  }
  std::vector<TcpAddress> Homes() const override {
    const std::optional<TcpAddress> master = client_->master();
    return master ? std::vector<TcpAddress>{*master} : std::vector<TcpAddress>();
  }
  void Refresh() override { client_->Refresh(); }
  void Close() override { client_->Close(); }
  void set_on_topology(std::function<void()> on_topology) override {
    client_->set_on_topology(std::move(on_topology));
  }

 private:
  const std::unique_ptr<SentinelClient> client_;
};

class ClusterFinder final : public Finder {
 public:
  explicit ClusterFinder(std::unique_ptr<ClusterClient> client) : client_(std::move(client)) {}

  std::optional<TcpAddress> HomeOfShard(std::string_view channel) const override {
    const TcpAddress* const master = client_->map().MasterOf(base::KeySlot(channel));
    return master == nullptr ? std::nullopt : std::optional(*master);
  }
  std::vector<TcpAddress> Homes() const override { return client_->map().Masters(); }
  void Refresh() override { client_->Refresh(); }
  void Close() override { client_->Close(); }
  void set_on_topology(std::function<void()> on_topology) override {
    client_->set_on_topology(std::move(on_topology));
  }

 private:
  const std::unique_ptr<ClusterClient> client_;
};

base::Task<absl::StatusOr<std::unique_ptr<Finder>>> FindServers(asio::any_io_executor executor,
                                                                Options options,
                                                                ClientHooks hooks) {
  if (options.cluster) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(auto cluster, co_await ClusterClient::Connect(
                                                   executor, std::move(options), std::move(hooks)));
    co_return std::make_unique<ClusterFinder>(std::move(cluster));
  }
  REDOUBLE_CO_ASSIGN_OR_RETURN(auto sentinels, co_await SentinelClient::Connect(
                                                   executor, std::move(options), std::move(hooks)));
  co_return std::make_unique<SentinelFinder>(std::move(sentinels));
}

absl::Status Check(const Options& options) {
  REDOUBLE_RETURN_IF_ERROR(options.Validate());
  if (!options.cluster && options.sentinel_master.empty()) {
    return absl::InvalidArgumentError(
        "FollowingSubscriber needs options with cluster=yes or sentinel_master");
  }
  return absl::OkStatus();
}

FollowOptions MachineOptions(const Options& options) {
  FollowOptions follow;
  follow.command_timeout_us = DurationMicros(options.command_timeout);
  follow.queue = QueueLimits::From(options);
  follow.push_queue = static_cast<size_t>(options.push_queue);
  follow.backoff_base_us = DurationMicros(options.backoff_base);
  follow.backoff_cap_us = DurationMicros(options.backoff_cap);
  return follow;
}

// SUBSCRIBE or UNSUBSCRIBE of one topic, on its way.
struct TopicRequest {
  TopicRequest(std::string_view word, std::string name, NodeRequest::Done done)
      : topic(std::move(name)), command(store::Command::Named(word)) {
    command.Add(topic);
    request.emplace(store::Request::Kind::kCommand, std::span(&command, 1), std::move(done));
  }

  const std::string topic;
  store::Command command;
  std::optional<NodeRequest> request;
};

}  // namespace

class FollowingSubscriber::Core final : public std::enable_shared_from_this<Core> {
 public:
  Core(asio::any_io_executor executor, Options options, ClientHooks hooks,
       std::unique_ptr<Finder> finder)
      : executor_(executor),
        options_(std::move(options)),
        observer_(RequestObserver::Make(hooks.command, "", SteadyMicros)),
        hooks_(WithoutCommands(std::move(hooks))),
        finder_(std::move(finder)),
        machine_(MachineOptions(options_), *finder_, RngOf(hooks_), observer_.get()),
        timer_(executor) {}

  void Start() {
    // In a turn of its own: the reader of a push may destroy the subscriber, and the finder with
    // it.
    finder_->set_on_topology([weak = weak_from_this()] {
      const auto self = weak.lock();
      if (self == nullptr) return;
      asio::post(self->executor_, [self] {
        self->machine_.HomesChanged(SteadyMicros());
        self->Perform();
      });
    });
  }

  void Submit(store::Request& request) {
    if (observer_ == nullptr) return Pass(request);
    observer_->Submit(request, [this](store::Request& observed) { Pass(observed); });
  }

  void Listen(store::PushListener* listener) {
    delivery_.set_listener(listener);
    if (listener == nullptr || !machine_.has_push()) return;
    asio::post(executor_, [self = shared_from_this()] { self->delivery_.Dispatch(); });
  }

  base::Task<absl::StatusOr<PushEvent>> Next() { return delivery_.Next(shared_from_this()); }

  void Close(std::string_view reason) {
    const auto self = shared_from_this();
    timer_.cancel();
    machine_.Close(reason);
    Perform();
    finder_->Close();
  }

  const FollowMachine& machine() const { return machine_; }

 private:
  void Pass(store::Request& request) {
    machine_.Submit(request, SteadyMicros());
    Perform();
  }

  struct Line {
    std::unique_ptr<Subscriber> subscriber;  // Null until the line is open.
    std::map<uint64_t, TopicRequest> requests;
    std::optional<base::Task<void>> reader;
  };

  // Performs the actions that the machine asks for, and delivers what it received; called after
  // each event. May end with the destruction of the subscriber.
  void Perform() {
    const auto self = shared_from_this();
    if (!performing_) {
      performing_ = true;
      while (const std::optional<FollowAction> action = machine_.NextAction()) {
        PerformAction(*action);
      }
      performing_ = false;
    }
    delivery_.Dispatch();
  }

  void PerformAction(const FollowAction& action) {
    switch (action.kind) {
      case FollowAction::Kind::kOpen:
        return Open(action.line, action.address);
      case FollowAction::Kind::kClose:
        return Drop(action.line);
      case FollowAction::Kind::kSubscribe:
        return Send(action, WordsOf(action.topic.kind).subscribe);
      case FollowAction::Kind::kUnsubscribe:
        return Send(action, WordsOf(action.topic.kind).unsubscribe);
      case FollowAction::Kind::kFindHomes:
        return finder_->Refresh();
      case FollowAction::Kind::kWake:
        return SetTimer(action.at_us);
    }
  }

  void Open(uint64_t id, const TcpAddress& address) {
    Line& line = lines_[id];
    line.reader.emplace(ReadLine(id, NodeConnections::ServerOptionsAt(options_, address)));
    line.reader->Start();
  }

  // A line may be dropped by its own reader or by a reply on it, so it is destroyed in the next
  // turn of the event loop.
  void Drop(uint64_t id) {
    auto line = lines_.extract(id);
    if (line.empty()) return;
    auto dropped = std::make_shared<Line>(std::move(line.mapped()));
    dropped->requests.clear();
    asio::post(executor_, [self = shared_from_this(), dropped]() mutable { dropped.reset(); });
  }

  void Send(const FollowAction& action, std::string_view word) {
    Line& line = lines_.at(action.line);
    const uint64_t key = action.id != 0 ? action.id : --next_unsubscribe_;
    const auto sent = line.requests.try_emplace(
        key, word, action.topic.name,
        [this, line = action.line, key, id = action.id](bool, absl::StatusOr<store::Reply> reply) {
          OnReply(line, key, id, std::move(reply));
        });
    line.subscriber->Submit(*sent.first->second.request);
  }

  void OnReply(uint64_t line, uint64_t key, uint64_t id, absl::StatusOr<store::Reply> reply) {
    const auto self = shared_from_this();
    const auto found = lines_.find(line);
    if (found == lines_.end()) return;
    found->second.requests.erase(key);
    if (id == 0) return;
    machine_.Answered(id, reply, SteadyMicros());
    Perform();
  }

  base::Task<void> ReadLine(uint64_t id, Options server) {
    auto subscriber = co_await Subscriber::Connect(executor_, std::move(server), hooks_);
    if (!subscriber.ok()) {
      PostLost(id);
      co_return;
    }
    const auto line = lines_.find(id);
    if (line == lines_.end()) co_return;
    Subscriber& open = **subscriber;
    line->second.subscriber = *std::move(subscriber);
    // In a turn of its own: an event of the machine may drop this line.
    asio::post(executor_, [self = shared_from_this(), id] { self->OnOpened(id); });
    while (true) {
      absl::StatusOr<PushEvent> event = co_await open.Next();
      if (!event.ok()) break;
      const auto self = shared_from_this();
      machine_.Pushed(id, *std::move(event), SteadyMicros());
      Perform();
      if (!lines_.contains(id)) co_return;
    }
    PostLost(id);
  }

  void OnOpened(uint64_t id) {
    if (!lines_.contains(id)) return;
    machine_.LineOpened(id, SteadyMicros());
    Perform();
  }

  // The line is destroyed then, and its reader with it.
  void PostLost(uint64_t id) {
    asio::post(executor_, [self = shared_from_this(), id] {
      if (!self->lines_.contains(id)) return;
      self->Drop(id);
      self->machine_.LineLost(id, SteadyMicros());
      self->Perform();
    });
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
  const std::shared_ptr<RequestObserver> observer_;  // Null without ClientHooks::command.
  const ClientHooks hooks_;                          // Of the lines.
  const std::unique_ptr<Finder> finder_;
  FollowMachine machine_;
  PushDelivery<FollowMachine> delivery_{machine_};
  asio::steady_timer timer_;
  std::map<uint64_t, Line> lines_;
  uint64_t next_unsubscribe_ = 0;  // Counts down, apart from the machine's ids.
  bool performing_ = false;
};

base::Task<absl::StatusOr<std::unique_ptr<FollowingSubscriber>>> FollowingSubscriber::Connect(
    asio::any_io_executor executor, Options options) {
  return Connect(std::move(executor), std::move(options), ClientHooks());
}

base::Task<absl::StatusOr<std::unique_ptr<FollowingSubscriber>>> FollowingSubscriber::Connect(
    asio::any_io_executor executor, Options options, ClientHooks hooks) {
  REDOUBLE_CO_RETURN_IF_ERROR(Check(options));
  REDOUBLE_CO_ASSIGN_OR_RETURN(auto finder, co_await FindServers(executor, options, hooks));
  auto core = std::make_shared<Core>(std::move(executor), std::move(options), std::move(hooks),
                                     std::move(finder));
  core->Start();
  co_return absl::WrapUnique(new FollowingSubscriber(std::move(core)));
}

FollowingSubscriber::FollowingSubscriber(std::shared_ptr<Core> core) : core_(std::move(core)) {}

FollowingSubscriber::~FollowingSubscriber() {
  core_->Listen(nullptr);
  core_->Close("the subscriber was destroyed");
}

void FollowingSubscriber::Submit(store::Request& request) { core_->Submit(request); }

void FollowingSubscriber::Listen(store::PushListener* listener) { core_->Listen(listener); }

base::Task<absl::StatusOr<PushEvent>> FollowingSubscriber::Next() { return core_->Next(); }

void FollowingSubscriber::Close() { core_->Close("the subscriber was closed"); }

size_t FollowingSubscriber::confirmed() const { return core_->machine().confirmed(); }

const Counters& FollowingSubscriber::counters() const { return core_->machine().counters(); }

}  // namespace redouble::inline v0_1::redis
