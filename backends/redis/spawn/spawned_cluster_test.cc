#include "redouble/backends/redis/spawn/spawned_cluster.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "redouble/backends/redis/net/client/sync_client.h"
#include "redouble/core/base/hash/crc.h"
#include "redouble/core/base/random/rng.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/store/command.h"

namespace redouble::inline v0_1::redis {
namespace {

using base::IsOk;
using base::StatusIs;

store::Reply Ask(const SpawnedServer& node, const std::vector<std::string_view>& words) {
  auto client = SyncClient::Connect(node.uri());
  EXPECT_THAT(client, IsOk());
  if (!client.ok()) return store::Reply::Nil();
  auto ask = [&]() -> base::Task<absl::StatusOr<store::Reply>> {
    const auto command = store::Command::Named(words[0], std::span(words).subspan(1));
    co_return co_await (*client)->Execute(command);
  };
  return base::Run(ask()).value_or(store::Reply::Nil());
}

TEST(SpawnedCluster, SharesTheSlotsAmongItsMastersAndHasReplicasThatFollow) {
  auto cluster = SpawnedCluster::Start({.masters = 3, .replicas = 1});
  ASSERT_THAT(cluster, IsOk());
  ASSERT_EQ((*cluster)->size(), 6u);
  const store::Reply slots = Ask((*cluster)->node(5), {"CLUSTER", "SLOTS"});
  ASSERT_TRUE(slots.is_array());
  ASSERT_EQ(slots.elements().size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    const std::vector<store::Reply>& row = slots.elements()[i].elements();
    ASSERT_GE(row.size(), 3u);
    EXPECT_EQ(row[2].elements()[1].integer(), (*cluster)->node(i).port());
    EXPECT_EQ(row[2].elements()[2].text(), SpawnedCluster::NodeId(i));
    const store::Reply replicas =
        Ask((*cluster)->node(5), {"CLUSTER", "REPLICAS", SpawnedCluster::NodeId(i)});
    ASSERT_TRUE(replicas.is_array());
    ASSERT_EQ(replicas.elements().size(), 1u);
    EXPECT_TRUE(absl::StartsWith(replicas.elements()[0].text(), SpawnedCluster::NodeId(i + 3)));
  }
  EXPECT_TRUE(absl::StartsWith(
      (*cluster)->uri(),
      absl::StrCat("redis://127.0.0.1:", (*cluster)->node(0).port(),
                   "?cluster=yes&seeds=127.0.0.1:", (*cluster)->node(1).port(), ",")));
}

TEST(SpawnedCluster, KeepsServingWhenItsHeldClockJumps) {
  const absl::Time start = absl::FromUnixSeconds(1'700'000'000);
  auto cluster = SpawnedCluster::Start({.masters = 3, .held_time = start});
  ASSERT_THAT(cluster, IsOk());
  for (const absl::Time time : {start + absl::Hours(24 * 400), start}) {
    ASSERT_THAT((*cluster)->SetTime(time), IsOk());
    ASSERT_THAT((*cluster)->Settle(), IsOk());
    for (size_t i = 0; i < 3; ++i) {
      const store::Reply time_now = Ask((*cluster)->node(i), {"TIME"});
      EXPECT_EQ(time_now.elements()[0].text(), absl::StrCat(absl::ToUnixSeconds(time)));
      const store::Reply info = Ask((*cluster)->node(i), {"CLUSTER", "INFO"});
      EXPECT_TRUE(absl::StartsWith(info.text(), "cluster_state:ok")) << info;
    }
  }
}

// Every node sends the clients of a slot to the node that has it.
TEST(SpawnedCluster, KnowsWhereSlotsAreThatHaveMovedToAndFro) {
  constexpr int kMoves = 200;
  const std::vector<std::string> keys = {"a", "b", "c", "d", "e", "f"};
  auto cluster = SpawnedCluster::Start({.masters = 3});
  ASSERT_THAT(cluster, IsOk());
  std::map<std::string, size_t> owners;
  for (const std::string& key : keys) {
    for (size_t i = 0; i < 3; ++i) {
      if (Ask((*cluster)->node(i), {"GET", key}).is_nil()) owners[key] = i;
    }
  }
  base::Rng rng(1);
  for (int i = 0; i < kMoves; ++i) {
    const std::string& key = keys[rng.Below(keys.size())];
    const size_t to = (owners[key] + 1 + rng.Below(2)) % 3;
    ASSERT_THAT((*cluster)->MoveSlot(base::KeySlot(key), owners[key], to), IsOk());
    owners[key] = to;
  }
  for (const auto& [key, owner] : owners) {
    const std::string address = absl::StrCat(":", (*cluster)->node(owner).port());
    for (size_t i = 0; i < 3; ++i) {
      const auto reply = [&] { return Ask((*cluster)->node(i), {"GET", key}); };
      const auto knows = [&] {
        return i == owner ? reply().is_nil() : absl::EndsWith(reply().text(), address);
      };
      // A node may still get a message of an earlier owner. The one of the last owner corrects it.
      for (int tries = 0; tries < 1000 && !knows(); ++tries) {
        (*cluster)->node(i).WaitForExit(absl::Milliseconds(10));
      }
      EXPECT_TRUE(knows()) << key << " at node " << i << ": " << reply() << ", not " << address;
    }
  }
}

TEST(SpawnedCluster, ReportsWhyItCannotStart) {
  const auto refused = SpawnedCluster::Start({.config = {"no-such-directive yes"}});
  EXPECT_THAT(refused, StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST(SpawnedCluster, HasNoTimeToSetWhenItsClockIsNotHeld) {
  auto cluster = SpawnedCluster::Start({.masters = 1});
  ASSERT_THAT(cluster, IsOk());
  EXPECT_THAT((*cluster)->SetTime(absl::UnixEpoch()),
              StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT((*cluster)->Settle(), StatusIs(absl::StatusCode::kFailedPrecondition));
}

}  // namespace
}  // namespace redouble::inline v0_1::redis
