#include "redouble/sim/cluster/cluster_store.h"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/backends/redis/fsm/command_effect.h"
#include "redouble/core/base/random/rng.h"
#include "redouble/core/base/time/virtual_clock.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/message_source.h"
#include "redouble/core/store/reply.h"
#include "redouble/sim/world/command_copies.h"
#include "redouble/sim/world/servers/server_links.h"

namespace redouble::inline v0_1::sim {
namespace {

using redis::ClusterAction;
using store::Command;

// The options with the addresses of the world's servers.
redis::Options InWorld(redis::Options options, const World& world) {
  assert(options.read_from == redis::ReadFrom::kMaster);
  options.cluster = true;
  options.seeds.clear();
  for (const std::unique_ptr<WorldServer>& server : world.servers()) {
    options.seeds.push_back({.host = server->name(), .port = kServerPort});
  }
  options.address = options.seeds.front();
  options.seeds.erase(options.seeds.begin());
  return options;
}

}  // namespace

class ClusterStore::Core final : public store::RequestKeeper,
                                 public std::enable_shared_from_this<Core> {
 public:
  Core(Actor& actor, redis::Options options)
      : actor_(actor),
        clock_(actor.world().clock()),
        machine_(InWorld(std::move(options), actor.world()), /*is_idempotent=*/nullptr,
                 base::Rng(static_cast<uint64_t>(actor.index()))) {}
  ~Core() { CancelTimer(); }

  void Start() {
    machine_.Start(clock_.NowMicros());
    Perform();
  }

  void Submit(store::Request& request) {
    request.SetKeeper(this);
    machine_.Submit(request, clock_.NowMicros());
    Perform();
  }

  void Abandon(store::Request& request) override {
    machine_.Abandon(request);
    Perform();
  }

  // Requests under way fail. What was sent stays sent.
  void Close() {
    CancelTimer();
    machine_.Close("the client was destroyed");
    sent_.clear();
    connections_.clear();
  }

  const redis::ClusterCounters& counters() const { return machine_.counters(); }

 private:
  using Done = std::function<void(absl::StatusOr<store::Reply>)>;

  // A request to one node. Destroying it abandons it. The server may execute it after that, and
  // after the caller's request has ended, so it has commands of its own.
  class NodeRequest final : private CommandCopies, public store::Request {
   public:
    NodeRequest(Kind kind, std::span<const Command> commands, Done done)
        : CommandCopies(commands),
          Request(kind, CommandCopies::commands()),
          done_(std::move(done)) {}

   private:
    void OnComplete(absl::StatusOr<store::Reply>&& result) override {
      const Done done = std::move(done_);
      done(std::move(result));
    }

    Done done_;
  };

  // A connection to a node. One that carries a request that may block carries no other.
  struct Connection {
    std::string server;
    std::unique_ptr<store::MessageSource> source;
    uint64_t blocked_by = kNothing;  // The id of that request.
  };

  // The id of CLUSTER SLOTS among the requests under way; parts are numbered from 1.
  static constexpr uint64_t kMapRequest = 0;
  static constexpr uint64_t kNothing = 0;

  void Perform() {
    for (const uint64_t id : machine_.TakeDropped()) Forget(id);
    if (std::exchange(performing_, true)) return;
    while (const std::optional<ClusterAction> action = machine_.NextAction()) Perform(*action);
    performing_ = false;
  }

  void Perform(const ClusterAction& action) {
    switch (action.kind) {
      case ClusterAction::Kind::kSend: {
        const redis::ClusterPart& part = machine_.Part(action.part);
        return Send(action.part, action.node, part.kind(), part.commands(),
                    [this, id = action.part](absl::StatusOr<store::Reply> result) {
                      machine_.PartAnswered(id, std::move(result), clock_.NowMicros());
                    });
      }
      case ClusterAction::Kind::kAskMap:
        return Send(kMapRequest, action.node, store::Request::Kind::kPipeline, ask_map_,
                    [this, node = action.node](const absl::StatusOr<store::Reply>& result) {
                      machine_.MapAnswered(node, result, clock_.NowMicros());
                    });
      case ClusterAction::Kind::kWake:
        return SetTimer(action.at_us);
    }
  }

  void Send(uint64_t id, size_t node, store::Request::Kind kind, std::span<const Command> commands,
            Done done) {
    std::unique_ptr<NodeRequest>& request = sent_[id];
    request = std::make_unique<NodeRequest>(
        kind, commands, [this, id, done = std::move(done)](absl::StatusOr<store::Reply> result) {
          const auto self = shared_from_this();
          Forget(id);
          done(std::move(result));
          Perform();
        });
    Connection& connection = ConnectionTo(machine_.Address(node).host);
    if (redis::MayBlock(*request)) connection.blocked_by = id;
    connection.source->Submit(*request);
  }

  void Forget(uint64_t id) {
    sent_.erase(id);
    for (Connection& connection : connections_) {
      if (connection.blocked_by == id) connection.blocked_by = kNothing;
    }
  }

  Connection& ConnectionTo(const std::string& server) {
    const auto open =
        std::find_if(connections_.begin(), connections_.end(), [&](const Connection& connection) {
          return connection.server == server && connection.blocked_by == kNothing;
        });
    if (open != connections_.end()) return *open;
    return connections_.emplace_back(Connection{server, actor_.Connect(server)});
  }

  void SetTimer(int64_t at_us) {
    CancelTimer();
    timer_ = clock_.ScheduleAt(at_us, [this] {
      const auto self = shared_from_this();
      timer_.reset();
      machine_.Timer(clock_.NowMicros());
      Perform();
    });
  }

  void CancelTimer() {
    if (timer_) clock_.Cancel(*timer_);
    timer_.reset();
  }

  static constexpr std::string_view kSlots[] = {"SLOTS"};
  static constexpr std::string_view kInfo[] = {"INFO"};

  Actor& actor_;
  base::VirtualClock& clock_;
  const Command ask_map_[2] = {Command::Named("CLUSTER", kSlots), Command::Named("CLUSTER", kInfo)};
  redis::ClusterMachine machine_;
  std::vector<Connection> connections_;
  std::map<uint64_t, std::unique_ptr<NodeRequest>> sent_;  // By the machine's ids.
  std::optional<base::VirtualClock::TimerId> timer_;
  bool performing_ = false;
};

ClusterStore::ClusterStore(Actor& actor, redis::Options options)
    : core_(std::make_shared<Core>(actor, std::move(options))) {
  core_->Start();
}

ClusterStore::~ClusterStore() { core_->Close(); }

void ClusterStore::Submit(store::Request& request) { core_->Submit(request); }

const redis::ClusterCounters& ClusterStore::counters() const { return core_->counters(); }

}  // namespace redouble::inline v0_1::sim
