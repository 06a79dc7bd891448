#include "redouble/core/base/task/run.h"

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "redouble/core/base/task/wait_reporter.h"

namespace redouble::inline v0_1::base::internal {

void DieOfUnfinishedTask() {
  std::fputs("redouble: the task did not finish, and nothing is left that could resume it.\n",
             stderr);
  const std::vector<std::string> waits = DescribeAllWaits();
  for (const std::string& wait : waits) std::fprintf(stderr, "  %s\n", wait.c_str());
  if (waits.empty()) {
    std::fputs("  It waits for a timer, another task, or a store that answers later.\n", stderr);
  }
  std::fputs(
      "Run() takes tasks that never wait. Advance the clock while the task runs, or run it with "
      "testing::Redis::Await(), RunUntilDone(), a simulation or an event loop.\n",
      stderr);
  std::abort();
}

}  // namespace redouble::inline v0_1::base::internal
