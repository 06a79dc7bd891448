// What every client promises, whatever it connects to: the same tests for a dedicated and a shared
// connection, a cluster, a master of sentinels, and pools of them. The tests use clients that
// block; each of them runs the client for an event loop.
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "redouble/backends/redis/net/client/sync_store.h"
#include "redouble/backends/redis/net/pool/sync_pool.h"
#include "redouble/backends/redis/observe/command_event.h"
#include "redouble/backends/redis/spawn/spawned_cluster.h"
#include "redouble/backends/redis/spawn/spawned_sentinels.h"
#include "redouble/backends/redis/spawn/spawned_server.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/post.h"
#include "redouble/core/store/typed/strings.h"

namespace redouble::inline v0_1::redis {
namespace {

using base::IsOk;
using base::IsOkAndHolds;
using base::StatusIs;
using store::ErrorKind;
using store::Reply;
using testing::Optional;

// Which server, and whether through a pool.
struct Kind {
  const char* name;
  enum class Servers : uint8_t { kOne, kCluster, kSentinels } servers;
  bool pooled;
  Sharing sharing = Sharing::kShared;
  // Connections of which one belongs to each request.
  bool is_exclusive() const {
    return servers == Servers::kOne && (pooled || sharing == Sharing::kDedicated);
  }
};
using Servers = Kind::Servers;

constexpr Kind kKinds[] = {
    {"Dedicated", Servers::kOne, false, Sharing::kDedicated},
    {"Shared", Servers::kOne, false},
    {"Cluster", Servers::kCluster, false},
    {"Sentinels", Servers::kSentinels, false},
    {"Pool", Servers::kOne, true},
    {"PoolOfACluster", Servers::kCluster, true},
    {"PoolOfSentinels", Servers::kSentinels, true},
};

// The servers, which all tests share.
class RunningServers {
 public:
  static absl::StatusOr<std::unique_ptr<RunningServers>> Start() {
    auto servers = std::make_unique<RunningServers>();
    SpawnedServerOptions options;
    options.listen_on_loopback = true;
    REDOUBLE_ASSIGN_OR_RETURN(servers->one_, SpawnedServer::Start(options));
    REDOUBLE_ASSIGN_OR_RETURN(servers->cluster_, SpawnedCluster::Start({.masters = 3}));
    REDOUBLE_ASSIGN_OR_RETURN(servers->watched_,
                              SpawnedSentinels::Start({.replicas = 0, .sentinels = 1}));
    return servers;
  }

  std::string Uri(Servers servers) const {
    if (servers == Servers::kCluster) return cluster_->uri();
    if (servers == Servers::kSentinels) return watched_->uri();
    return absl::StrCat(one_->loopback_uri(), "?db=0");
  }
  std::vector<SpawnedServer*> Of(Servers servers) const {
    if (servers == Servers::kOne) return {one_.get()};
    if (servers == Servers::kSentinels) return {&watched_->server(0)};
    return {&cluster_->node(0), &cluster_->node(1), &cluster_->node(2)};
  }
  absl::Status Restart(Servers servers) {
    for (SpawnedServer* server : Of(servers)) REDOUBLE_RETURN_IF_ERROR(server->Restart());
    return servers == Servers::kCluster ? cluster_->WaitUntilServing() : absl::OkStatus();
  }

 private:
  std::unique_ptr<SpawnedServer> one_;
  std::unique_ptr<SpawnedCluster> cluster_;
  std::unique_ptr<SpawnedSentinels> watched_;
};

// A client, and what it has counted.
struct Opened {
  std::unique_ptr<store::Store> store;
  std::function<Counters()> traffic;
  std::function<uint64_t()> open_failures;  // Of a pool.
};

class EveryClient : public testing::TestWithParam<Kind> {
 protected:
  static void SetUpTestSuite() {
    auto started = RunningServers::Start();
    ASSERT_THAT(started, IsOk());
    servers = started->release();
  }
  static void TearDownTestSuite() {
    delete servers;
    servers = nullptr;
  }
  void SetUp() override { ASSERT_NE(servers, nullptr); }

  Opened Connect(std::string_view query = "", ClientHooks hooks = {}) {
    const Options options =
        Options::Parse(absl::StrCat(servers->Uri(GetParam().servers), std::string(query))).value();
    if (!GetParam().pooled) {
      return Keep(
          SyncStore::Connect(options, GetParam().sharing, std::move(hooks)),
          [](const SyncStore& store) { return store.counters(); },
          [](const SyncStore&) { return uint64_t{0}; });
    }
    return Keep(
        SyncPool::Connect(options, std::move(hooks)),
        [](const SyncPool& pool) { return pool.traffic(); },
        [](const SyncPool& pool) { return pool.counters().open_failures; });
  }
  static absl::StatusOr<Reply> Send(const Opened& client, std::vector<std::string_view> words) {
    const auto send = [&]() -> base::Task<absl::StatusOr<Reply>> {
      const auto command = store::Command::Named(words[0], std::span(words).subspan(1));
      co_return co_await client.store->Execute(command);
    };
    return base::Run(send());
  }
  // Asks until a reply arrives, for a minute at most. The last error tells what is wrong then.
  static absl::Status AskUntilAnswered(const Opened& client, std::string_view key) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    absl::Status status;
    do {
      status = base::Run(store::Get(*client.store, key)).status();
    } while (!status.ok() && std::chrono::steady_clock::now() < end);
    return status;
  }
  void Signal(int signal) {
    for (SpawnedServer* server : servers->Of(GetParam().servers)) kill(server->pid(), signal);
  }

  static RunningServers* servers;

 private:
  template <typename Store, typename Traffic, typename Failures>
  static Opened Keep(absl::StatusOr<std::unique_ptr<Store>> opened, Traffic traffic,
                     Failures failures) {
    EXPECT_THAT(opened, IsOk());
    if (!opened.ok()) std::abort();
    const Store& store = **opened;
    return {*std::move(opened), [&store, traffic] { return traffic(store); },
            [&store, failures] { return failures(store); }};
  }
};
RunningServers* EveryClient::servers = nullptr;

TEST_P(EveryClient, ReadsTheDeepestRepliesOfRedis) {
  const Opened client = Connect();
  const auto docs = Send(client, {"COMMAND", "DOCS"});
  ASSERT_THAT(docs, IsOk());
  EXPECT_TRUE(docs->is_array() && docs->elements().size() > 100) << docs->DebugString();
  EXPECT_THAT(Send(client, {"GET", "key"}), IsOk());
  EXPECT_EQ(client.traffic().losses, 0u);
}

TEST_P(EveryClient, SendsAPostedBatch) {
  const Opened client = Connect();
  {
    const std::string value = GetParam().name;  // Ends with this block.
    store::Batch batch(store::Batch::Atomicity::kPipeline);
    batch.Add(store::CommandId::kSet, {"posted", value});
    batch.Add(store::CommandId::kIncr, {"posted"});  // Its error is dropped.
    store::Post(*client.store, batch);
  }
  EXPECT_THAT(base::Run(store::Get(*client.store, "posted")),
              IsOkAndHolds(Optional(std::string(GetParam().name))));
}

TEST_P(EveryClient, EndsRequestsInTimeWhenTheServersAreStopped) {
  const Opened client = Connect("&command_timeout=100ms&pool_size=1");
  ASSERT_THAT(AskUntilAnswered(client, "list"), IsOk());
  Signal(SIGSTOP);
  const absl::Status blocking = Send(client, {"BLPOP", "list", "0.05"}).status();
  const absl::Status command = base::Run(store::Get(*client.store, "list")).status();
  Signal(SIGCONT);
  EXPECT_TRUE(absl::IsDeadlineExceeded(blocking)) << blocking;
  // A dedicated connection is still busy with the first one, and a pool dials in vain.
  EXPECT_TRUE(absl::IsDeadlineExceeded(command)) << command;
  ASSERT_THAT(AskUntilAnswered(client, "list"), IsOk());
}

TEST_P(EveryClient, ReportsItsRequestsToTheHook) {
  std::vector<std::string> events;
  ClientHooks hooks;
  hooks.command = [&](const CommandEvent& event) {
    static constexpr const char* kNames[] = {"start", "send", "redirect", "end"};
    events.push_back(absl::StrCat(kNames[static_cast<size_t>(event.kind)], " ", event.id, " ",
                                  RequestName(*event.request), " ", event.sends,
                                  event.node.empty() ? "" : " node",
                                  event.result == nullptr || event.result->ok() ? "" : " failed"));
  };
  const Opened client = Connect("", hooks);
  EXPECT_THAT(Send(client, {"SET", "key", "value"}), IsOk());
  EXPECT_FALSE(Send(client, {"SUBSCRIBE", "news"}).ok());
  EXPECT_EQ(events,
            (std::vector<std::string>{"start 1 SET 0", "send 1 SET 1 node", "end 1 SET 1 node",
                                      "start 2 SUBSCRIBE 0", "end 2 SUBSCRIBE 0 failed"}));
}

TEST_P(EveryClient, RefusesWhatWouldChangeASharedConnection) {
  const Opened client = Connect();
  const std::vector<std::vector<std::string_view>> for_none = {{"SUBSCRIBE", "news"},
                                                               {"MONITOR"},
                                                               {"HELLO", "3"},
                                                               {"CLIENT", "REPLY", "OFF"},
                                                               {"SCRIPT", "DEBUG", "NO"}};
  const std::vector<std::vector<std::string_view>> for_an_owner = {{"WATCH", "key"},
                                                                   {"UNWATCH"},
                                                                   {"MULTI"},
                                                                   {"DISCARD"},
                                                                   {"SELECT", "0"},
                                                                   {"CLIENT", "TRACKING", "OFF"},
                                                                   {"CLIENT", "NO-EVICT", "off"}};
  for (const auto& words : for_none) {
    const absl::Status refused = Send(client, words).status();
    EXPECT_THAT(refused, StatusIs(absl::StatusCode::kFailedPrecondition)) << words[0];
    EXPECT_EQ(store::ErrorKindOf(refused), ErrorKind::kNotSent) << words[0];
  }
  const bool has_owner = GetParam().is_exclusive() && !GetParam().pooled;
  for (const auto& words : for_an_owner) {
    const absl::StatusOr<Reply> reply = Send(client, words);
    EXPECT_EQ(reply.ok(), has_owner) << words[0] << reply.status();
    if (has_owner) continue;
    EXPECT_EQ(store::ErrorKindOf(reply.status()), ErrorKind::kNotSent) << words[0];
  }
}

TEST_P(EveryClient, SpeaksResp3AndKeepsRepliesUntilTheyChange) {
  const Opened client = Connect("&protocol=3&cache_bytes=1000000&pool_size=1");
  const Opened other = Connect();
  ASSERT_THAT(Send(other, {"DEL", "hash"}), IsOk());
  ASSERT_THAT(Send(other, {"HSET", "hash", "field", "value"}), IsOk());
  const Reply fields = Reply::Array({Reply::Bulk("field"), Reply::Bulk("value")});
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(Send(client, {"HGETALL", "hash"}), IsOkAndHolds(fields)) << "as in RESP2";
  }
  EXPECT_EQ(client.traffic().cache_hits, GetParam().is_exclusive() ? 0u : 2u);
  // The client runs no event loop between two calls.
  for (const std::string_view value : {"1", "2", "3"}) {
    ASSERT_THAT(Send(other, {"HSET", "hash", "field", value}), IsOk());
    const Reply changed = Reply::Array({Reply::Bulk("field"), Reply::Bulk(value)});
    EXPECT_THAT(Send(client, {"HGETALL", "hash"}), IsOkAndHolds(changed));
  }
}

// A dedicated connection that was lost stays lost, so its client dials nothing.
TEST_P(EveryClient, DialsServersThatAreDownLessAndLessOften) {
  ClientHooks hooks;
  hooks.seed = 7;
  const Opened client =
      Connect("&command_timeout=20ms&pool_acquire_timeout=20ms&pool_size=1", hooks);
  for (const std::string_view key : {"a", "b", "c"}) {
    ASSERT_THAT(AskUntilAnswered(client, key), IsOk());
  }
  const std::vector<SpawnedServer*> killed = servers->Of(GetParam().servers);
  for (SpawnedServer* server : killed) server->Kill();
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(500);
  int failures = 0;
  for (; std::chrono::steady_clock::now() < end; ++failures) {
    const std::string_view keys[] = {"a", "b", "c"};
    EXPECT_FALSE(base::Run(store::Get(*client.store, keys[failures % 3])).ok());
  }
  EXPECT_LT(client.traffic().connect_failures + client.open_failures(), 20 * killed.size())
      << "for " << failures << " requests";
  ASSERT_THAT(servers->Restart(GetParam().servers), IsOk());
  if (GetParam().pooled || GetParam().sharing != Sharing::kDedicated) {
    EXPECT_THAT(AskUntilAnswered(client, "a"), IsOk());
  }
}

INSTANTIATE_TEST_SUITE_P(All, EveryClient, testing::ValuesIn(kKinds),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace redouble::inline v0_1::redis
