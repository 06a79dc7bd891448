#include "core/base/run.h"

#include <cstdio>
#include <cstdlib>

namespace redouble::base::internal {

void DieOfUnfinishedTask() {
  std::fputs(
      "redouble: the task waits for something that cannot happen any more: Run() takes tasks that "
      "finish at once; drive others with RunUntilDone(), a simulation or an event loop\n",
      stderr);
  std::abort();
}

}  // namespace redouble::base::internal
