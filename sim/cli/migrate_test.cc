#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "redouble/backends/redis/net/client/sync_store.h"
#include "redouble/backends/redis/options.h"
#include "redouble/backends/redis/spawn/spawned_cluster.h"
#include "redouble/backends/redis/spawn/spawned_server.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/store/command.h"
#include "redouble/sim/cli/program_for_test.h"
#include "redouble/sim/cli/support/scenario_files.h"
#include "redouble/sim/cli/support/subcommand.h"

namespace redouble::inline v0_1::sim {
namespace {

using store::Reply;
using ::testing::HasSubstr;

constexpr const char* kId = "0b5c1f4e-8a0d-4a4f-9a6e-3f1d2c4b5a60";
constexpr const char* kServer = "unix:///nowhere";

class MigrateCommandTest : public ProgramTest {
 protected:
  static Reply Ask(store::Store& store, const std::vector<std::string_view>& words) {
    const auto command = store::Command::Named(words[0], std::span(words).subspan(1));
    const auto send = [&]() -> base::Task<absl::StatusOr<Reply>> {
      co_return co_await store.Execute(command);
    };
    return base::Run(send()).value();
  }
};

TEST_F(MigrateCommandTest, RefusesABadCommandLine) {
  const std::vector<std::string> good = {"migrate", "--system", "gateway", "--from",
                                         kServer,   "--to",     kServer};
  struct Case {
    std::vector<std::string> more;
    const char* error;
  };
  for (const Case& row :
       {Case{{"--layout-from", "x"}, "redouble migrate: --layout-from: "},
        Case{{"--layout-to", "x"}, "redouble migrate: --layout-to: "},
        Case{{"--bind", "x"}, "redouble migrate: --bind: expected NAME=VALUE, got \"x\"\n"},
        Case{{"--bind", "x=y"}, "redouble migrate: "}, Case{{"--rate", "0"}, "--rate"},
        Case{{"--batch", "0"}, "--batch"}, Case{{"--follow", "-1"}, "--follow"},
        Case{{"--follow", "1", "--dry-run"}, "--follow"},
        Case{{"--follow", "1", "--resume", "at.txt"}, "--resume"}}) {
    std::vector<std::string> arguments = good;
    arguments.insert(arguments.end(), row.more.begin(), row.more.end());
    EXPECT_EQ(Run(arguments), kExitBadUsage);
    EXPECT_THAT(err(), HasSubstr(row.error));
  }
  EXPECT_EQ(Run({"migrate", "--system", "shop", "--from", kServer, "--to", kServer}),
            kExitBadUsage);
  EXPECT_EQ(err(),
            "redouble migrate: there is no system \"shop\"; expected one of gateway, korvet, "
            "orchestrator, relayna, studio, threescale\n");
  EXPECT_EQ(Run({"migrate", "--system", "gateway", "--from", "x", "--to", kServer}), kExitBadUsage);
  EXPECT_THAT(err(), HasSubstr("redouble migrate: --from: "));
  EXPECT_EQ(Run({"migrate", "--system", "gateway", "--from", kServer, "--to", "x"}), kExitBadUsage);
  EXPECT_THAT(err(), HasSubstr("redouble migrate: --to: "));
  EXPECT_EQ(Run(good), kExitFailed) << "no server listens there";
}

TEST_F(MigrateCommandTest, RefusesTheResumeFileOfAnotherMigration) {
  for (const char* text : {"relayna documented cluster 7\n", "gateway documented cluster x\n",
                           "gateway documented cluster 7", ""}) {
    Write("at.txt", text);
    EXPECT_EQ(Run({"migrate", "--system", "gateway", "--from", kServer, "--to", kServer, "--resume",
                   "at.txt"}),
              kExitBadUsage);
    EXPECT_THAT(err(), HasSubstr("at.txt: expected \"gateway documented cluster CURSOR\", got "));
  }
  EXPECT_EQ(Run({"migrate", "--system", "gateway", "--from", kServer, "--to", kServer, "--resume",
                 "at.txt", "--dry-run"}),
            kExitBadUsage);
}

// Keys of the gateway on a server, and an empty cluster.
class MigrateToClusterTest : public MigrateCommandTest {
 protected:
  static constexpr int kCounters = 3000;  // More than a page.

  void SetUp() override {
    MigrateCommandTest::SetUp();
    ASSERT_OK_AND_ASSIGN(server_, redis::SpawnedServer::Start());
    ASSERT_OK_AND_ASSIGN(cluster_, redis::SpawnedCluster::Start());
    from_ = server_->uri();
    to_ = cluster_->uri();
    ASSERT_OK_AND_ASSIGN(single_, redis::SyncStore::Connect(*redis::Options::Parse(from_)));
    ASSERT_OK_AND_ASSIGN(nodes_, redis::SyncStore::Connect(*redis::Options::Parse(to_)));
    Ask(*single_, {"SET", reservation_, value_, "EX", "3600"});
    Ask(*single_, {"SET", "other", "1"});
    for (int i = 0; i < kCounters; ++i) {
      const std::string minute = std::to_string(202605090000 + i);
      Ask(*single_, {"SET", std::string("rl:req:") + kId + ":" + minute, "1", "EX", "3600"});
    }
  }

  // Moves from the server to the cluster.
  int Forth(const std::vector<std::string>& options = {}) {
    std::vector<std::string> words = {"migrate", "--system", "gateway", "--from",
                                      from_,     "--to",     to_};
    words.insert(words.end(), options.begin(), options.end());
    return Run(words);
  }

  const std::string tag_ = std::string("{") + kId + "}";
  const std::string reservation_ = std::string("budget:reservation:") + kId + ":r1";
  const std::string moved_reservation_ = "budget:reservation:" + tag_ + ":r1";
  const std::string value_ =
      std::string("0.25|budget:daily:") + kId + ":20260509|budget:monthly:" + kId + ":202605";
  std::unique_ptr<redis::SpawnedServer> server_;
  std::unique_ptr<redis::SpawnedCluster> cluster_;
  std::string from_;
  std::string to_;
  std::unique_ptr<redis::SyncStore> single_;
  std::unique_ptr<redis::SyncStore> nodes_;
};

TEST_F(MigrateToClusterTest, MovesThereAndBack) {
  ASSERT_EQ(Forth({"--dry-run", "--rate", "100000"}), kExitPassed) << err();
  // docs/howto/move_to_cluster.md shows the file.
  EXPECT_EQ(out(), ReadFile("sim/cli/migrate_dry_run.txt").value());
  EXPECT_EQ(Ask(*nodes_, {"DBSIZE"}), Reply::Integer(0));

  ASSERT_EQ(Forth({"--resume", "at.txt"}), kExitPassed) << err() << out();
  EXPECT_THAT(out(), HasSubstr("\nequal\n"));
  EXPECT_THAT(err(), HasSubstr(" 1 of other systems\n"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "at.txt")) << "the copy is complete";
  EXPECT_EQ(Ask(*nodes_, {"DBSIZE"}), Reply::Integer(kCounters + 1));
  EXPECT_EQ(
      Ask(*nodes_, {"GET", moved_reservation_}),
      Reply::Bulk("0.25|budget:daily:" + tag_ + ":20260509|budget:monthly:" + tag_ + ":202605"));

  // The way back, to an empty database.
  Ask(*single_, {"FLUSHALL"});
  ASSERT_EQ(Run({"migrate", "--system", "gateway", "--from", to_, "--to", from_, "--layout-from",
                 "cluster", "--layout-to", "documented"}),
            kExitPassed)
      << err() << out();
  EXPECT_EQ(Ask(*single_, {"GET", reservation_}), Reply::Bulk(value_));
  EXPECT_EQ(Ask(*single_, {"DBSIZE"}), Reply::Integer(kCounters + 1));
}

// What differs is copied and what is extra deleted, without another copy.
TEST_F(MigrateToClusterTest, FollowsWriters) {
  ASSERT_EQ(Forth(), kExitPassed) << err() << out();
  Ask(*nodes_, {"DEL", moved_reservation_});
  Ask(*nodes_, {"SET", "budget:daily:" + tag_ + ":20260510", "1"});
  ASSERT_EQ(Forth({"--follow", "0", "--batch", "70"}), kExitPassed) << err() << out();
  EXPECT_EQ(err(),
            "redouble migrate: pass 1 has copied 1 keys and deleted 1\n"
            "redouble migrate: pass 2 has copied 0 keys and deleted 0\n");
  EXPECT_THAT(out(), HasSubstr("\nequal\n"));
  EXPECT_EQ(Ask(*nodes_, {"DBSIZE"}), Reply::Integer(kCounters + 1));
  Ask(*nodes_, {"DEL", moved_reservation_});
  EXPECT_EQ(Forth({"--follow", "1", "--batch", "70"}), kExitPassed) << err() << out();
  EXPECT_THAT(out(), HasSubstr("\nnot equal\n")) << "one key differed before the pass";
}

// A key that only the new server has is reported. One that cannot be moved stops the copy, and a
// second run completes it.
TEST_F(MigrateToClusterTest, SaysWhatItCannotMove) {
  ASSERT_EQ(Forth(), kExitPassed) << err() << out();
  Ask(*single_, {"DEL", reservation_});
  EXPECT_EQ(Forth(), kExitFailed);
  EXPECT_THAT(out(), HasSubstr("\nnot equal\n"));
  Ask(*single_, {"SET", reservation_, "1|day|month"});
  EXPECT_EQ(Forth({"--resume", "at.txt"}), kExitFailed);
  EXPECT_THAT(err(), HasSubstr("redouble migrate: cannot move \"" + reservation_ + "\": "));
  Ask(*single_, {"SET", reservation_, value_});
  EXPECT_EQ(Forth({"--resume", "at.txt"}), kExitPassed) << err() << out();
  EXPECT_FALSE(std::filesystem::exists(folder_ / "at.txt"));
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
