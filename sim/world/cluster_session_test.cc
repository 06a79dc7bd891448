#include "redouble/sim/world/servers/cluster_session.h"

#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/typed/keys.h"
#include "redouble/core/store/typed/lists.h"
#include "redouble/core/store/typed/strings.h"
#include "redouble/sim/world/world.h"

namespace redouble::inline v0_1::sim {
namespace {

using base::IsOk;
using base::StatusIs;
using store::Command;
using store::CommandId;
using store::Reply;

// {k}1 and {k}2 are in slot 7629, of main; "a" is in slot 15495, of b.
constexpr std::string_view kFirst = "{k}1";
constexpr std::string_view kSecond = "{k}2";
constexpr std::string_view kOther = "a";

class ClusterSessionTest : public testing::Test {
 protected:
  Reply Ask(store::Store& store, const std::vector<std::string_view>& words) {
    const Command command = Command::Named(words[0], std::span(words).subspan(1));
    const absl::StatusOr<Reply> reply = base::Run(store.Execute(command));
    EXPECT_THAT(reply, IsOk());
    return reply.ok() ? *reply : Reply::Nil();
  }
  std::string IdOf(std::string_view server) {
    return std::string(Ask(*world.Connect(server), {"CLUSTER", "MYID"}).text());
  }
  // The first half of the move of a slot: the key is at `b`, and the slot still of `main`.
  void MoveFirstKey() {
    Ask(*world.Connect("b"), {"CLUSTER", "SETSLOT", "7629", "IMPORTING", IdOf(kMainServer)});
    Ask(*world.Connect(), {"CLUSTER", "SETSLOT", "7629", "MIGRATING", IdOf("b")});
    EXPECT_EQ(Ask(*world.Connect(), {"MIGRATE", "b", "6379", kFirst, "0", "1000"}), Reply::Ok());
  }

  World world{{.servers = {{.name = "b"}}, .cluster = true}};
  const std::unique_ptr<store::Store> all = world.ConnectToAll();
};

TEST_F(ClusterSessionTest, SendsEachCommandToTheMasterOfItsKeys) {
  EXPECT_EQ(Ask(*all, {"SET", kFirst, "1"}), Reply::Ok());
  EXPECT_EQ(Ask(*all, {"SET", kOther, "2"}), Reply::Ok());
  EXPECT_EQ(Ask(*world.Connect(), {"GET", kFirst}), Reply::Bulk("1"));
  EXPECT_EQ(Ask(*world.Connect("b"), {"GET", kOther}), Reply::Bulk("2"));
  EXPECT_EQ(Ask(*all, {"PING"}), Reply::Status("PONG"));
  EXPECT_TRUE(Ask(*all, {"NOSUCH", "x"}).is_error());
}

TEST_F(ClusterSessionTest, APipelineMayHaveKeysOfAllSlotsAndATransactionOfOne) {
  store::Batch pipeline(store::Batch::Atomicity::kPipeline);
  store::Batch transaction(store::Batch::Atomicity::kTransaction);
  for (store::Batch* const batch : {&pipeline, &transaction}) {
    batch->Add(CommandId::kIncr, {kFirst});
    batch->Add(CommandId::kIncr, {kOther});
  }
  EXPECT_THAT(base::Run(store::Execute(*all, pipeline)), IsOk());
  EXPECT_FALSE(base::Run(store::Execute(*all, transaction)).ok());
  EXPECT_EQ(Ask(*all, {"GET", kFirst}), Reply::Bulk("1"));
  EXPECT_EQ(Ask(*all, {"GET", kOther}), Reply::Bulk("1"));
  EXPECT_TRUE(Ask(*all, {"MGET", kFirst, kOther}).is_error());
}

TEST_F(ClusterSessionTest, AsksAllMastersAboutAllKeys) {
  std::set<std::string> expected;
  for (int i = 0; i < 100; ++i) {
    const std::string key = absl::StrCat("key:", i);
    Ask(*all, {"SET", key, "1"});
    expected.insert(key);
  }
  const std::vector<std::string> keys = base::Run(store::Keys(*all, "key:*")).value();
  EXPECT_EQ(std::set<std::string>(keys.begin(), keys.end()), expected);
  store::ScanOptions options;
  options.count = 7;
  std::vector<std::string> scanned = base::Run(store::ScanAll(*all, options)).value();
  EXPECT_EQ(scanned.size(), 100u);
  EXPECT_EQ(std::set<std::string>(scanned.begin(), scanned.end()), expected);
  EXPECT_EQ(Ask(*all, {"DBSIZE"}), Reply::Integer(100));
  EXPECT_TRUE(Ask(*all, {"SCAN", "x"}).is_error());
  EXPECT_EQ(Ask(*all, {"FLUSHALL"}), Reply::Ok());
  EXPECT_EQ(Ask(*all, {"DBSIZE"}), Reply::Integer(0));
}

TEST_F(ClusterSessionTest, FindsKeysWhileTheirSlotMoves) {
  Ask(*all, {"SET", kFirst, "1"});
  Ask(*all, {"SET", kSecond, "2"});
  MoveFirstKey();
  EXPECT_EQ(Ask(*all, {"GET", kFirst}), Reply::Bulk("1"));
  EXPECT_EQ(Ask(*all, {"GET", kSecond}), Reply::Bulk("2"));
  store::Batch transaction(store::Batch::Atomicity::kTransaction);
  transaction.Add(CommandId::kIncr, {kFirst});
  transaction.Add(CommandId::kGet, {kFirst});
  const auto replies = base::Run(store::Execute(*all, transaction));
  ASSERT_THAT(replies, IsOk());
  EXPECT_EQ((*replies)[1], Reply::Bulk("2"));
  // No node has both.
  EXPECT_EQ(Ask(*all, {"MGET", kFirst, kSecond}),
            Reply::Error("TRYAGAIN Multiple keys request during rehashing of slot"));
  // The new owner has the slot; the former one has not heard of it.
  EXPECT_EQ(Ask(*world.Connect(), {"MIGRATE", "b", "6379", kSecond, "0", "1000"}), Reply::Ok());
  Ask(*world.Connect("b"), {"CLUSTER", "SETSLOT", "7629", "NODE", IdOf("b")});
  EXPECT_EQ(Ask(*all, {"MGET", kFirst, kSecond}),
            Reply::Array({Reply::Bulk("2"), Reply::Bulk("2")}));
}

TEST(ClusterSession, FollowsAFailover) {
  World world({.servers = {{.name = "b"}, {.name = "replica", .replica_of = kMainServer}},
               .cluster = true,
               .faults = {{.fault = Fault::kPromote, .server = "replica"}}});
  const std::unique_ptr<store::Store> all = world.ConnectToAll();
  ASSERT_THAT(base::Run(store::Set(*all, kFirst, "1")), IsOk());
  world.Spawn("a", [](Actor& actor) -> base::Task<void> {
    const Command ping(CommandId::kPing);
    (void)co_await actor.store().Execute(ping);
  });
  EXPECT_EQ(world.Run().end, RunEnd::kDone);
  ASSERT_EQ(world.faults_injected(), 1);
  ASSERT_THAT(base::Run(store::Set(*all, kFirst, "2")), IsOk());
  EXPECT_EQ(base::Run(store::Get(*world.Connect("replica"), kFirst)).value(), "2");
  EXPECT_EQ(base::Run(store::Keys(*all, "*")).value(), std::vector<std::string>{"{k}1"});
}

TEST_F(ClusterSessionTest, RefusesToWait) {
  const Command pop(CommandId::kBLPop, {"list", "0"});
  EXPECT_THAT(base::Run(all->Execute(pop)),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       "the server b does not reply to blpop at once"));
  EXPECT_EQ(Ask(*all, {"RPUSH", "list", "x"}), Reply::Integer(1)) << "no client is blocked";
}

TEST(ClusterSession, OfAWorldThatIsNoClusterIsAConnectionToItsMaster) {
  World world({.servers = {{.name = "b"}}});
  const std::unique_ptr<store::Store> all = world.ConnectToAll();
  EXPECT_THAT(base::Run(store::Set(*all, "a", "1")), IsOk());
  EXPECT_EQ(base::Run(store::Get(*world.Connect(), "a")).value(), "1");
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
