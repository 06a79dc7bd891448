#include "redouble/sim/server/process/descriptor_limit.h"

#include <sys/resource.h>

#include <algorithm>

namespace redouble::inline v0_1::sim {
namespace {

// Descriptors for listeners, logs and epoll.
constexpr rlim_t kReservedDescriptors = 32;

}  // namespace

int RaiseDescriptorLimit(int clients) {
  rlimit limit = {};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return clients;
  const rlim_t wanted = static_cast<rlim_t>(clients) + kReservedDescriptors;
  if (limit.rlim_cur < wanted) {
    limit.rlim_cur = std::min(wanted, limit.rlim_max);
    setrlimit(RLIMIT_NOFILE, &limit);
  }
  // At least one client, so that a server with very few descriptors can be asked why.
  const rlim_t left =
      limit.rlim_cur > kReservedDescriptors ? limit.rlim_cur - kReservedDescriptors : 1;
  return static_cast<int>(std::min<rlim_t>(static_cast<rlim_t>(clients), left));
}

}  // namespace redouble::inline v0_1::sim
