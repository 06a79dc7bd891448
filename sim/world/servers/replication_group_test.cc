#include "redouble/sim/world/servers/replication_group.h"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "gtest/gtest.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/base/time/virtual_clock.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/reply.h"

namespace redouble::inline v0_1::sim {
namespace {

using Words = std::vector<std::string_view>;

std::string Ask(WorldServer& server, const Words& words) {
  const std::unique_ptr<memory::Session> session = server.engine().Connect();
  const store::Command command = store::Command::Named(words.front(), std::span(words).subspan(1));
  const auto ask = [](store::Store& store, const store::Command& asked) -> base::Task<std::string> {
    const absl::StatusOr<store::Reply> reply = co_await store.Execute(asked);
    co_return reply.ok() ? reply->DebugString() : std::string(reply.status().message());
  };
  return base::Run(ask(*session, command));
}

class ReplicationGroupTest : public testing::Test {
 protected:
  ReplicationGroupTest() {
    group_.Add(first_);
    group_.Add(second_);
  }

  void ApplyAll(const WorldServer& replica) {
    while (group_.Lag(replica) > 0) group_.Apply(replica);
  }

  base::VirtualClock clock_{absl::FromUnixSeconds(1767225600)};
  WorldServer main_{clock_, "main", {.seed = 1}};
  WorldServer first_{clock_, "first", {.seed = 2}};
  WorldServer second_{clock_, "second", {.seed = 3}};
  WorldServer third_{clock_, "third", {.seed = 4}};  // Not in the group at first.
  ReplicationGroup group_{main_};
};

TEST_F(ReplicationGroupTest, AReplicaHasWhatItHasApplied) {
  Ask(main_, {"SET", "a", "1"});
  Ask(main_, {"INCR", "a"});
  EXPECT_EQ(group_.Lag(first_), 2);
  EXPECT_EQ(group_.Lag(main_), 0);
  EXPECT_EQ(Ask(first_, {"GET", "a"}), "nil");
  group_.Apply(first_);
  EXPECT_EQ(Ask(first_, {"GET", "a"}), "\"1\"");
  group_.Apply(first_);
  EXPECT_EQ(Ask(first_, {"GET", "a"}), "\"2\"");
  EXPECT_EQ(group_.Lag(first_), 0);
  EXPECT_EQ(Ask(second_, {"GET", "a"}), "nil");
}

TEST_F(ReplicationGroupTest, ATransactionAndAScriptAreOneUnit) {
  Ask(main_,
      {"EVAL", "redis.call('SELECT', 2) redis.call('SET', 'a', 1) redis.call('SET', 'b', 1)", "0"});
  EXPECT_EQ(group_.Lag(first_), 1);
  ApplyAll(first_);
  EXPECT_EQ(Ask(first_, {"EVAL", "redis.call('SELECT', 2) return redis.call('DBSIZE')", "0"}), "2");
}

TEST_F(ReplicationGroupTest, EachDatabaseIsReplicated) {
  const std::unique_ptr<memory::Session> session = main_.engine().Connect();
  const auto set = [&](int db) {
    session->Select(db);
    const std::string value = std::to_string(db);
    const store::Command command(store::CommandId::kSet, {"k", value});
    const auto send = [](store::Store& store, const store::Command& sent) -> base::Task<bool> {
      co_return (co_await store.Execute(sent)).ok();
    };
    EXPECT_TRUE(base::Run(send(*session, command)));
  };
  set(1);
  set(0);
  set(2);
  ApplyAll(first_);
  EXPECT_EQ(Ask(first_, {"DEBUG", "DIGEST"}), Ask(main_, {"DEBUG", "DIGEST"}));
}

TEST_F(ReplicationGroupTest, ClientsOfAReplicaOnlyRead) {
  EXPECT_EQ(Ask(first_, {"SET", "a", "1"}),
            "(error) READONLY You can't write against a read only replica.");
  EXPECT_NE(Ask(first_, {"ROLE"}).find("\"slave\""), std::string::npos);
  EXPECT_NE(Ask(main_, {"ROLE"}).find("\"first\""), std::string::npos);
  EXPECT_NE(Ask(main_, {"INFO", "replication"}).find("connected_slaves:2"), std::string::npos);
}

TEST_F(ReplicationGroupTest, RolesAreNotChangedByCommands) {
  constexpr std::string_view kRefusal =
      "(error) ERR the host of this server decides who follows whom, not a command";
  const std::vector<Words> commands = {
      {"REPLICAOF", "NO", "ONE"}, {"REPLICAOF", "main", "6379"},
      {"SLAVEOF", "NO", "ONE"},   {"FAILOVER"},
      {"FAILOVER", "ABORT"},      {"SYNC"},
      {"PSYNC", "?", "-1"},       {"PSYNC", "?", "-1", "FAILOVER"}};
  for (const Words& words : commands) EXPECT_EQ(Ask(first_, words), kRefusal) << words.front();
  EXPECT_EQ(Ask(first_, {"REPLCONF", "listening-port", "1"}), "OK");
  EXPECT_EQ(Ask(first_, {"DEBUG", "CHANGE-REPL-ID"}), "OK");
}

TEST_F(ReplicationGroupTest, ALateReplicaGetsAllKeys) {
  Ask(main_, {"SET", "a", "1", "PX", "100"});
  Ask(main_, {"FUNCTION", "LOAD", "#!lua name=l\nredis.register_function('f', function() end)"});
  group_.Add(third_);
  EXPECT_EQ(group_.Lag(third_), 0);
  EXPECT_EQ(Ask(third_, {"PTTL", "a"}), "100");
  EXPECT_NE(Ask(third_, {"FUNCTION", "LIST"}).find("\"l\""), std::string::npos);
}

TEST_F(ReplicationGroupTest, OnlyTheMasterRemovesExpiredKeys) {
  Ask(main_, {"SET", "a", "1", "PX", "100"});
  ApplyAll(first_);
  clock_.Advance(absl::Milliseconds(101));
  EXPECT_EQ(Ask(first_, {"GET", "a"}), "nil");
  EXPECT_EQ(Ask(first_, {"DBSIZE"}), "1");
  ApplyAll(first_);
  EXPECT_EQ(Ask(first_, {"DBSIZE"}), "0");
}

TEST_F(ReplicationGroupTest, PromotionLosesWhatWasNotApplied) {
  Ask(main_, {"SET", "a", "1"});
  ApplyAll(first_);
  Ask(main_, {"SET", "b", "1"});
  ApplyAll(second_);
  group_.Promote(first_);
  EXPECT_EQ(&group_.master(), &first_);
  for (WorldServer* server : {&main_, &first_, &second_}) {
    EXPECT_EQ(Ask(*server, {"GET", "a"}), "\"1\"") << server->name();
    EXPECT_EQ(Ask(*server, {"GET", "b"}), "nil") << server->name();
  }
  EXPECT_EQ(Ask(first_, {"SET", "c", "1"}), "OK");
  EXPECT_EQ(group_.Lag(main_), 1);
  ApplyAll(main_);
  EXPECT_EQ(Ask(main_, {"GET", "c"}), "\"1\"");
  EXPECT_EQ(Ask(main_, {"SET", "c", "2"}),
            "(error) READONLY You can't write against a read only replica.");
}

TEST_F(ReplicationGroupTest, AReplicaThatIsBehindGoesOnAfterAPromotion) {
  Ask(main_, {"SET", "a", "1"});
  Ask(main_, {"SET", "b", "1"});
  group_.Apply(first_);
  group_.Promote(first_);
  EXPECT_EQ(group_.Lag(second_), 1);
  EXPECT_EQ(Ask(second_, {"GET", "a"}), "nil");
  Ask(first_, {"SET", "c", "1"});
  ApplyAll(second_);
  EXPECT_EQ(Ask(second_, {"MGET", "a", "b", "c"}), Ask(first_, {"MGET", "a", "b", "c"}));
}

TEST_F(ReplicationGroupTest, PromotionOfTheMasterDoesNothing) {
  Ask(main_, {"SET", "a", "1"});
  group_.Promote(main_);
  EXPECT_EQ(&group_.master(), &main_);
  EXPECT_EQ(group_.Lag(first_), 1);
}

TEST_F(ReplicationGroupTest, ServersOutliveTheirGroup) {
  {
    ReplicationGroup group(third_);
    EXPECT_NE(Ask(third_, {"INFO", "replication"}).find("repl_backlog_active:1"),
              std::string::npos);
  }
  EXPECT_EQ(Ask(third_, {"SET", "a", "1"}), "OK");
  EXPECT_EQ(Ask(third_, {"REPLICAOF", "NO", "ONE"}), "OK");
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
