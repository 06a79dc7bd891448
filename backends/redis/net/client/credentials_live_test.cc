// Credentials that change while clients run, against real servers.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "redouble/backends/redis/credential_source.h"
#include "redouble/backends/redis/net/client/client.h"
#include "redouble/backends/redis/net/client/cluster_client.h"
#include "redouble/backends/redis/net/client/following_subscriber.h"
#include "redouble/backends/redis/net/client/sentinel_client.h"
#include "redouble/backends/redis/net/client_hooks.h"
#include "redouble/backends/redis/net/live_fixture_for_test.h"
#include "redouble/backends/redis/net/pool/sync_pool.h"
#include "redouble/backends/redis/net/subscriber.h"
#include "redouble/backends/redis/spawn/ask_server.h"
#include "redouble/backends/redis/spawn/spawned_cluster.h"
#include "redouble/backends/redis/spawn/spawned_sentinels.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/store/pubsub/pubsub.h"
#include "redouble/core/store/typed/strings.h"

namespace redouble::inline v0_1::redis {
namespace {

using base::IsOk;
using base::IsOkAndHolds;
using store::Reply;

class CredentialsTest : public LiveTest {
 protected:
  void SetUp() override {
    SpawnedServerOptions options;
    options.config = {UserLine("one", "old"), UserLine("two", "new")};
    StartServer(options);
    hooks.credentials = source;
    hooks.log = [this](const LogEvent& event) {
      events.push_back(
          absl::StrCat(std::string(LogEventName(event.kind)), " ", std::string(event.text)));
    };
  }
  static std::string UserLine(std::string_view user, std::string_view password) {
    return absl::StrCat("user ", std::string(user), " on >", std::string(password), " ~* &* +@all");
  }
  // The clients authenticate in the next turns of the event loop.
  void Set(Credentials next) {
    source->Set(std::move(next));
    if (context.stopped()) context.restart();
    context.poll();
  }
  Reply Ask(store::Store& store, std::vector<std::string_view> words) {
    const auto reply = Send(store, std::move(words));
    return reply.ok() ? *reply : Reply::Error(std::string(reply.status().message()));
  }
  Reply WhoAmI(store::Store& store) { return Ask(store, {"ACL", "WHOAMI"}); }

  std::shared_ptr<CredentialSource> source =
      std::make_shared<CredentialSource>(Credentials{"one", "old"});
  ClientHooks hooks;
  std::vector<std::string> events;
};

TEST_F(CredentialsTest, AnOpenSharedConnectionAuthenticatesAgain) {
  const auto client = Connect(server->uri(), hooks);
  ASSERT_THAT(client, IsOk());
  EXPECT_EQ(WhoAmI(**client), Reply::Bulk("one"));
  const Reply id = Ask(**client, {"CLIENT", "ID"});
  Set({"two", "new"});
  EXPECT_EQ(WhoAmI(**client), Reply::Bulk("two"));
  EXPECT_EQ(Ask(**client, {"CLIENT", "ID"}), id) << "the connection stays";
  EXPECT_EQ((*client)->counters().reauthentications, 1u);
  EXPECT_EQ((*client)->counters().in_flight, 0u);
}

TEST_F(CredentialsTest, TheNextConnectionUsesTheNewOnes) {
  const auto client = Connect(absl::StrCat(server->uri(), "?retry=idempotent"), hooks);
  ASSERT_THAT(client, IsOk());
  // The old password is not valid any more; the server knows the new one only.
  Set({"two", "new"});
  EXPECT_EQ(WhoAmI(**client), Reply::Bulk("two"));
  ASSERT_THAT(server->Restart(), IsOk());
  EXPECT_EQ(WhoAmI(**client), Reply::Bulk("two"));
}

TEST_F(CredentialsTest, ARefusedOneIsLoggedAndTheConnectionStays) {
  const auto client = Connect(server->uri(), hooks);
  ASSERT_THAT(client, IsOk());
  Set({"two", "wrong"});
  EXPECT_EQ(WhoAmI(**client), Reply::Bulk("one"));
  EXPECT_EQ(events.back(), "authentication refused WRONGPASS");
  Set({"two", "new"});
  EXPECT_EQ(WhoAmI(**client), Reply::Bulk("two"));
}

TEST_F(CredentialsTest, ConnectionsForBlockingCommandsAuthenticateAgain) {
  const auto client = Connect(server->uri(), hooks);
  ASSERT_THAT(client, IsOk());
  EXPECT_TRUE(Ask(**client, {"BLPOP", "list", "0.01"}).is_nil());
  Set({"two", "new"});
  EXPECT_EQ(WhoAmI(**client), Reply::Bulk("two"));
  EXPECT_TRUE(Ask(**client, {"BLPOP", "list", "0.01"}).is_nil());
  EXPECT_EQ((*client)->counters().reauthentications, 2u);
  const Reply list = Ask(**client, {"CLIENT", "LIST"});
  EXPECT_EQ(list.text().find("user=one"), std::string::npos) << list.text();
}

TEST_F(CredentialsTest, ADedicatedConnectionIsLeftToItsOwner) {
  const auto client = Run(Client::Connect(
      context.get_executor(), Options::Parse(server->uri()).value(), Sharing::kDedicated, hooks));
  ASSERT_THAT(client, IsOk());
  EXPECT_EQ(Ask(**client, {"MULTI"}), Reply::Ok());
  Set({"two", "new"});
  Ask(**client, {"ACL", "WHOAMI"});
  EXPECT_EQ(Ask(**client, {"EXEC"}), Reply::Array({Reply::Bulk("one")}));
}

TEST_F(CredentialsTest, APoolReplacesConnectionsWithOldOnes) {
  const auto pool = SyncPool::Connect(Options::Parse(server->uri()).value(), hooks);
  ASSERT_THAT(pool, IsOk());
  EXPECT_EQ(WhoAmI(**pool), Reply::Bulk("one"));
  Set({"two", "new"});
  EXPECT_EQ(WhoAmI(**pool), Reply::Bulk("two"));
  EXPECT_EQ(WhoAmI(**pool), Reply::Bulk("two"));
  EXPECT_EQ((*pool)->counters().opened, 2u);
}

// With RESP2, a connection with subscriptions takes no AUTH.
TEST_F(CredentialsTest, SubscribersUseThemWhenTheyConnectNext) {
  const auto control = Connect(server->uri());
  ASSERT_THAT(control, IsOk());
  auto subscriber = Run(
      Subscriber::Connect(context.get_executor(), Options::Parse(server->uri()).value(), hooks));
  ASSERT_THAT(subscriber, IsOk());
  const std::string_view channels[] = {"news"};
  ASSERT_THAT(Run(store::Subscribe(**subscriber, channels)), IsOk());
  const auto subscribed_as = [&](std::string_view user) {
    const Reply list = Ask(**control, {"CLIENT", "LIST", "TYPE", "pubsub"});
    return list.text().find(absl::StrCat(" user=", std::string(user), " ")) != std::string::npos;
  };
  EXPECT_TRUE(subscribed_as("one"));
  Set({"two", "new"});
  EXPECT_TRUE(subscribed_as("one"));
  EXPECT_EQ(Ask(**control, {"CLIENT", "KILL", "TYPE", "pubsub"}), Reply::Integer(1));
  EXPECT_TRUE(Run((*subscriber)->Next())->is_gap());
  EXPECT_TRUE(subscribed_as("two"));
  EXPECT_FALSE(subscribed_as("one"));
}

TEST_F(CredentialsTest, AllNodesOfAClusterAuthenticateAgain) {
  SpawnedClusterOptions options;
  options.config = {UserLine("one", "old"), UserLine("two", "new")};
  auto cluster = SpawnedCluster::Start(options);
  ASSERT_THAT(cluster, IsOk());
  auto client = Run(ClusterClient::Connect(context.get_executor(),
                                           Options::Parse((*cluster)->uri()).value(), hooks));
  ASSERT_THAT(client, IsOk());
  for (const std::string_view key : {"a", "b", "c"}) {
    EXPECT_THAT(Run(store::Set(**client, key, "1")), IsOk());
  }
  Set({"two", "new"});
  for (const std::string_view key : {"a", "b", "c"}) {
    EXPECT_THAT(Run(store::Get(**client, key)), IsOk());
  }
  EXPECT_EQ((*client)->traffic().reauthentications, 3u);
}

TEST_F(CredentialsTest, FollowingSubscribersUseThemWhenTheyConnectNext) {
  SpawnedClusterOptions options;
  options.config = {UserLine("one", "old"), UserLine("two", "new")};
  auto cluster = SpawnedCluster::Start(options);
  ASSERT_THAT(cluster, IsOk());
  auto subscriber = Run(FollowingSubscriber::Connect(
      context.get_executor(), Options::Parse((*cluster)->uri()).value(), hooks));
  ASSERT_THAT(subscriber, IsOk());
  const std::string_view channels[] = {"b"};
  ASSERT_THAT(Run(store::SSubscribe(**subscriber, channels)), IsOk());
  const SpawnedServer& home = (*cluster)->node(0);  // Of the slot of b.
  const auto subscribed_as = [&](std::string_view user) {
    const auto list = AskServer(home, {"CLIENT", "LIST", "TYPE", "pubsub"});
    return list.ok() &&
           absl::StrContains(list->text(), absl::StrCat(" user=", std::string(user), " "));
  };
  EXPECT_TRUE(subscribed_as("one"));
  Set({"two", "new"});
  EXPECT_THAT(AskServer(home, {"CLIENT", "KILL", "TYPE", "pubsub"}),
              IsOkAndHolds(Reply::Integer(1)));
  EXPECT_TRUE(Run((*subscriber)->Next())->is_gap());
  EXPECT_TRUE(subscribed_as("two"));
  EXPECT_FALSE(subscribed_as("one"));
}

TEST_F(CredentialsTest, TheMasterOfSentinelsGetsThemAndTheSentinelsDoNot) {
  auto watched = SpawnedSentinels::Start({.replicas = 1, .sentinels = 1});
  ASSERT_THAT(watched, IsOk());
  const auto direct = Connect((*watched)->server(0).uri());
  ASSERT_THAT(direct, IsOk());
  for (const auto& [user, password] : {std::pair("one", ">old"), std::pair("two", ">new")}) {
    EXPECT_EQ(Ask(**direct, {"ACL", "SETUSER", user, "on", password, "~*", "&*", "+@all"}),
              Reply::Ok());
  }
  auto client = Run(SentinelClient::Connect(context.get_executor(),
                                            Options::Parse((*watched)->uri()).value(), hooks));
  ASSERT_THAT(client, IsOk());
  EXPECT_EQ(WhoAmI(**client), Reply::Bulk("one"));
  Set({"two", "new"});
  EXPECT_EQ(WhoAmI(**client), Reply::Bulk("two"));
}

}  // namespace
}  // namespace redouble::inline v0_1::redis
