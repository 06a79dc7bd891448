// A copy that is stopped anywhere, and continues from the last cursor it has stored.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "redouble/core/base/status/status_matchers.h"
#include "redouble/core/store/errors.h"
#include "redouble/core/store/wrappers/forwarding_store.h"
#include "redouble/sim/migrate/migration_for_test.h"

namespace redouble::inline v0_1::sim {
namespace {

using base::IsOk;
using store::Request;

// Commands that a process sends before it ends. The caller does not learn the fate of a command
// after that.
struct Life {
  size_t commands_left;
  bool has_ended = false;

  // Takes up to `wanted` commands.
  size_t Take(size_t wanted) {
    if (wanted > commands_left) has_ended = true;
    const size_t taken = std::min(wanted, commands_left);
    commands_left -= taken;
    return taken;
  }
};

// Runs commands until the end of a life. A pipeline may end between two of its commands.
class MortalStore final : public store::ForwardingStore {
 public:
  MortalStore(store::Store& inner, Life& life) : ForwardingStore(inner), life_(life) {}

  void Submit(Request& request) override {
    const size_t count = request.commands().size();
    const bool is_pipeline = request.kind() == Request::Kind::kPipeline;
    const size_t taken = life_.Take(is_pipeline ? count : 1);
    if (!life_.has_ended) return ForwardingStore::Submit(request);
    for (size_t i = 0; is_pipeline && i < taken; ++i) {
      EXPECT_THAT(base::Run(Send(request.commands()[i])), IsOk());
    }
    request.Complete(store::OutcomeUnknownError("ended"));
  }

 private:
  base::Task<absl::Status> Send(const store::Command& command) {
    co_return (co_await inner().Execute(command)).status();
  }

  Life& life_;
};

class InterruptionTest : public MigrationTest {
 protected:
  // Copies until the life ends, and then from the cursor that was stored. Returns whether the first
  // copy was complete.
  bool CopyInTwoLives(const Migration& migration, size_t commands) {
    Life life{commands};
    std::string stored = "0";
    MortalStore from(*single_, life);
    MortalStore to(*cluster_, life);
    CopyOptions options;
    options.page_keys = 4;
    options.pace.batch_keys = 3;
    // The file of the cursor is written, or not.
    options.on_page = [&](std::string_view cursor, const CopyReport&) {
      if (life.Take(1) == 0) return store::OutcomeUnknownError("ended");
      stored = cursor;
      return absl::OkStatus();
    };
    const bool is_complete = Copy(migration, from, to, options).ok();
    EXPECT_EQ(is_complete, !life.has_ended);
    if (is_complete) return true;
    options.cursor = stored;
    options.on_page = {};
    EXPECT_THAT(Copy(migration, *single_, *cluster_, options), IsOk());
    return false;
  }

  // Stops the copy after every number of commands. Returns how many commands a copy has.
  size_t StopEverywhere(const Migration& migration) {
    for (size_t commands = 0; commands < 10'000; ++commands) {
      SCOPED_TRACE(commands);
      Ask(*cluster_, {"FLUSHALL"});
      const bool is_complete = CopyInTwoLives(migration, commands);
      EXPECT_TRUE(Verify(migration, *single_, *cluster_).is_equal());
      if (is_complete || HasFailure()) return commands;
    }
    ADD_FAILURE() << "the copy does not end";
    return 0;
  }
};

TEST_F(InterruptionTest, TheCopyStopsAfterAnyCommand) {
  FillRelayna();
  FillStream(*single_, "flow:workflow:run:t2");
  for (int i = 0; i < 30; ++i) {
    Ask(*single_, {"SET", "status:event:t1:" + std::to_string(i), "1", "PX", "86400000"});
  }
  EXPECT_GT(StopEverywhere(Relayna(kToCluster)), 100u);
  EXPECT_EQ(Ask(*cluster_, {"DBSIZE"}), Reply::Integer(38));
}

}  // namespace
}  // namespace redouble::inline v0_1::sim
