// `redouble migrate` as a process of its own that is killed by SIGKILL, and its resumption.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "redouble/backends/redis/net/client/sync_store.h"
#include "redouble/backends/redis/options.h"
#include "redouble/backends/redis/spawn/child_process.h"
#include "redouble/backends/redis/spawn/spawned_cluster.h"
#include "redouble/backends/redis/spawn/spawned_server.h"
#include "redouble/core/base/random/rng.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/korvet/keys.h"
#include "redouble/core/korvet/topics/topics.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/typed/keys.h"
#include "redouble/sim/cli/support/scenario_files.h"

namespace redouble::inline v0_1::sim {
namespace {

namespace fs = std::filesystem;
using base::IsOk;
using store::Reply;
using ::testing::HasSubstr;

// Three pages of the scan.
constexpr int kGroups = 2'500;
constexpr int kPartitions = 20;
// Slow enough that no kill comes too late.
constexpr const char* kSlow = "250";

Reply Ask(store::Store& store, const std::vector<std::string_view>& words) {
  const auto command = store::Command::Named(words[0], std::span(words).subspan(1));
  const auto send = [&]() -> base::Task<absl::StatusOr<Reply>> {
    co_return co_await store.Execute(command);
  };
  return base::Run(send()).value();
}

class MigrateKillTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::getenv("TEST_TMPDIR");
    server_ = redis::SpawnedServer::Start().value();
    cluster_ = redis::SpawnedCluster::Start().value();
    single_ = redis::SyncStore::Connect(server_->uri()).value();
    nodes_ = redis::SyncStore::Connect(cluster_->uri()).value();
  }

  // A topic with streams and groups, and the hashes of many groups.
  void Fill() {
    base::Rng rng(1);
    korvet::Topics topics(*single_, rng, korvet::Keys::Create().value());
    korvet::NewTopic topic;
    topic.name = "orders";
    topic.partitions = kPartitions;
    ASSERT_THAT(base::Run(topics.Create(topic)).status(), IsOk());
    for (int i = 0; i < kPartitions; ++i) {
      const std::string stream = "korvet:stream:orders:" + std::to_string(i);
      Ask(*single_, {"XADD", stream, "1-0", "v", "a"});
      Ask(*single_, {"XADD", stream, "2-0", "v", "b"});
      Ask(*single_, {"XGROUP", "CREATE", stream, "g", "0"});
      Ask(*single_, {"XREADGROUP", "GROUP", "g", "c", "STREAMS", stream, ">"});
      Ask(*single_, {"XDEL", stream, "1-0"});
    }
    for (int i = 0; i < kGroups; ++i) {
      Ask(*single_, {"HSET", "korvet:group:g" + std::to_string(i), "epoch", std::to_string(i)});
    }
  }

  std::unique_ptr<redis::ChildProcess> Start(const std::vector<std::string>& more) {
    redis::ChildProcessOptions options;
    options.executable = fs::absolute("redouble");
    options.arguments = {"migrate",       "--system",     "korvet",
                         "--from",        server_->uri(), "--to",
                         cluster_->uri(), "--resume",     (folder_ / "at.txt").string()};
    options.arguments.insert(options.arguments.end(), more.begin(), more.end());
    options.output_path = (folder_ / "output.txt").string();
    return redis::ChildProcess::Start(options).value();
  }

  // Runs the program until the condition holds, and kills it then.
  void KillWhen(const std::function<bool()>& holds) {
    const std::unique_ptr<redis::ChildProcess> program = Start({"--rate", kSlow});
    while (!holds()) {
      ASSERT_FALSE(program->WaitForExit(absl::Milliseconds(1))) << Output();
    }
    EXPECT_TRUE(program->Signal(SIGKILL)) << "it was still at work";
    ASSERT_TRUE(program->WaitForExit(absl::Minutes(1)));
  }

  std::string Output() const { return ReadFile(folder_ / "output.txt").value_or(""); }
  int64_t Copied() { return base::Run(store::DbSize(*nodes_)).value(); }

  fs::path folder_;
  std::unique_ptr<redis::SpawnedServer> server_;
  std::unique_ptr<redis::SpawnedCluster> cluster_;
  std::unique_ptr<redis::SyncStore> single_;
  std::unique_ptr<redis::SyncStore> nodes_;
};

TEST_F(MigrateKillTest, ResumesAfterAKill) {
  Fill();
  // In the first page, after the first page, and in the second one.
  KillWhen([this] { return Copied() > 100; });
  EXPECT_FALSE(fs::exists(folder_ / "at.txt"));
  KillWhen([this] { return fs::exists(folder_ / "at.txt"); });
  const int64_t copied = Copied();
  EXPECT_LT(copied, kGroups);
  KillWhen([this, copied] { return Copied() > copied + 100; });
  EXPECT_TRUE(fs::exists(folder_ / "at.txt"));

  const std::unique_ptr<redis::ChildProcess> last = Start({});
  ASSERT_TRUE(last->WaitForExit(absl::Minutes(5)));
  EXPECT_THAT(Output(), HasSubstr("\nequal\n"));
  EXPECT_FALSE(fs::exists(folder_ / "at.txt"));
  // The topic, its streams and copies, the names and the ids, and the groups.
  EXPECT_EQ(Copied(), 1 + 2 * kPartitions + 2 + kGroups);
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
