#include "redouble/sim/world/journal.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "redouble/backends/memory/engine/engine.h"
#include "redouble/backends/memory/engine/session.h"
#include "redouble/core/base/task/run.h"
#include "redouble/core/base/time/virtual_clock.h"
#include "redouble/core/store/command.h"

namespace redouble::inline v0_1::sim {
namespace {

using store::Reply;

class JournalTest : public testing::Test {
 protected:
  // Executes a command, then notes and records it as a world does after each step.
  Reply Send(const std::vector<std::string_view>& words) {
    const store::Command command = store::Command::Named(words[0], std::span(words).subspan(1));
    absl::StatusOr<Reply> reply = base::Run(Execute(*session_, command));
    journal_.Note(session_->db_index(), command);
    journal_.Record();
    return std::move(reply).value();
  }

  base::VirtualClock clock_{absl::FromUnixSeconds(1000)};
  memory::Engine engine_{clock_};
  std::unique_ptr<memory::Session> session_ = engine_.Connect();
  Journal journal_{engine_};

 private:
  static base::Task<absl::StatusOr<Reply>> Execute(memory::Session& session,
                                                   const store::Command& command) {
    co_return co_await session.Execute(command);
  }
};

TEST_F(JournalTest, BringsBackWhatWasChangedAndRemoved) {
  Send({"SET", "a", "1"});
  Send({"RPUSH", "list", "x", "y"});
  const absl::Time then = clock_.Now();
  clock_.Advance(absl::Seconds(1));
  Send({"SET", "a", "2"});
  Send({"DEL", "list"});
  Send({"SET", "b", "new"});
  journal_.RestoreAt(then);
  EXPECT_EQ(Send({"GET", "a"}).text(), "1");
  EXPECT_EQ(Send({"LRANGE", "list", "0", "-1"}).elements().size(), 2u);
  EXPECT_TRUE(Send({"GET", "b"}).is_nil());
}

TEST_F(JournalTest, KeepsDeadlinesAndLeavesOutWhatHasExpired) {
  Send({"SET", "long", "1", "PX", "5000"});
  Send({"SET", "short", "1", "PX", "1000"});
  clock_.Advance(absl::Seconds(2));
  journal_.RestoreAt(absl::FromUnixSeconds(1000));
  EXPECT_EQ(Send({"PTTL", "long"}).integer(), 3000);
  EXPECT_TRUE(Send({"GET", "short"}).is_nil());
}

TEST_F(JournalTest, KnowsEveryDatabase) {
  Send({"SELECT", "3"});
  Send({"SET", "a", "1"});
  Send({"SET", "a", "2"});
  journal_.RestoreBefore(1);
  EXPECT_EQ(Send({"GET", "a"}).text(), "1");
}

TEST_F(JournalTest, HearsOfWhatIsNoKeyspaceEvent) {
  Send({"SET", "a", "1"});
  Send({"FLUSHALL"});
  Send({"SET", "b", "1"});
  journal_.RestoreBefore(1);
  EXPECT_EQ(Send({"DBSIZE"}).integer(), 0);
  journal_.RestoreBefore(1);
  EXPECT_EQ(Send({"GET", "a"}).text(), "1");
}

TEST_F(JournalTest, HearsOfExchangedDatabases) {
  Send({"SET", "a", "1"});
  Send({"SWAPDB", "0", "1"});
  Send({"SET", "b", "1"});
  journal_.RestoreBefore(1);
  EXPECT_EQ(Send({"DBSIZE"}).integer(), 0);
  Send({"SELECT", "1"});
  EXPECT_EQ(Send({"GET", "a"}).text(), "1");
}

TEST_F(JournalTest, ForgetsWhatCameAfterTheMomentItRestored) {
  Send({"SET", "a", "1"});
  Send({"SET", "a", "2"});
  journal_.RestoreBefore(1);
  Send({"SET", "b", "1"});
  journal_.RestoreBefore(1);
  EXPECT_EQ(Send({"GET", "a"}).text(), "1");
  EXPECT_TRUE(Send({"GET", "b"}).is_nil());
  journal_.RestoreBefore(99);
  EXPECT_EQ(Send({"DBSIZE"}).integer(), 0);
}

TEST_F(JournalTest, PassesOverCommandsItCannotTakeApart) {
  Send({"NOSUCH", "a"});
  Send({"SET", "a"});
  Send({"SET", "a", "1"});
  journal_.RestoreBefore(1);
  EXPECT_TRUE(Send({"GET", "a"}).is_nil());
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
