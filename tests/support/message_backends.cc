#include "redouble/tests/support/message_backends.h"

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

#include "redouble/backends/redis/net/client/sync_client.h"
#include "redouble/backends/redis/net/subscriber.h"
#include "redouble/backends/redis/net/sync_submit.h"
#include "redouble/backends/redis/options.h"
#include "redouble/backends/testing/live_server.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/pubsub/pubsub.h"

namespace redouble::inline v0_1::tests {
namespace {

// The channel of markers, which are numbered. A marker is published after all other messages; when
// it arrives, they have arrived too.
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

// A Subscriber that queues messages until they are delivered.
class LiveMessages::Subscription final : public store::MessageSource, private store::PushListener {
 public:
  absl::Status Open(const redis::Options& options) {
    REDOUBLE_ASSIGN_OR_RETURN(
        subscriber_,
        base::RunUntilDone(redis::Subscriber::Connect(context_.get_executor(), options),
                           [this] { return context_.run_one() > 0; }));
    subscriber_->Listen(this);
    return absl::OkStatus();
  }

  void Submit(store::Request& request) override {
    redis::SubmitAndRun(context_, *subscriber_, request, [this] { subscriber_->Close(); });
  }
  void Listen(store::PushListener* listener) override { listener_ = listener; }

  // Waits for the marker, and so for all messages before it.
  void AwaitMarker(const std::string& number) {
    while (!markers_.contains(number)) ASSERT_GT(context_.run_one(), 0u);
  }
  // Waits for the marker for a while, because a cluster that has just started loses messages.
  // Returns whether it arrived.
  bool ExpectMarker(const std::string& number) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(50);
    while (!markers_.contains(number) && std::chrono::steady_clock::now() < end) {
      context_.run_one_until(end);
    }
    return markers_.contains(number);
  }

  // The listener may send commands that cause more messages.
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
  if (LiveTestsWantACluster()) {
    // A marker must come from every node.
    REDOUBLE_ASSIGN_OR_RETURN(redis::SpawnedCluster * cluster,
                              EmptyLiveCluster(clock_.Now(), Masters::kStay));
    REDOUBLE_ASSIGN_OR_RETURN(client_, ConnectToLive(*cluster));
    for (size_t i = 0; i < cluster->size(); ++i) {
      nodes.push_back(*redis::Options::Parse(cluster->node(i).uri()));
    }
  } else {
    REDOUBLE_ASSIGN_OR_RETURN(std::unique_ptr<redis::SpawnedServer> server,
                              StartLiveServer(clock_.Now()));
    server_ = std::move(server);
    REDOUBLE_ASSIGN_OR_RETURN(client_, ConnectToLive(*server_));
    nodes.push_back(LiveOptions(*server_));
  }
  for (const redis::Options& options : nodes) {
    REDOUBLE_ASSIGN_OR_RETURN(auto node, redis::SyncClient::Connect(options));
    nodes_.push_back(std::move(node));
  }
  REDOUBLE_RETURN_IF_ERROR(subscription_->Open(nodes[0]));
  return AwaitEachOther();
}

std::string LiveMessages::PublishMarker(store::Store& node) {
  std::string number = std::to_string(++markers_published_);
  EXPECT_TRUE(base::Run(store::Publish(node, kMarker, number)).ok());
  return number;
}

// Waits until the nodes are connected with each other; before that they do not forward messages.
absl::Status LiveMessages::AwaitEachOther() {
  if (nodes_.size() == 1) return absl::OkStatus();
  REDOUBLE_RETURN_IF_ERROR(base::Run(store::Subscribe(*subscription_, kMarkerChannels)));
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

// The messages of one node reach each other node in order, so that all messages have arrived when a
// marker of each node has.
void LiveMessages::Deliver() {
  EXPECT_TRUE(base::Run(store::Subscribe(*subscription_, kMarkerChannels)).ok());
  std::vector<std::string> markers;
  for (const auto& node : nodes_) markers.push_back(PublishMarker(*node));
  for (const std::string& marker : markers) subscription_->AwaitMarker(marker);
  EXPECT_TRUE(base::Run(store::Unsubscribe(*subscription_, kMarkerChannels)).ok());
  subscription_->HandOver();
}

}  // namespace redouble::inline v0_1::tests
