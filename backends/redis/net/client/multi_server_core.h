// MultiServerCore: performs on connections the actions of a ClusterMachine or a SentinelMachine.
//
// It is the common part of ClusterClient and SentinelClient: start, submit, abandon, close, the
// timer of the machine, and the requests under way at the servers. A derived class performs the
// actions of its machine and reports the results to it.
//
//   class Core final : public MultiServerCore<ClusterMachine, ClusterAction> {
//     bool ready() const override { return machine().ready(); }
//     void PerformAction(const ClusterAction& action) override { ... Send(...); SetTimer(...); }
//   };
//
// Internal to the cluster and sentinel clients. Pending operations keep the core alive, so that a
// waiter may destroy the client.
//
// Thread-safety: only on the executor, one thread or strand at a time.
#ifndef REDOUBLE_BACKENDS_REDIS_NET_CLIENT_MULTI_SERVER_CORE_H_
#define REDOUBLE_BACKENDS_REDIS_NET_CLIENT_MULTI_SERVER_CORE_H_

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/system/error_code.hpp>
#include <chrono>
#include <coroutine>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "redouble/backends/redis/fsm/counters.h"
#include "redouble/backends/redis/net/client/node_connections.h"
#include "redouble/backends/redis/net/client_hooks.h"
#include "redouble/backends/redis/net/connection.h"
#include "redouble/backends/redis/observe/request_observer.h"
#include "redouble/backends/redis/options.h"
#include "redouble/core/base/task/resume.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::redis {

template <typename Machine, typename Action>
class MultiServerCore : public store::RequestKeeper,
                        public std::enable_shared_from_this<MultiServerCore<Machine, Action>> {
 public:
  MultiServerCore(boost::asio::any_io_executor executor, const Options& options,
                  const ClientHooks& hooks)
      : options_(options),
        observer_(RequestObserver::Make(hooks.command, "", SteadyMicros)),
        machine_(options_, hooks.is_idempotent, RngOf(hooks), observer_.get()),
        nodes_(std::make_shared<NodeConnections>(executor, options_, hooks)),
        timer_(executor) {}
  virtual ~MultiServerCore() = default;

  // Starts the machine. Calls `started` once: when the machine is ready, or when the first search
  // has failed (see Machine::start_status).
  void Start(std::function<void()> started) {
    started_ = std::move(started);
    machine_.Start(SteadyMicros());
    Perform();
  }

  void Submit(store::Request& request) {
    if (observer_ == nullptr) return Pass(request);
    observer_->Submit(request, [this](store::Request& observed) { Pass(observed); });
  }

  void Abandon(store::Request& request) override {
    if (Release(request)) return;
    machine_.Abandon(request);
    Perform();
  }

  // Closes all connections; requests under way and later requests fail with `reason`.
  void Close(const std::string& reason) {
    const auto self = this->shared_from_this();
    closed_ = true;
    started_ = nullptr;
    on_topology_ = nullptr;
    timer_.cancel();
    BeforeClose();
    machine_.Close(reason);
    Perform();
    sent_.clear();
    nodes_->Close();
    AfterClose();
  }

  // The topology may be out of date: the machine reads it again.
  void Refresh() {
    if (closed_) return;
    WantTopology();
    Perform();
  }
  // Called after each event in which the topology was read or has changed. Must not destroy the
  // client. Null: nothing is called.
  void set_on_topology(std::function<void()> on_topology) { on_topology_ = std::move(on_topology); }

  // Whether the machine knows where to send requests.
  virtual bool ready() const = 0;

  const Options& options() const { return options_; }
  const Machine& machine() const { return machine_; }
  // The counters of all connections that carry requests, closed connections included.
  Counters traffic() const { return nodes_->counters(); }

 protected:
  using Done = std::function<void(bool reached, absl::StatusOr<store::Reply> result)>;

  // Performs one action of the machine, through Send and SetTimer.
  virtual void PerformAction(const Action& action) = 0;
  virtual void BeforeSubmit() {}
  // Whether the request waits outside of the machine; Pass() continues with it. Release() forgets
  // it; false if it does not wait.
  virtual bool Hold(store::Request&) { return false; }
  virtual bool Release(store::Request&) { return false; }
  virtual void WantTopology() = 0;
  // A number that grows whenever the topology was read or has changed.
  virtual uint64_t topology() = 0;
  virtual void AfterActions() {}
  virtual void BeforeClose() {}
  virtual void AfterClose() {}

  // Performs the actions that the machine asks for; called after each event.
  void Perform() {
    for (const uint64_t id : machine_.TakeDropped()) sent_.erase(id);
    if (performing_) return;
    performing_ = true;
    while (const std::optional<Action> action = machine_.NextAction()) PerformAction(*action);
    performing_ = false;
    AfterActions();
    ReportTopology();
    ReportStart();
  }

  // Sends a request to the server at `address` and calls `done` with its result, and then Perform.
  // `id` identifies the request; sending another one with the same id takes the first one back.
  void Send(NodeConnections& nodes, uint64_t id, const TcpAddress& address,
            store::Request::Kind kind, std::span<const store::Command> commands, Done done) {
    auto& request = sent_[id];
    request = std::make_unique<NodeRequest>(
        kind, commands,
        [this, id, done = std::move(done)](bool reached, absl::StatusOr<store::Reply> result) {
          const auto self = this->shared_from_this();
          sent_.erase(id);
          done(reached, std::move(result));
          Perform();
        });
    nodes.Submit(address, *request);
  }

  void SetTimer(int64_t at_us) {
    timer_.expires_at(std::chrono::steady_clock::time_point(std::chrono::microseconds(at_us)));
    timer_.async_wait(
        [this, self = this->shared_from_this()](const boost::system::error_code& error) {
          if (error) return;
          machine_.Timer(SteadyMicros());
          Perform();
        });
  }

  Machine& mutable_machine() { return machine_; }
  NodeConnections& nodes() { return *nodes_; }
  bool closed() const { return closed_; }

  void Pass(store::Request& request) {
    request.SetKeeper(this);
    if (!Hold(request)) PassToMachine(request);
  }
  void PassToMachine(store::Request& request) { PassToMachine(request, SteadyMicros()); }
  // A request that was submitted at `since_us`.
  void PassToMachine(store::Request& request, int64_t since_us) {
    BeforeSubmit();
    machine_.Submit(request, since_us);
    Perform();
  }

 private:
  void ReportTopology() {
    if (topology() == reported_topology_) return;
    reported_topology_ = topology();
    if (on_topology_) on_topology_();
  }

  void ReportStart() {
    if (started_ == nullptr) return;
    if (!ready() && machine_.start_status().ok()) return;
    const std::function<void()> started = std::exchange(started_, nullptr);
    started();
  }

  const Options options_;
  const std::shared_ptr<RequestObserver> observer_;  // Null without ClientHooks::command.
  Machine machine_;
  const std::shared_ptr<NodeConnections> nodes_;
  boost::asio::steady_timer timer_;
  std::map<uint64_t, std::unique_ptr<NodeRequest>> sent_;  // By the machine's ids.
  std::function<void()> started_;
  std::function<void()> on_topology_;
  uint64_t reported_topology_ = 0;
  bool performing_ = false;
  bool closed_ = false;
};

// Awaits core.Start(). Closes the core if the waiting coroutine is destroyed first.
template <typename Core>
class StartAwaiter {
 public:
  explicit StartAwaiter(Core& core) : core_(core) {}
  ~StartAwaiter() {
    if (!done_) core_.Close("nobody waits for the client any more");
  }
  StartAwaiter(const StartAwaiter&) = delete;
  StartAwaiter& operator=(const StartAwaiter&) = delete;

  bool await_ready() { return false; }
  void await_suspend(std::coroutine_handle<> awaiting) {
    core_.Start([this, awaiting] {
      done_ = true;
      base::Resume(awaiting);
    });
  }
  void await_resume() {}

 private:
  Core& core_;
  bool done_ = false;
};

// Starts the core. If it does not become ready, closes it for `reason` and returns the machine's
// start_status().
template <typename Core>
base::Task<absl::Status> StartCore(std::shared_ptr<Core> core, std::string_view reason) {
  co_await StartAwaiter<Core>(*core);
  if (core->ready()) co_return absl::OkStatus();
  const absl::Status status = core->machine().start_status();
  core->Close(std::string(reason));
  co_return status;
}

}  // namespace redouble::inline v0_1::redis

#endif  // REDOUBLE_BACKENDS_REDIS_NET_CLIENT_MULTI_SERVER_CORE_H_
