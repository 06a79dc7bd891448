// SentinelMachine under random events, compared with a model of three servers and their sentinels:
// every request ends once and in time, its replies are those of its own commands, nothing runs
// twice, what is called "not sent" has not run, and after the faults the machine finds the master.
// Requests that write go to confirmed masters only.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "redouble/backends/redis/fsm/cluster/machine_driver_for_test.h"
#include "redouble/backends/redis/fsm/cluster/numbered_requests_for_test.h"
#include "redouble/backends/redis/fsm/sentinel/sentinel_machine.h"
#include "redouble/core/base/random/rng.h"
#include "redouble/core/store/errors.h"

namespace redouble::inline v0_1::redis {
namespace {

using store::Reply;
using Kind = store::Request::Kind;

constexpr int kServers = 3;
constexpr int64_t kRefreshUs = 1000;
constexpr int64_t kTimeoutUs = 50'000;
constexpr size_t kQueueLimit = 12;

// The result of an action of the machine.
enum class Fate : uint8_t { kUnreachable, kLostBefore, kLostAfter, kAnswered };

class Model : public MachineDriver<SentinelMachine> {
 public:
  Model(const Options& options, uint64_t seed) : MachineDriver(options, nullptr, base::Rng(seed)) {
    machine.Start(now_us);
    Collect();
  }

  // One of the requests that were sent meets its fate.
  void AnswerRequest(size_t index, Fate fate) {
    if (sent.empty()) return;
    const auto one = std::next(sent.begin(), static_cast<std::ptrdiff_t>(index % sent.size()));
    const auto [id, server] = *one;
    sent.erase(one);
    switch (fate) {
      case Fate::kUnreachable:
        machine.Unreachable(id, store::NotSentError("unreachable"), now_us);
        break;
      case Fate::kLostBefore:
        machine.Answered(id, store::NotSentError("lost before the write"), now_us);
        break;
      case Fate::kLostAfter:
        Run(id, server);
        machine.Answered(id, store::OutcomeUnknownError("lost"), now_us);
        break;
      case Fate::kAnswered:
        machine.Answered(id, Run(id, server), now_us);
    }
    Collect();
  }

  // The sentinel that was asked names this server as the master, or nullopt: no master, or no
  // answer. `epoch`: of its configuration.
  void AnswerSentinel(std::optional<std::string> named, bool reachable, int epoch) {
    if (!sentinel_asked) return;
    sentinel_asked = false;
    if (!reachable) {
      machine.SentinelAnswered(store::NotSentError("unreachable"), now_us);
    } else {
      const Reply address =
          named ? Reply::Array({Reply::Bulk(*named), Reply::Bulk("7")}) : Reply::NilArray();
      const Reply fields =
          Reply::Array({Reply::Bulk("config-epoch"), Reply::Bulk(std::to_string(epoch))});
      machine.SentinelAnswered(Reply::Array({fields, address, OtherSentinels(), Replicas(named)}),
                               now_us);
    }
    Collect();
  }

  void AnswerRole(bool reachable) {
    if (!role_asked) return;
    const std::string server = *std::exchange(role_asked, std::nullopt);
    const bool is_master = server == master;
    if (reachable && is_master) confirmed.insert(server);
    machine.RoleAnswered(
        reachable
            ? absl::StatusOr<Reply>(Reply::Array({Reply::Bulk(is_master ? "master" : "slave")}))
            : store::NotSentError("unreachable"),
        now_us);
    Collect();
  }

  // The subscription is confirmed, or it ends.
  void AnswerWatch(bool confirmed_now) {
    if (watch == WatchState::kNone || (watch == WatchState::kOpen && confirmed_now)) return;
    watch = confirmed_now ? WatchState::kOpen : WatchState::kNone;
    confirmed_now ? machine.Watching(now_us) : machine.WatchEnded(now_us);
    Collect();
  }

  // A sentinel publishes that this server is the master, which need not be true any more.
  void Publish(const std::string& server) {
    if (watch != WatchState::kOpen) return;
    machine.Switched(absl::StrCat("mymaster old 7 ", server, " 7"), now_us);
    Collect();
  }

  void LoseMaster() {
    machine.MasterLost(now_us);
    Collect();
  }

  // Everybody answers, and truthfully. The sentinels may have been set up anew.
  void AnswerAll() {
    for (int i = 0; i < 10; ++i) {
      AnswerSentinel(master, true, 0);
      AnswerRole(true);
      AnswerWatch(true);
      while (!sent.empty()) AnswerRequest(0, Fate::kAnswered);
    }
  }

  std::string master = "m1";  // The server that is a master.

 private:
  enum class WatchState : uint8_t { kNone, kAsked, kOpen };

  // What a server does with a request: a replica refuses each command that writes.
  Reply Run(uint64_t id, const std::string& server) {
    const bool refuses = server != master;
    const Reply refusal = Reply::Error("READONLY You can't write against a read only replica.");
    std::vector<Reply> replies;
    std::vector<Reply> results;
    bool in_transaction = false;
    for (const store::Command& command : machine.CommandsOf(id)) {
      if (command.id() == store::CommandId::kMulti) {
        in_transaction = true;
        replies.push_back(Reply::Ok());
      } else if (command.id() == store::CommandId::kExec) {
        replies.push_back(refuses ? Reply::Error("EXECABORT Transaction discarded")
                                  : Reply::Array(results));
      } else if (refuses && command.id() != store::CommandId::kHGet) {
        replies.push_back(refusal);
      } else {
        const std::string number = NumberedRequests::NumbersOf(command)[0];
        requests.CountRun(number);
        results.push_back(Reply::Bulk(number));
        replies.push_back(in_transaction ? Reply::Status("QUEUED") : results.back());
      }
    }
    return machine.KindOf(id) == Kind::kCommand ? replies[0] : Reply::Array(replies);
  }

  // The servers that the sentinel takes for replicas; some of them are down.
  static Reply Replicas(const std::optional<std::string>& named_master) {
    std::vector<Reply> replicas;
    for (int i = 1; i <= kServers; ++i) {
      const std::string host = absl::StrCat("m", i);
      if (host == named_master) continue;
      const bool is_down = *rc::gen::inRange(0, 4) == 0;
      replicas.push_back(
          Reply::Array({Reply::Bulk("ip"), Reply::Bulk(host), Reply::Bulk("port"), Reply::Bulk("7"),
                        Reply::Bulk("flags"), Reply::Bulk(is_down ? "s_down,slave" : "slave"),
                        Reply::Bulk("master-link-status"), Reply::Bulk("ok")}));
    }
    return Reply::Array(std::move(replicas));
  }

  static Reply OtherSentinels() {
    std::vector<Reply> others;
    for (const char* const host : {"s2", "s4", "s5"}) {
      if (!*rc::gen::arbitrary<bool>()) continue;
      others.push_back(Reply::Array(
          {Reply::Bulk("ip"), Reply::Bulk(host), Reply::Bulk("port"), Reply::Bulk("7")}));
    }
    return Reply::Array(std::move(others));
  }

  void Collect() override {
    for (const uint64_t id : machine.TakeDropped()) sent.erase(id);
    while (const std::optional<SentinelAction> action = machine.NextAction()) {
      const std::string& host = action->address.host;
      switch (action->kind) {
        case SentinelAction::Kind::kAskSentinel:
          RC_ASSERT(!sentinel_asked && !role_asked);
          RC_ASSERT(host.starts_with("s"));
          sentinel_asked = true;
          break;
        case SentinelAction::Kind::kAskRole:
          RC_ASSERT(!sentinel_asked && !role_asked);
          role_asked = host;
          break;
        case SentinelAction::Kind::kSend:
          RC_ASSERT(confirmed.contains(host) || MayGoToReplicas(action->request));
          RC_ASSERT(sent.emplace(action->request, host).second);
          break;
        case SentinelAction::Kind::kWatch:
          watch = WatchState::kAsked;
          break;
        case SentinelAction::Kind::kWake:
          wake_us = action->at_us;
      }
    }
  }

  bool MayGoToReplicas(uint64_t request) const {
    return machine.KindOf(request) != Kind::kTransaction &&
           machine.CommandsOf(request)[0].id() == store::CommandId::kHGet;
  }

  bool sentinel_asked = false;
  std::optional<std::string> role_asked;
  WatchState watch = WatchState::kNone;
  std::set<std::string> confirmed;  // Servers that have said that they are masters.

 public:
  // The last member, because a request that is destroyed early is abandoned.
  NumberedRequests requests{kTimeoutUs, now_us};
};

std::string DrawServer() { return absl::StrCat("m", *rc::gen::inRange(1, kServers + 1)); }

Fate DrawFate() {
  return static_cast<Fate>(std::min(*rc::gen::inRange(0, 9), static_cast<int>(Fate::kAnswered)));
}

void TakeRandomStep(Model& model) {
  switch (*rc::gen::inRange(0, 18)) {
    case 0:
    case 1:
      return model.Submit(model.requests.Add(Kind::kCommand, {"a"}));
    case 2:
      return model.Submit(model.requests.Add(Kind::kPipeline, {"a", "b"}));
    case 3:
      return model.Submit(model.requests.Add(Kind::kTransaction, {"a", "b"}));
    case 4:
      return model.Submit(model.requests.AddBlocking("a"));
    case 5:
    case 6:
      return model.AnswerRequest(*rc::gen::inRange<size_t>(0, 10), DrawFate());
    case 7:
    case 8: {
      const int how = *rc::gen::inRange(0, 6);
      return model.AnswerSentinel(how == 1   ? std::nullopt
                                  : how == 2 ? std::optional(DrawServer())
                                             : std::optional(model.master),
                                  how != 0, *rc::gen::inRange(0, 4));
    }
    case 9:
    case 10:
      return model.AnswerRole(*rc::gen::inRange(0, 6) > 0);
    case 11:
      return model.AnswerWatch(*rc::gen::arbitrary<bool>());
    case 12:
      model.master = DrawServer();
      return model.Publish(*rc::gen::arbitrary<bool>() ? model.master : DrawServer());
    case 13:
      return model.LoseMaster();
    case 14:
      return model.PassInSteps(*rc::gen::inRange<int64_t>(0, 4 * kRefreshUs));
    case 15:
      return model.requests.AbandonOne(*rc::gen::inRange<size_t>(0, 1000));
    case 16:
      return model.Submit(model.requests.AddRead(Kind::kCommand, {"a"}));
    case 17:
      return model.Submit(model.requests.AddRead(Kind::kPipeline, {"a", "b"}));
  }
}

Options DrawOptions() {
  Options options;
  options.address = TcpAddress{"s1", 7};
  options.seeds = {{"s2", 7}, {"s3", 7}};
  options.sentinel_master = "mymaster";
  options.redirections = *rc::gen::inRange(0, 6);
  options.refresh_interval = absl::Microseconds(kRefreshUs);
  options.command_timeout = absl::Microseconds(kTimeoutUs);
  options.queue_limit = static_cast<int>(kQueueLimit);
  options.reconnect = *rc::gen::arbitrary<bool>();
  options.retry = static_cast<RetryPolicy>(*rc::gen::inRange(0, 3));
  options.read_from = static_cast<ReadFrom>(*rc::gen::inRange(0, 4));
  return options;
}

RC_GTEST_PROP(SentinelMachineProperty, EveryRequestEndsOnceAndInTime, ()) {
  Model model(DrawOptions(), *rc::gen::arbitrary<uint64_t>());
  const int steps = *rc::gen::inRange(0, 200);
  for (int step = 0; step < steps; ++step) {
    TakeRandomStep(model);
    RC_ASSERT(model.machine.queued() <= kQueueLimit);
  }
  // No server answers any more: the time limits end everything.
  model.PassInSteps(kTimeoutUs + NumberedRequests::kBlockUs);
  RC_ASSERT(model.machine.queued() == 0u);
  model.requests.CheckResults();
}

RC_GTEST_PROP(SentinelMachineProperty, FindsTheMasterOnceEverybodyAnswers, ()) {
  Options options = DrawOptions();
  options.reconnect = true;
  Model model(options, *rc::gen::arbitrary<uint64_t>());
  const int steps = *rc::gen::inRange(0, 200);
  for (int step = 0; step < steps; ++step) TakeRandomStep(model);
  // A master that no message announced is found with the first request that the old one refuses.
  const auto request_and_answer = [&] {
    for (int i = 0; i < 10; ++i) {
      model.Submit(model.requests.Add(Kind::kCommand, {"a"}));
      model.Submit(model.requests.AddRead(Kind::kCommand, {"a"}));
      model.AnswerAll();
      model.PassInSteps(12 * kRefreshUs);
      model.AnswerAll();
    }
  };
  request_and_answer();
  model.PassInSteps(SentinelMachine::kOutdatedUs);
  request_and_answer();
  RC_ASSERT(model.machine.master() == std::optional(TcpAddress{model.master, 7}));
  RC_ASSERT(model.machine.queued() == 0u);
  model.requests.CheckResults();
}

}  // namespace
}  // namespace redouble::inline v0_1::redis
