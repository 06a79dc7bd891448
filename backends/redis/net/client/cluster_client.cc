#include "redouble/backends/redis/net/client/cluster_client.h"

#include <algorithm>
#include <boost/asio/steady_timer.hpp>
#include <boost/system/error_code.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/memory/memory.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "redouble/backends/redis/fsm/backoff.h"
#include "redouble/backends/redis/fsm/command_effect.h"
#include "redouble/backends/redis/fsm/queue_limits.h"
#include "redouble/backends/redis/net/client/multi_server_core.h"
#include "redouble/backends/redis/net/client/node_connections.h"
#include "redouble/backends/redis/net/connection.h"
#include "redouble/core/base/hash/crc.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/command_row.h"
#include "redouble/core/store/errors.h"

namespace redouble::inline v0_1::redis {
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
  Core(asio::any_io_executor executor, const Options& options, const ClientHooks& hooks)
      : MultiServerCore(executor, options, hooks),
        limits_(QueueLimits::From(options)),
        held_timer_(executor) {}

  bool ready() const override { return machine().ready(); }

 private:
  struct Held {
    store::Request* request;
    std::string name;  // Of the command that it waits for.
    size_t bytes;
    int64_t since_us;
    int64_t deadline_us;
  };

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

  // A request with a command that the table lacks waits until a node has described the command,
  // within the limits of the machine.
  bool Hold(store::Request& request) override { return Hold(request, SteadyMicros()); }
  bool Hold(store::Request& request, int64_t since_us) {
    if (closed()) return false;
    const std::string* const name = UnknownName(request);
    if (held_.empty() && name == nullptr) return false;
    if (std::optional<absl::Status> refusal =
            limits_.Refuse(machine().queued() + held_.size(),
                           machine().queued_bytes() + held_bytes_, "the cluster")) {
      request.Complete(*std::move(refusal));
      return true;
    }
    if (name == nullptr) return false;
    const std::vector<TcpAddress> masters = machine().map().Masters();
    if (masters.empty()) return false;
    const absl::Duration limit =
        TimeLimit(request, options().command_timeout, options().blocking_timeout);
    const int64_t deadline_us = LaterMicros(since_us, DurationMicros(limit));
    held_.push_back({&request, *name, BytesOf(request), since_us, deadline_us});
    held_bytes_ += held_.back().bytes;
    held_deadlines_.insert(deadline_us);
    if (deadline_us < held_timer_us_) SetHeldTimer(deadline_us);
    if (asked_.contains(*name)) return true;
    const uint64_t id = --next_question_;
    Question& question = asked_.try_emplace(*name, *name).first->second;
    Send(nodes(), id, masters[id % masters.size()], store::Request::Kind::kCommand,
         std::span(&question.command, 1),
         [this, asked = *name](bool, const absl::StatusOr<store::Reply>& result) {
           OnDescribed(asked, result);
         });
    return true;
  }

  bool Release(store::Request& request) override { return Take(request).has_value(); }

  std::optional<Held> Take(const store::Request& request) {
    const auto found = std::find_if(held_.begin(), held_.end(),
                                    [&](const Held& held) { return held.request == &request; });
    if (found == held_.end()) return std::nullopt;
    std::optional<Held> taken(std::move(*found));
    held_.erase(found);
    held_bytes_ -= taken->bytes;
    held_deadlines_.erase(held_deadlines_.find(taken->deadline_us));
    return taken;
  }

  void SetHeldTimer(int64_t at_us) {
    held_timer_us_ = at_us;
    if (at_us == kNeverUs) return;
    held_timer_.expires_at(std::chrono::steady_clock::time_point(std::chrono::microseconds(at_us)));
    held_timer_.async_wait(
        [this, self = shared_from_this()](const boost::system::error_code& error) {
          if (!error) EndLateHeld();
        });
  }

  // The requests may have left since the timer was set.
  void EndLateHeld() {
    held_timer_us_ = kNeverUs;
    while (!held_deadlines_.empty() && *held_deadlines_.begin() <= SteadyMicros()) {
      const auto late = std::find_if(held_.begin(), held_.end(), [&](const Held& held) {
        return held.deadline_us == *held_deadlines_.begin();
      });
      EndHeld(*Take(*late->request));
    }
    const int64_t next_us = held_deadlines_.empty() ? kNeverUs : *held_deadlines_.begin();
    if (next_us < held_timer_us_) SetHeldTimer(next_us);
  }

  static void EndHeld(const Held& held) {
    const std::string why = absl::StrCat("no node described the command ", held.name, " in time");
    held.request->Complete(
        store::NotSentError(std::string_view(why), absl::StatusCode::kDeadlineExceeded));
  }

  // The first name of a command that neither the table nor a node has described, in lower case;
  // null if there is no such command. Valid until the next call.
  const std::string* UnknownName(const store::Request& request) {
    for (const store::Command& command : request.commands()) {
      if (store::RowOf(command) != store::CommandId::kUnknown) continue;
      if (mutable_machine().server_commands().Knows(command.name())) continue;
      unknown_name_ = absl::AsciiStrToLower(base::ToAbsl(command.name()));
      return &unknown_name_;
    }
    return nullptr;
  }

  // Without an answer the requests that wait are routed by their first argument, and a later
  // request asks again.
  void OnDescribed(const std::string& name, const absl::StatusOr<store::Reply>& result) {
    asked_.erase(name);
    if (result.ok()) mutable_machine().server_commands().Learn(name, *result);
    std::vector<store::Request*> ready;
    for (const Held& held : held_) {
      if (held.name == name) ready.push_back(held.request);
    }
    for (store::Request* request : ready) {
      // The waiter of an earlier one may have abandoned it.
      const std::optional<Held> held = Take(*request);
      if (!held) continue;
      if (held->deadline_us <= SteadyMicros()) {
        EndHeld(*held);
      } else if (!result.ok() || !Hold(*request, held->since_us)) {
        PassToMachine(*request, held->since_us);
      }
    }
  }

  void AfterClose() override {
    held_timer_.cancel();
    while (!held_.empty()) {
      const std::optional<Held> held = Take(*held_.front().request);
      held->request->Complete(store::NotSentError("the client was closed"));
    }
  }

  void AfterActions() override {
    for (const TcpAddress& address : mutable_machine().TakeForgotten()) nodes().Forget(address);
  }

  // COMMAND INFO with the name, which it refers to.
  struct Question {
    explicit Question(std::string asked)
        : name(std::move(asked)), command(store::Command::Named("COMMAND")) {
      command.Add("INFO").Add(name);
    }

    const std::string name;
    store::Command command;
  };

  const QueueLimits limits_;
  std::map<std::string, Question> asked_;  // Under way.
  std::list<Held> held_;                   // In the order of their submission.
  size_t held_bytes_ = 0;
  std::multiset<int64_t> held_deadlines_;
  asio::steady_timer held_timer_;
  int64_t held_timer_us_ = kNeverUs;  // When it ends.
  std::string unknown_name_;
  uint64_t next_question_ = 0;  // Counts down, apart from the ids of parts.

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

}  // namespace redouble::inline v0_1::redis
