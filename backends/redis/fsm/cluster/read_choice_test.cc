#include "redouble/backends/redis/fsm/cluster/read_choice.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "redouble/backends/redis/fsm/request_for_test.h"

namespace redouble::inline v0_1::redis {
namespace {

const TcpAddress kMaster{"m", 1};
const std::vector<TcpAddress> kReplicas = {{"r1", 1}, {"r2", 1}};
constexpr int64_t kNow = 5'000'000;

// How often each server is chosen in 1000 times; "" for none.
std::map<std::string, int> Count(ReadChoice& choice, const TcpAddress* master,
                                 const std::vector<TcpAddress>& replicas, int64_t now_us = kNow) {
  std::map<std::string, int> counts;
  for (int i = 0; i < 1000; ++i) {
    const auto server = choice.Choose(master, replicas, now_us);
    ++counts[server ? server->host : ""];
  }
  return counts;
}

std::string HostsOf(const std::map<std::string, int>& counts) {
  std::string hosts;
  for (const auto& [host, count] : counts) hosts += host + " ";
  return hosts;
}

bool Concerns(ReadFrom policy, store::Request::Kind kind,
              std::initializer_list<std::string_view> lines) {
  RequestForTest request(kind, lines);
  return ReadChoice(policy, base::Rng(1)).Concerns(request);
}

TEST(ReadChoice, ConcernsRequestsThatOnlyRead) {
  using Kind = store::Request::Kind;
  EXPECT_TRUE(Concerns(ReadFrom::kReplica, Kind::kCommand, {"GET a"}));
  EXPECT_TRUE(Concerns(ReadFrom::kAny, Kind::kPipeline, {"GET a", "OBJECT ENCODING a"}));
  EXPECT_FALSE(Concerns(ReadFrom::kReplica, Kind::kPipeline, {"GET a", "SET a 1"}));
  EXPECT_FALSE(Concerns(ReadFrom::kReplica, Kind::kTransaction, {"GET a"}));
  EXPECT_FALSE(Concerns(ReadFrom::kReplica, Kind::kCommand, {"JSON.GET a"}));
  EXPECT_FALSE(Concerns(ReadFrom::kMaster, Kind::kCommand, {"GET a"}));
}

TEST(ReadChoice, SpreadsReadsOverTheServersOfThePolicy) {
  ReadChoice replica(ReadFrom::kReplica, base::Rng(1));
  const std::map<std::string, int> counts = Count(replica, &kMaster, kReplicas);
  EXPECT_EQ(HostsOf(counts), "r1 r2 ");
  EXPECT_NEAR(counts.at("r1"), 500, 100);
  ReadChoice preferred(ReadFrom::kReplicaPreferred, base::Rng(1));
  EXPECT_EQ(HostsOf(Count(preferred, &kMaster, kReplicas)), "r1 r2 ");
  ReadChoice any(ReadFrom::kAny, base::Rng(1));
  EXPECT_EQ(HostsOf(Count(any, &kMaster, kReplicas)), "m r1 r2 ");
  EXPECT_EQ(HostsOf(Count(any, nullptr, kReplicas)), "r1 r2 ");
}

TEST(ReadChoice, UsesTheMasterWithoutReplicasIfThePolicyAllowsIt) {
  ReadChoice replica(ReadFrom::kReplica, base::Rng(1));
  EXPECT_EQ(HostsOf(Count(replica, &kMaster, {})), " ");
  ReadChoice preferred(ReadFrom::kReplicaPreferred, base::Rng(1));
  EXPECT_EQ(HostsOf(Count(preferred, &kMaster, {})), "m ");
  EXPECT_EQ(HostsOf(Count(preferred, nullptr, {})), " ");
}

TEST(ReadChoice, AvoidsAServerThatFailedAndTriesItAgainWithOneRequest) {
  ReadChoice choice(ReadFrom::kReplica, base::Rng(1));
  choice.NoteFailure(kReplicas[0], kNow);
  EXPECT_EQ(HostsOf(Count(choice, &kMaster, kReplicas)), "r2 ");
  EXPECT_EQ(HostsOf(Count(choice, &kMaster, kReplicas, kNow + ReadChoice::kAvoidUs - 1)), "r2 ");
  EXPECT_EQ(Count(choice, &kMaster, kReplicas, kNow + ReadChoice::kAvoidUs).at("r1"), 1);
  choice.NoteAnswer(kReplicas[0]);
  EXPECT_EQ(HostsOf(Count(choice, &kMaster, kReplicas, kNow + ReadChoice::kAvoidUs)), "r1 r2 ");
}

TEST(ReadChoice, FallsBackWhenAllReplicasFailed) {
  for (const ReadFrom policy : {ReadFrom::kReplica, ReadFrom::kReplicaPreferred, ReadFrom::kAny}) {
    ReadChoice choice(policy, base::Rng(1));
    for (const TcpAddress& replica : kReplicas) choice.NoteFailure(replica, kNow);
    const std::string hosts = HostsOf(Count(choice, &kMaster, kReplicas));
    EXPECT_EQ(hosts, policy == ReadFrom::kReplica ? "r1 r2 " : "m ");
    const bool has_available =
        choice.Choose(&kMaster, kReplicas, kNow, /*only_available=*/true).has_value();
    EXPECT_EQ(has_available, policy != ReadFrom::kReplica);
  }
}

}  // namespace
}  // namespace redouble::inline v0_1::redis
