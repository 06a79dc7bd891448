// How long the engine takes to load an RDB file, without a server around it:
//
//   bazel run --config=opt //bench:load_rdb -- /path/to/dump.rdb
//
// Prints the keys, the seconds, the processor seconds of the whole process and its resident memory.
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "absl/time/clock.h"
#include "redouble/backends/memory/engine/engine.h"
#include "redouble/backends/memory/snapshot/snapshot.h"
#include "redouble/core/base/time/virtual_clock.h"

namespace {

double Seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

}  // namespace

int main(int argc, char** argv) {
  namespace memory = redouble::memory;
  if (argc != 2) {
    std::fputs("usage: load_rdb FILE\n", stderr);
    return 2;
  }
  redouble::base::VirtualClock clock(absl::Now());
  memory::Engine engine(clock);
  const auto begin = std::chrono::steady_clock::now();
  const absl::StatusOr<memory::RdbLoadReport> report = memory::LoadRdbFile(engine, argv[1]);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
  if (!report.ok()) {
    std::fprintf(stderr, "%s\n", report.status().ToString().c_str());
    return 1;
  }
  rusage used;
  getrusage(RUSAGE_SELF, &used);
  std::printf("keys %llu  s %.3f  user %.3f sys %.3f maxrss %ld MB\n",
              static_cast<unsigned long long>(report->keys), elapsed.count(),
              Seconds(used.ru_utime), Seconds(used.ru_stime), used.ru_maxrss / 1024);
  std::fflush(stdout);
  // Freeing the keys is no part of what is measured.
  std::_Exit(0);
}
