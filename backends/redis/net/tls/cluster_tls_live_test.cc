// A cluster client over TLS: all nodes, a slot that moves, a failover, and certificates that it or
// a node refuses.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "redouble/backends/redis/net/client/cluster_client.h"
#include "redouble/backends/redis/net/client/following_subscriber.h"
#include "redouble/backends/redis/net/client_hooks.h"
#include "redouble/backends/redis/net/live_fixture_for_test.h"
#include "redouble/backends/redis/net/pool/sync_pool.h"
#include "redouble/backends/redis/spawn/ask_server.h"
#include "redouble/backends/redis/spawn/certificates_for_test.h"
#include "redouble/backends/redis/spawn/spawned_cluster.h"
#include "redouble/core/base/hash/crc.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/message_source.h"
#include "redouble/core/store/pubsub/pubsub.h"
#include "redouble/core/store/typed/keys.h"
#include "redouble/core/store/typed/strings.h"

namespace redouble::inline v0_1::redis {
namespace {

using base::IsOk;
using base::IsOkAndHolds;
using testing::Optional;
using Validity = CertificatesForTest::Validity;

// Keys whose slots belong to the first, the second and the third master.
constexpr std::string_view kKeys[] = {"b", "c", "a"};

class ClusterTls : public LiveTest {
 protected:
  void SetUp() override {
    auto made = CertificatesForTest::Create();
    ASSERT_THAT(made, IsOk());
    certificates = *std::move(made);
  }
  void Start(SpawnedClusterOptions options, bool demands_client_certificate = false) {
    options.tls = SpawnedTls{certificates->server_certificate(), certificates->server_key(),
                             certificates->authority(), demands_client_certificate};
    auto started = SpawnedCluster::Start(options);
    ASSERT_THAT(started, IsOk());
    cluster = *std::move(started);
  }
  std::string Trusting() const { return "&tls_ca_file=" + certificates->authority(); }
  absl::StatusOr<std::unique_ptr<ClusterClient>> Connect(const std::string& query,
                                                         ClientHooks hooks = {}) {
    return Run(ClusterClient::Connect(
        context.get_executor(), Options::Parse(cluster->uri() + query).value(), std::move(hooks)));
  }
  // The text of a refused connection.
  std::string Refusal(const std::string& query) {
    const absl::Status status = Connect(query).status();
    EXPECT_FALSE(status.ok());
    return std::string(status.message());
  }

  std::unique_ptr<CertificatesForTest> certificates;
  std::unique_ptr<SpawnedCluster> cluster;
};

TEST_F(ClusterTls, CarriesCommandsToAllNodesAndFollowsASlotThatMoves) {
  Start({.masters = 3});
  const auto client = Connect(Trusting());
  ASSERT_THAT(client, IsOk());
  for (size_t node = 0; node < 3; ++node) {
    ASSERT_THAT(Run(store::Set(**client, kKeys[node], "value")), IsOk());
    EXPECT_THAT(AskServer(cluster->node(node), {"DBSIZE"}), IsOkAndHolds(store::Reply::Integer(1)));
  }
  EXPECT_EQ(Run(store::DbSize(**client)).value(), 3);
  EXPECT_EQ((*client)->counters().moved, 0u);
  ASSERT_THAT(cluster->MoveSlot(base::KeySlot(kKeys[0]), 0, 1), IsOk());
  EXPECT_THAT(Run(store::Get(**client, kKeys[0])), IsOkAndHolds(Optional(std::string("value"))));
  EXPECT_EQ((*client)->counters().moved, 1u);
  const auto popped = Send(**client, {"BLPOP", "list", "0.01"});
  ASSERT_THAT(popped, IsOk());
  EXPECT_TRUE(popped->is_nil());
}

TEST_F(ClusterTls, CarriesShardChannelsAndPools) {
  Start({.masters = 3});
  const Options options = Options::Parse(cluster->uri() + Trusting()).value();
  const auto subscriber = Run(FollowingSubscriber::Connect(context.get_executor(), options));
  ASSERT_THAT(subscriber, IsOk());
  ASSERT_THAT(Run(store::SSubscribe(**subscriber, kKeys)), IsOk());
  RunUntil([&] { return (*subscriber)->confirmed() == 3; });
  const auto pool = SyncPool::Connect(options);
  ASSERT_THAT(pool, IsOk());
  for (const std::string_view key : kKeys) {
    EXPECT_THAT(base::Run(store::SPublish(**pool, key, "text")), IsOkAndHolds(1));
    std::optional<store::Message> message;
    while (!message) {
      const auto event = Run((*subscriber)->Next());
      ASSERT_THAT(event, IsOk());
      if (event->push) message = store::ReadMessage(*event->push);
    }
    EXPECT_EQ(message->channel, key);
  }
}

TEST_F(ClusterTls, ContinuesAfterAFailover) {
  Start({.masters = 3, .replicas = 1});
  const auto client = Connect(Trusting() + "&command_timeout=30s");
  ASSERT_THAT(client, IsOk());
  ASSERT_THAT(Run(store::Set(**client, kKeys[0], "value")), IsOk());
  EXPECT_THAT(Send(**client, {"WAIT", "1", "0"}), IsOk());
  cluster->node(0).Kill();
  // The first requests may fail with the connection that was lost.
  while (!Run(store::Set(**client, kKeys[0], "after")).ok()) continue;
  EXPECT_THAT(Run(store::Get(**client, kKeys[0])), IsOkAndHolds(Optional(std::string("after"))));
  const TcpAddress* const master = (*client)->map().MasterOf(base::KeySlot(kKeys[0]));
  ASSERT_NE(master, nullptr);
  EXPECT_EQ(master->port, cluster->node(3).port()) << "the replica";
}

TEST_F(ClusterTls, RefusesCertificatesOfAnotherAuthorityOrName) {
  Start({.masters = 1});
  for (const std::string& query : {std::string(), "&tls_ca_file=" + certificates->other_authority(),
                                   Trusting() + "&tls_server_name=other.example"}) {
    const std::string refusal = Refusal(query);
    EXPECT_TRUE(absl::StrContains(refusal, "certificate verify failed")) << query << refusal;
  }
  EXPECT_THAT(Connect(Trusting() + "&tls_server_name=redis.example"), IsOk());
}

TEST_F(ClusterTls, ShowsItsOwnCertificateToNodesThatDemandOne) {
  Start({.masters = 3}, /*demands_client_certificate=*/true);
  EXPECT_FALSE(Connect(Trusting()).ok());
  const std::string own =
      absl::StrCat(Trusting(), "&tls_certificate_file=", certificates->client_certificate(),
                   "&tls_key_file=", certificates->client_key());
  const auto client = Connect(own);
  ASSERT_THAT(client, IsOk());
  for (const std::string_view key : kKeys) {
    EXPECT_THAT(Run(store::Set(**client, key, "value")), IsOk());
  }
  certificates->RenewClient(Validity::kExpired);
  EXPECT_FALSE(Connect(own).ok());
}

// The others go on. They do not miss the node meanwhile, which they refuse as well.
TEST_F(ClusterTls, RefusesTheExpiredCertificateOfOneNode) {
  Start({.masters = 3, .node_timeout = absl::Hours(1)});
  std::string failure;
  ClientHooks hooks;
  hooks.log = [&](const LogEvent& event) {
    if (event.kind == LogEvent::Kind::kConnectFailed) failure = std::string(event.text);
  };
  const auto client = Connect(Trusting() + "&command_timeout=500ms", hooks);
  ASSERT_THAT(client, IsOk());
  certificates->RenewServer(Validity::kExpired);
  ASSERT_THAT(cluster->node(1).Restart(), IsOk());
  const absl::Status refused = Run(store::Set(**client, kKeys[1], "value")).status();
  EXPECT_EQ(store::ErrorKindOf(refused), store::ErrorKind::kNotSent) << refused;
  EXPECT_TRUE(absl::StrContains(failure, "certificate verify failed")) << failure;
  for (const size_t node : {0u, 2u}) {
    EXPECT_THAT(Run(store::Set(**client, kKeys[node], "value")), IsOk());
  }
  certificates->RenewServer(Validity::kNow);
  ASSERT_THAT(cluster->node(1).Restart(), IsOk());
  while (!Run(store::Set(**client, kKeys[1], "value")).ok()) continue;
}

}  // namespace
}  // namespace redouble::inline v0_1::redis
