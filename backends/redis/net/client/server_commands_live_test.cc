// Key positions that a real server describes: they equal the table's for all commands that both
// know, and a cluster client routes commands by them that the table lacks.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "redouble/backends/redis/fsm/cluster/commands/server_commands.h"
#include "redouble/backends/redis/net/client/client.h"
#include "redouble/backends/redis/net/client/cluster_client.h"
#include "redouble/backends/redis/net/live_fixture_for_test.h"
#include "redouble/backends/redis/spawn/spawned_cluster.h"
#include "redouble/core/base/random/rng.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/reply.h"
#include "redouble/core/store/table/command_table.h"

namespace redouble::inline v0_1::redis {
namespace {

using base::IsOk;
using base::IsOkAndHolds;
using store::Reply;
using testing::UnorderedElementsAre;

using ServerCommandsTest = LiveTest;

TEST_F(ServerCommandsTest, AgreeWithTheTable) {
  StartServer({});
  const auto client = Connect(server->uri());
  ASSERT_THAT(client, IsOk());
  ServerCommands commands;
  base::Rng rng(7);
  constexpr std::string_view kWords[] = {"a", "b", "1", "2", "3", "store", "streams", "keys", "c"};
  int compared = 0;
  for (const store::CommandSpec& spec : store::AllCommands()) {
    if (spec.is_subcommand() || store::IsContainer(spec.id)) continue;
    // Shard channels have slots as keys have, and the client routes by them.
    if (spec.group == store::CommandGroup::kPubSub) continue;
    const auto info = Send(**client, {"COMMAND", "INFO", spec.name});
    ASSERT_THAT(info, IsOk());
    if (info->elements().at(0).is_nil()) continue;  // Of a later version.
    commands.Learn(spec.name, *info);
    for (int i = 0; i < 50; ++i) {
      std::vector<std::string_view> arguments;
      for (uint64_t left = rng.Below(8); left > 0; --left) {
        arguments.push_back(kWords[rng.Below(std::size(kWords))]);
      }
      const auto keys = commands.KeysOf(spec.name, arguments);
      // Positions that the server does not describe completely are unknown.
      if (!keys) continue;
      EXPECT_EQ(keys, store::KeyIndexes(spec, arguments)) << spec.name;
      ++compared;
    }
  }
  EXPECT_GT(compared, 1000);
}

class RenamedCommand : public LiveTest {
 protected:
  void SetUp() override {
    SpawnedClusterOptions options;
    // To the client it is a command of a module, whose first argument is no key.
    options.config = {"rename-command BITOP my.bitop"};
    auto started = SpawnedCluster::Start(options);
    ASSERT_THAT(started, IsOk());
    cluster = *std::move(started);
    auto connected =
        Run(ClusterClient::Connect(context.get_executor(), Options::Parse(cluster->uri()).value()));
    ASSERT_THAT(connected, IsOk());
    client = *std::move(connected);
  }

  std::unique_ptr<SpawnedCluster> cluster;
  std::unique_ptr<ClusterClient> client;
};

TEST_F(RenamedCommand, GoesToTheNodeOfItsKeysAtOnce) {
  for (const std::string tag : {"a", "b", "c", "d", "e", "f"}) {
    const std::string from = absl::StrCat("{", tag, "}1"), to = absl::StrCat("{", tag, "}2");
    ASSERT_THAT(Send(*client, {"SET", from, "abc"}), IsOk());
    EXPECT_THAT(Send(*client, {"MY.BITOP", "OR", to, from}), IsOkAndHolds(Reply::Integer(3)));
  }
  EXPECT_EQ(client->counters().moved, 0u);
}

TEST_F(RenamedCommand, IsRefusedIfItsKeysHaveSeveralSlots) {
  EXPECT_THAT(Send(*client, {"my.bitop", "OR", "a", "b"}),
              base::StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_F(RenamedCommand, IsAskedForOnceByManyRequestsAtOnce) {
  std::vector<base::Task<absl::StatusOr<Reply>>> tasks;
  for (int i = 0; i < 50; ++i)
    tasks.push_back(SendWords(*client, {"my.bitop", "OR", "{a}", "{a}"}));
  for (const auto& reply : Run(base::WhenAll(std::move(tasks)))) {
    EXPECT_THAT(reply, IsOkAndHolds(Reply::Integer(0)));
  }
  // One question beside the requests; the map is asked for by two commands.
  EXPECT_LE(client->traffic().commands, 50u + 1 + 2);
}

// What waits for the description of a command has the limits of all requests.
TEST_F(RenamedCommand, WaitsWithinTheLimitsOfTheClient) {
  for (const std::string limit : {"queue_limit=2", "queue_bytes=28"}) {
    auto limited = Run(ClusterClient::Connect(
        context.get_executor(),
        Options::Parse(absl::StrCat(cluster->uri(), "&command_timeout=200ms&", limit)).value()));
    ASSERT_THAT(limited, IsOk());
    for (const std::string key : {"a", "b", "c"}) {
      while (!Send(**limited, {"GET", key}).ok()) continue;
    }
    for (size_t node = 0; node < 3; ++node) kill(cluster->node(node).pid(), SIGSTOP);
    auto first = SendWords(**limited, {"my.bitop", "OR", "{a}", "{a}"});
    auto second = SendWords(**limited, {"my.bitop", "OR", "{a}", "{a}"});
    first.Start();
    second.Start();
    for (const std::string command : {"my.bitop", "GET"}) {
      const absl::Status refused = Send(**limited, {command, "a"}).status();
      EXPECT_THAT(refused, base::StatusIs(absl::StatusCode::kResourceExhausted)) << limit;
    }
    EXPECT_FALSE(first.done() || second.done()) << "it is refused at once";
    RunUntil([&] { return first.done() && second.done(); });
    for (size_t node = 0; node < 3; ++node) kill(cluster->node(node).pid(), SIGCONT);
    for (const absl::Status& ended : {first.TakeResult().status(), second.TakeResult().status()}) {
      EXPECT_THAT(ended, base::StatusIs(absl::StatusCode::kDeadlineExceeded));
      EXPECT_EQ(store::ErrorKindOf(ended), store::ErrorKind::kNotSent) << ended;
    }
    while (!Send(**limited, {"my.bitop", "OR", "{a}", "{a}"}).ok()) continue;
  }
}

// A batch that waits for several descriptions ends at its own deadline. It does not matter that a
// request ahead of it has no deadline, or that one that was submitted later is ahead of it.
TEST_F(RenamedCommand, WaitsForAllItsDescriptionsWithinOneTimeout) {
  auto timed = Run(ClusterClient::Connect(
      context.get_executor(),
      Options::Parse(absl::StrCat(cluster->uri(), "&command_timeout=500ms")).value()));
  ASSERT_THAT(timed, IsOk());
  for (const std::string key : {"a", "b", "c"}) {
    while (!Send(**timed, {"GET", key}).ok()) continue;
  }
  for (size_t node = 0; node < 3; ++node) kill(cluster->node(node).pid(), SIGSTOP);
  store::Batch blocking(store::Batch::Atomicity::kPipeline);
  blocking.Add(store::CommandId::kBLPop, {"list", "0"});
  blocking.Add(store::Command::Named("no.such1"));
  store::Batch two(store::Batch::Atomicity::kPipeline), one(store::Batch::Atomicity::kPipeline);
  two.Add(store::Command::Named("no.such2"));
  two.Add(store::Command::Named("no.such3"));
  one.Add(store::Command::Named("no.such4"));
  std::vector<std::string> ended;
  const auto note = [&](const std::string name, const store::Batch& batch) -> base::Task<void> {
    const absl::Status status = (co_await store::Execute(**timed, batch)).status();
    ended.push_back(absl::StrCat(name, " ", absl::StatusCodeToString(status.code())));
  };
  auto first = store::Execute(**timed, blocking);
  auto second = note("two", two), third = note("one", one);
  first.Start();
  const uint64_t questions = (*timed)->traffic().commands;
  second.Start();
  third.Start();
  RunUntil([&] { return (*timed)->traffic().commands >= questions + 2; });
  // The questions go to one master after the other, down from the first.
  const TcpAddress asked = (*timed)->map().Masters().at(2);
  for (size_t node = 0; node < 3; ++node) {
    if (cluster->node(node).port() == asked.port) kill(cluster->node(node).pid(), SIGCONT);
  }
  RunUntil([&] { return ended.size() == 2; });
  // On a busy machine both deadlines can have passed when the first one is noticed.
  EXPECT_THAT(ended, UnorderedElementsAre("two DEADLINE_EXCEEDED", "one DEADLINE_EXCEEDED"));
  (*timed)->Close();
  RunUntil([&] { return first.done(); });
  for (size_t node = 0; node < 3; ++node) kill(cluster->node(node).pid(), SIGCONT);
}

TEST_F(RenamedCommand, ACommandThatNoServerKnowsGetsTheServersError) {
  for (int i = 0; i < 2; ++i) {
    const auto reply = Send(*client, {"no.such", "a"});
    ASSERT_THAT(reply, IsOk());
    EXPECT_TRUE(reply->is_error() && reply->text().starts_with("ERR unknown command")) << *reply;
  }
}

TEST_F(RenamedCommand, ARequestThatWaitsMayBeAbandonedAndTheClientClosed) {
  auto abandoned = std::make_optional(SendWords(*client, {"my.bitop", "OR", "{a}", "{a}"}));
  abandoned->Start();
  abandoned.reset();
  auto waiting = SendWords(*client, {"my.bitop", "OR", "{a}", "{a}"});
  waiting.Start();
  client->Close();
  RunUntil([&] { return waiting.done(); });
  EXPECT_THAT(waiting.TakeResult(), base::StatusIs(absl::StatusCode::kUnavailable));
}

}  // namespace
}  // namespace redouble::inline v0_1::redis
