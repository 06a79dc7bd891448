#include "tests/support/message_backends.h"

#include <boost/asio/io_context.hpp>
#include <chrono>
#include <deque>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "backends/redis/net/blocking_client.h"
#include "backends/redis/net/blocking_submit.h"
#include "backends/redis/net/subscriber.h"
#include "backends/redis/options.h"
#include "core/base/run.h"
#include "core/store/command.h"
#include "core/store/pubsub.h"
#include "tests/support/live_server.h"

namespace redouble::tests {
namespace {

// Published behind all the rest, so that this is known to have arrived. Each has a number.
constexpr std::string_view kMarker = "redouble:delivered";
constexpr std::string_view kMarkerChannels[] = {kMarker};

void Send(store::Store& store, std::vector<std::string_view> words) {
  const auto send = [&]() -> base::Task<absl::StatusOr<store::Reply>> {
    const auto command = store::Command::Named(words[0], std::span(words).subspan(1));
    co_return co_await store.Execute(command);
  };
  const absl::StatusOr<store::Reply> reply = base::Run(send());
  EXPECT_TRUE(reply.ok() && !reply->is_error()) << words[0];
}

}  // namespace

absl::Status MemoryMessages::Start() {
  engine_ = std::make_unique<memory::Engine>(clock_);
  session_ = engine_->Connect();
  subscription_ = engine_->Connect();
  return absl::OkStatus();
}

void MemoryMessages::RefuseChannels() {
  Send(*session_, {"ACL", "SETUSER", "default", "resetchannels"});
}

void MemoryMessages::AllowChannels() {
  Send(*session_, {"ACL", "SETUSER", "default", "allchannels"});
}

// A Subscriber whose messages wait until they are handed over.
class LiveMessages::Subscription final : public store::MessageSource, private store::PushListener {
 public:
  absl::Status Open(const redis::Options& options) {
    auto subscriber =
        base::RunUntilDone(redis::Subscriber::Connect(context_.get_executor(), options),
                           [this] { return context_.run_one() > 0; });
    if (!subscriber.ok()) return subscriber.status();
    subscriber_ = *std::move(subscriber);
    subscriber_->Listen(this);
    return absl::OkStatus();
  }

  void Submit(store::Request& request) override {
    redis::SubmitAndRun(context_, *subscriber_, request, [this] { subscriber_->Close(); });
  }
  void Listen(store::PushListener* listener) override { listener_ = listener; }

  // Waits until the marker is there, and so all that came before it.
  void AwaitMarker(const std::string& number) {
    while (!markers_.contains(number)) ASSERT_GT(context_.run_one(), 0u);
  }
  // Waits for it a while: a cluster that has just begun loses messages. Whether it is there.
  bool ExpectMarker(const std::string& number) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
    while (!markers_.contains(number) && std::chrono::steady_clock::now() < end) {
      context_.run_one_until(end);
    }
    return markers_.contains(number);
  }

  // The listener may send commands, which bring more.
  void HandOver() {
    while (!pushes_.empty()) {
      const store::Reply push = std::move(pushes_.front());
      pushes_.pop_front();
      if (listener_ != nullptr) listener_->OnPush(push);
    }
  }

 private:
  void OnPush(const store::Reply& push) override {
    const std::optional<store::Message> message = store::ReadMessage(push);
    if (message && message->channel == kMarker) {
      markers_.insert(message->payload);
    } else {
      pushes_.push_back(push);
    }
  }

  boost::asio::io_context context_{1};
  std::unique_ptr<redis::Subscriber> subscriber_;
  std::deque<store::Reply> pushes_;
  std::set<std::string> markers_;
  store::PushListener* listener_ = nullptr;
};

LiveMessages::LiveMessages() : subscription_(std::make_unique<Subscription>()) {}
LiveMessages::~LiveMessages() = default;

store::MessageSource& LiveMessages::subscription() { return *subscription_; }

absl::Status LiveMessages::Start() {
  std::vector<redis::Options> nodes;
  absl::StatusOr<std::unique_ptr<store::Store>> client;
  if (LiveTestsWantACluster()) {
    absl::StatusOr<redis::SpawnedCluster*> cluster = EmptyLiveCluster(clock_.Now());
    if (!cluster.ok()) return cluster.status();
    client = ConnectToLive(**cluster);
    for (size_t i = 0; i < (*cluster)->size(); ++i) {
      nodes.push_back(*redis::Options::Parse((*cluster)->node(i).uri()));
    }
  } else {
    absl::StatusOr<std::unique_ptr<redis::SpawnedServer>> server = StartLiveServer(clock_.Now());
    if (!server.ok()) return server.status();
    server_ = *std::move(server);
    client = ConnectToLive(*server_);
    nodes.push_back(LiveOptions(*server_));
  }
  if (!client.ok()) return client.status();
  client_ = *std::move(client);
  for (const redis::Options& options : nodes) {
    auto node = redis::BlockingClient::Connect(options);
    if (!node.ok()) return node.status();
    nodes_.push_back(*std::move(node));
  }
  if (absl::Status status = subscription_->Open(nodes[0]); !status.ok()) return status;
  return AwaitEachOther();
}

std::string LiveMessages::PublishMarker(store::Store& node) {
  std::string number = std::to_string(++markers_published_);
  EXPECT_TRUE(base::Run(store::Publish(node, kMarker, number)).ok());
  return number;
}

// Nodes hand on what others publish only once they are connected with each other.
absl::Status LiveMessages::AwaitEachOther() {
  if (nodes_.size() == 1) return absl::OkStatus();
  absl::Status status = base::Run(store::Subscribe(*subscription_, kMarkerChannels));
  if (!status.ok()) return status;
  for (const auto& node : nodes_) {
    while (!subscription_->ExpectMarker(PublishMarker(*node))) {
    }
  }
  return base::Run(store::Unsubscribe(*subscription_, kMarkerChannels));
}

void LiveMessages::RefuseChannels() {
  for (const auto& node : nodes_) Send(*node, {"ACL", "SETUSER", "default", "resetchannels"});
}

void LiveMessages::AllowChannels() {
  for (const auto& node : nodes_) Send(*node, {"ACL", "SETUSER", "default", "allchannels"});
}

// What a node publishes reaches each of the others in its order, so a marker of each node says that
// everything else is there.
void LiveMessages::Deliver() {
  EXPECT_TRUE(base::Run(store::Subscribe(*subscription_, kMarkerChannels)).ok());
  std::vector<std::string> markers;
  for (const auto& node : nodes_) markers.push_back(PublishMarker(*node));
  for (const std::string& marker : markers) subscription_->AwaitMarker(marker);
  EXPECT_TRUE(base::Run(store::Unsubscribe(*subscription_, kMarkerChannels)).ok());
  subscription_->HandOver();
}

}  // namespace redouble::tests
