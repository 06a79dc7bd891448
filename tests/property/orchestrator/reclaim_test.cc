// Several live workers take over the entries of a crashed one. Each entry is executed once, however
// many entries and workers there are, as long as one execution is shorter than `min_idle`.
//
// Source: docs/systems/orchestrator.md 4.8, D8.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/orchestrator/keys.h"
#include "redouble/core/orchestrator/messages.h"
#include "redouble/core/orchestrator/run/worker.h"
#include "redouble/core/store/command.h"
#include "redouble/sim/world/world.h"

namespace redouble::inline v0_1::orchestrator {
namespace {

using ::testing::Each;
using ::testing::Pair;
using ::testing::SizeIs;

constexpr absl::Duration kExecution = absl::Seconds(50);
constexpr absl::Duration kMinIdle = absl::Seconds(60);
constexpr int kEntries = 10;

class ReclaimTest : public ::testing::TestWithParam<int> {
 protected:
  ReclaimTest() : session_(world_.Connect()) {}

  store::Reply Ask(const std::vector<std::string_view>& words) {
    const auto command = store::Command::Named(words[0], std::span(words).subspan(1));
    const auto send = [&]() -> base::Task<absl::StatusOr<store::Reply>> {
      co_return co_await session_->Execute(command);
    };
    return base::Run(send()).value();
  }

  // Publishes tokens that a worker reads and, because it crashes, never acknowledges.
  void CrashWithEntries() {
    Ask({"SET", "counter:run_1", absl::StrCat(kEntries)});
    Ask({"XGROUP", "CREATE", "wf.tasks.http", "workers", "0", "MKSTREAM"});
    for (int i = 0; i < kEntries; ++i) {
      Token token;
      token.id = absl::StrCat("t", i);
      token.run_id = "run_1";
      token.to_node = absl::StrCat("n", i);
      token.created_at = world_.clock().Now();
      Ask({"XADD", "wf.tasks.http", "*", "token", FormatToken(token).value(), "run_id", "run_1",
           "node_id", token.to_node});
    }
    Ask({"XREADGROUP", "GROUP", "workers", "crashed", "COUNT", "100", "STREAMS", "wf.tasks.http",
         ">"});
  }

  base::Task<void> Work(sim::Actor& actor) {
    WorkerOptions options;
    options.type = "http";
    options.consumer = actor.name();
    options.block = std::nullopt;
    options.min_idle = kMinIdle;
    Worker worker(actor.store(), actor.clock(), Keys(), options,
                  [&](const Token& token) -> base::Task<absl::StatusOr<NodeResult>> {
                    ++executions_[token.to_node];
                    co_await actor.clock().Sleep(kExecution);
                    co_return NodeResult();
                  });
    while (actor.clock().Now() < end_) {
      const auto report = co_await worker.Reclaim();
      if (report.ok()) dead_lettered_ += report->dead_lettered;
      co_await actor.clock().Sleep(absl::Seconds(20));
    }
  }

  sim::World world_;
  std::unique_ptr<store::Store> session_;
  const absl::Time end_ = world_.clock().Now() + absl::Hours(1);
  std::map<std::string, int> executions_;
  int64_t dead_lettered_ = 0;
};

TEST_P(ReclaimTest, ExecutesEachEntryOfACrashedWorkerOnce) {
  CrashWithEntries();
  for (int i = 1; i <= GetParam(); ++i) {
    world_.Spawn(absl::StrCat("w", i), [this](sim::Actor& actor) { return Work(actor); });
  }
  ASSERT_EQ(world_.Run().end, sim::RunEnd::kDone);
  EXPECT_THAT(executions_, SizeIs(kEntries));
  EXPECT_THAT(executions_, Each(Pair(::testing::_, 1)));
  EXPECT_EQ(dead_lettered_, 0);
  EXPECT_EQ(Ask({"XPENDING", "wf.tasks.http", "workers"}).elements()[0].integer(), 0);
  EXPECT_EQ(Ask({"LLEN", "completion_signals"}), store::Reply::Integer(kEntries));
}

INSTANTIATE_TEST_SUITE_P(Workers, ReclaimTest, ::testing::Values(1, 2, 8));

}  // namespace
}  // namespace redouble::inline v0_1::orchestrator
