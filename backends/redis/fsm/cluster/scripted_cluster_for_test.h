// Cluster: a ClusterMachine and a scripted cluster, for tests.
//
//   Cluster cluster;
//   cluster.Open();
//   RequestForTest get("GET b");
//   cluster.Submit(get);
//   EXPECT_EQ(cluster.TakeLog(), Log{"n1 < GET b"});
//   cluster.Answer("n1", Reply::Bulk("v"));
//
// Thread-safety: one thread at a time.
#ifndef REDOUBLE_BACKENDS_REDIS_FSM_CLUSTER_SCRIPTED_CLUSTER_FOR_TEST_H_
#define REDOUBLE_BACKENDS_REDIS_FSM_CLUSTER_SCRIPTED_CLUSTER_FOR_TEST_H_

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "redouble/backends/redis/fsm/cluster/cluster_machine.h"
#include "redouble/backends/redis/fsm/cluster/machine_driver_for_test.h"
#include "redouble/backends/redis/fsm/request_for_test.h"
#include "redouble/backends/redis/options.h"
#include "redouble/core/base/random/rng.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/reply.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::redis {

using Log = std::vector<std::string>;

// The slots of the keys: c 7365, b 3300, a 15495. Node n1 serves b, n2 serves c, n3 serves a.
inline constexpr int64_t kRefreshUs = 1000;
inline constexpr int64_t kTimeoutUs = 100'000;
// The longest time between two rounds of asking for the map, if the first was successful.
inline constexpr int64_t kPauseUs = 2 * kRefreshUs;

inline Options TestOptions() {
  Options options;
  options.address = TcpAddress{"seed", 1};
  options.cluster = true;
  options.redirections = 3;
  options.refresh_interval = absl::Microseconds(kRefreshUs);
  options.command_timeout = absl::Microseconds(kTimeoutUs);
  return options;
}

inline store::Reply Range(int64_t first, int64_t last, const std::string& host) {
  return store::Reply::Array(
      {store::Reply::Integer(first), store::Reply::Integer(last),
       store::Reply::Array({store::Reply::Bulk(host), store::Reply::Integer(7)})});
}

inline store::Reply ThreeShards() {
  return store::Reply::Array(
      {Range(0, 5460, "n1"), Range(5461, 10922, "n2"), Range(10923, 16383, "n3")});
}

// The reply to CLUSTER INFO.
inline store::Reply Info(int64_t epoch, const std::string& state = "ok") {
  return store::Reply::Bulk("cluster_state:" + state + "\r\ncluster_slots_assigned:16384\r\n" +
                            "cluster_current_epoch:" + std::to_string(epoch) + "\r\n");
}

inline absl::Status NotConnected() { return store::NotSentError("no way to the node"); }
inline absl::Status Lost() { return store::OutcomeUnknownError("the connection was lost"); }

// A machine and a scripted cluster. The actions of the machine are recorded as lines: "n1 < GET b",
// "n1 < ASKING, GET b", "n1 map", "drop".
class Cluster : public MachineDriver<ClusterMachine> {
 public:
  explicit Cluster(const Options& options = TestOptions(),
                   ClusterMachine::IsIdempotent is_idempotent = nullptr,
                   base::Rng rng = base::Rng(1))
      : MachineDriver(options, std::move(is_idempotent), rng) {}

  // Starts the machine and answers with the map.
  void Open() {
    machine.Start(now_us);
    AnswerMap(ThreeShards());
  }
  void AnswerMap(absl::StatusOr<store::Reply> slots, const store::Reply& info = Info(1)) {
    Collect();
    ASSERT_TRUE(map_asked.has_value());
    const size_t node = *std::exchange(map_asked, std::nullopt);
    log.clear();
    if (slots.ok()) slots = store::Reply::Array({*slots, info});
    machine.MapAnswered(node, slots, now_us);
    Collect();
  }
  // The node that was asked for the map; empty if none was.
  std::string MapAsked() {
    Collect();
    return map_asked ? machine.Address(*map_asked).host : "";
  }
  // Reports that the node is unreachable for its oldest part.
  void Refuse(const std::string& host) { Answer(host, NotConnected(), /*reached=*/false); }
  // Answers the oldest part of the node.
  void Answer(const std::string& host, absl::StatusOr<store::Reply> reply, bool reached = true) {
    for (const auto& [id, part_host] : sent) {
      if (part_host != host) continue;
      const uint64_t part = id;
      sent.erase(part);
      if (reached) {
        machine.PartAnswered(part, std::move(reply), now_us);
      } else {
        machine.PartUnreachable(part, reply.status(), now_us);
      }
      return Collect();
    }
    FAIL() << "nothing was sent to " << host;
  }
  void Pass(int64_t duration_us) {
    now_us += duration_us;
    if (wake_us <= now_us) {
      wake_us = ClusterMachine::kNever;
      machine.Timer(now_us);
      Collect();
    }
  }
  std::vector<std::string> TakeLog() { return std::exchange(log, {}); }

  void Collect() override {
    for (const uint64_t part : machine.TakeDropped()) {
      log.push_back(sent.at(part) + " drop");
      sent.erase(part);
    }
    while (const std::optional<ClusterAction> action = machine.NextAction()) {
      switch (action->kind) {
        case ClusterAction::Kind::kSend: {
          const std::string& host = machine.Address(action->node).host;
          sent.emplace(action->part, host);
          log.push_back(host + " < " + Text(machine.Part(action->part)));
          break;
        }
        case ClusterAction::Kind::kAskMap:
          EXPECT_FALSE(map_asked.has_value());
          map_asked = action->node;
          log.push_back(machine.Address(action->node).host + " map");
          break;
        case ClusterAction::Kind::kWake:
          wake_us = action->at_us;
      }
    }
    for (const TcpAddress& address : machine.TakeForgotten())
      log.push_back(address.host + " forgotten");
  }

  static std::string Text(const ClusterPart& part) {
    std::string text;
    for (const store::Command& command : part.commands()) {
      if (!text.empty()) text += ", ";
      text += command.name();
      for (const std::string_view word : command.arguments()) text += " " + std::string(word);
    }
    return text;
  }

  std::optional<size_t> map_asked;
  std::vector<std::string> log;
};

inline void ExpectReply(RequestForTest& request, const store::Reply& expected) {
  ASSERT_TRUE(request.completed());
  ASSERT_THAT(request.result(), base::IsOk());
  EXPECT_THAT(request.result(), base::IsOkAndHolds(expected));
}

inline void ExpectFailure(RequestForTest& request, store::ErrorKind kind, absl::StatusCode code,
                          const std::string& message) {
  ASSERT_TRUE(request.completed());
  EXPECT_EQ(store::ErrorKindOf(request.result().status()), kind);
  EXPECT_EQ(request.result().status().code(), code);
  EXPECT_EQ(request.result().status().message(), message);
}

}  // namespace redouble::inline v0_1::redis

#endif  // REDOUBLE_BACKENDS_REDIS_FSM_CLUSTER_SCRIPTED_CLUSTER_FOR_TEST_H_
