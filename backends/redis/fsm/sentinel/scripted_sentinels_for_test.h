// Watch: a SentinelMachine and scripted sentinels and servers, for tests.
//
//   Watch watch;
//   watch.Open();
//   RequestForTest get("GET k");
//   watch.Submit(get);
//   EXPECT_EQ(watch.TakeLog(), Log{"m1 < GET k"});
//   watch.Answer(Reply::Bulk("v"));
//
// Thread-safety: one thread at a time.
#ifndef REDOUBLE_BACKENDS_REDIS_FSM_SENTINEL_SCRIPTED_SENTINELS_FOR_TEST_H_
#define REDOUBLE_BACKENDS_REDIS_FSM_SENTINEL_SCRIPTED_SENTINELS_FOR_TEST_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/backends/redis/fsm/cluster/machine_driver_for_test.h"
#include "redouble/backends/redis/fsm/sentinel/sentinel_machine.h"
#include "redouble/backends/redis/options.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/reply.h"

namespace redouble::inline v0_1::redis {

using Log = std::vector<std::string>;

inline constexpr int64_t kRefreshUs = 1000;
inline constexpr int64_t kTimeoutUs = 100'000;
// The longest time until the next round, after one round in vain.
inline constexpr int64_t kPauseUs = 3 * kRefreshUs;

inline Options TestOptions() {
  Options options;
  options.address = TcpAddress{"s1", 1};
  options.seeds = {{"s2", 1}};
  options.sentinel_master = "mymaster";
  options.redirections = 3;
  options.refresh_interval = absl::Microseconds(kRefreshUs);
  options.command_timeout = absl::Microseconds(kTimeoutUs);
  return options;
}

inline store::Reply Fields(const std::string& host, const std::string& port) {
  return store::Reply::Array({store::Reply::Bulk("name"), store::Reply::Bulk("x"),
                              store::Reply::Bulk("ip"), store::Reply::Bulk(host),
                              store::Reply::Bulk("port"), store::Reply::Bulk(port)});
}
// The replies of a sentinel: the epoch, the address of the master, and the other sentinels.
inline store::Reply MasterAt(const std::string& host, std::vector<store::Reply> sentinels = {},
                             int epoch = 0) {
  return store::Reply::Array(
      {store::Reply::Array(
           {store::Reply::Bulk("config-epoch"), store::Reply::Bulk(std::to_string(epoch))}),
       store::Reply::Array({store::Reply::Bulk(host), store::Reply::Bulk("6379")}),
       store::Reply::Array(std::move(sentinels))});
}
inline store::Reply MasterOfEpoch(int epoch, const std::string& host) {
  return MasterAt(host, {}, epoch);
}
inline store::Reply NoMaster() {
  const store::Reply unknown = store::Reply::Error("ERR No such master with that name");
  return store::Reply::Array({unknown, store::Reply::NilArray(), unknown});
}
inline store::Reply Master() {
  return store::Reply::Array(
      {store::Reply::Bulk("master"), store::Reply::Integer(0), store::Reply::EmptyArray()});
}
inline store::Reply Replica() {
  return store::Reply::Array({store::Reply::Bulk("slave"), store::Reply::Bulk("m")});
}
inline absl::Status NotConnected() { return store::NotSentError("no way there"); }
inline absl::Status Lost() { return store::OutcomeUnknownError("the connection was lost"); }

// A machine and scripted servers. The actions of the machine are recorded as lines: "s1 ask", "m1
// role", "m1 < GET k", "s1 watch", "drop GET k".
class Watch : public MachineDriver<SentinelMachine> {
 public:
  explicit Watch(const Options& options = TestOptions(),
                 SentinelMachine::IsIdempotent is_idempotent = nullptr)
      : MachineDriver(options, std::move(is_idempotent)) {}

  void Start() {
    machine.Start(now_us);
    Collect();
  }
  // Starts the machine and lets it find m1.
  void Open() {
    Start();
    Sentinel(MasterAt("m1"));
    Role(Master());
    log.clear();
  }
  // Starts the machine, lets it find the master that a sentinel names, and loses it.
  void FindAndLose(const store::Reply& named) {
    Start();
    Sentinel(named);
    Role(Master());
    Pass(kPauseUs);
    LoseMaster();
    log.clear();
  }
  void Sentinel(absl::StatusOr<store::Reply> reply) {
    machine.SentinelAnswered(reply, now_us);
    Collect();
  }
  void Role(absl::StatusOr<store::Reply> reply) {
    machine.RoleAnswered(reply, now_us);
    Collect();
  }
  void Switched(std::string_view message) {
    machine.Switched(message, now_us);
    Collect();
  }
  void LoseMaster() {
    machine.MasterLost(now_us);
    Collect();
  }
  // Answers the oldest request that was sent.
  void Answer(absl::StatusOr<store::Reply> reply) {
    const uint64_t id = TakeSent();
    machine.Answered(id, std::move(reply), now_us);
    Collect();
  }
  void Refuse() {
    const uint64_t id = TakeSent();
    machine.Unreachable(id, NotConnected(), now_us);
    Collect();
  }
  void Pass(int64_t duration_us) {
    now_us += duration_us;
    if (wake_us <= now_us) {
      wake_us = SentinelMachine::kNever;
      machine.Timer(now_us);
    }
    Collect();
  }
  Log TakeLog() { return std::exchange(log, {}); }

  void Collect() override {
    for (const uint64_t id : machine.TakeDropped()) {
      log.push_back("drop " + sent.at(id));
      sent.erase(id);
    }
    while (const std::optional<SentinelAction> action = machine.NextAction()) Keep(*action);
  }

  Log log;

 private:
  uint64_t TakeSent() {
    EXPECT_FALSE(sent.empty());
    const uint64_t id = sent.empty() ? 0 : sent.begin()->first;
    sent.erase(id);
    return id;
  }
  void Keep(const SentinelAction& action) {
    switch (action.kind) {
      case SentinelAction::Kind::kAskSentinel:
        return log.push_back(action.address.host + " ask");
      case SentinelAction::Kind::kAskRole:
        return log.push_back(action.address.host + " role");
      case SentinelAction::Kind::kWatch:
        return log.push_back(action.address.host + " watch");
      case SentinelAction::Kind::kSend: {
        std::string text;
        for (const store::Command& command : machine.CommandsOf(action.request)) {
          text += (text.empty() ? "" : ", ") + std::string(command.name());
          for (const std::string_view word : command.arguments()) text += " " + std::string(word);
        }
        sent.emplace(action.request, text);
        return log.push_back(action.address.host + " < " + text);
      }
      case SentinelAction::Kind::kWake:
        wake_us = action.at_us;
    }
  }
};

}  // namespace redouble::inline v0_1::redis

#endif  // REDOUBLE_BACKENDS_REDIS_FSM_SENTINEL_SCRIPTED_SENTINELS_FOR_TEST_H_
