#include "redouble/sim/server/process/process_figures.h"

#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include <filesystem>
#include <fstream>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/random/rng.h"
#include "redouble/core/base/time/system_clock.h"

namespace redouble::inline v0_1::sim {
namespace {

double Seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

// The second number of /proc/self/statm counts resident pages.
int64_t ResidentBytes() {
  std::ifstream statm("/proc/self/statm");
  int64_t pages = 0;
  int64_t resident_pages = 0;
  statm >> pages >> resident_pages;
  return resident_pages * sysconf(_SC_PAGESIZE);
}

// Other C libraries do not say how much is allocated; the resident memory takes its place.
int64_t AllocatedBytes([[maybe_unused]] int64_t resident_bytes) {
#ifdef __GLIBC__
  const struct mallinfo2 heap = mallinfo2();
  return static_cast<int64_t>(heap.uordblks + heap.hblkhd);
#else
  return resident_bytes;
#endif
}

}  // namespace

void FillProcessFigures(memory::ProcessFigures& figures) {
  std::error_code ignored;
  figures.process_id = getpid();
  figures.executable = std::filesystem::read_symlink("/proc/self/exe", ignored).string();
  figures.resident_bytes = ResidentBytes();
  figures.system_memory_bytes =
      static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  figures.allocated_bytes = AllocatedBytes(figures.resident_bytes);
  rusage usage = {};
  if (getrusage(RUSAGE_SELF, &usage) != 0) return;
  figures.peak_resident_bytes = usage.ru_maxrss * 1024;
  figures.system_cpu_seconds = Seconds(usage.ru_stime);
  figures.user_cpu_seconds = Seconds(usage.ru_utime);
}

std::string MakeRunId() {
  base::Rng rng(static_cast<uint64_t>(base::SystemClock().NowMicros()) ^
                static_cast<uint64_t>(getpid()));
  return absl::StrCat(absl::Hex(rng.Next(), absl::kZeroPad16),
                      absl::Hex(rng.Next(), absl::kZeroPad16),
                      absl::Hex(rng.Next() >> 32, absl::kZeroPad8));
}

}  // namespace redouble::inline v0_1::sim
