#include "redouble/backends/redis/fsm/replica_exit.h"

#include <variant>

#include "absl/strings/match.h"

namespace redouble::inline v0_1::redis {

bool IsReadOnly(const store::Reply& reply) {
  return reply.is_error() && absl::StartsWith(reply.text(), "READONLY ");
}

int64_t ReplicaExit::IntervalUs(const Options& options) {
  const auto* const tcp = std::get_if<TcpAddress>(&options.address);
  if (tcp == nullptr || IsIpAddress(tcp->host)) return kNeverUs;
  return DurationMicros(options.backoff_cap);
}

bool ReplicaExit::Take(int64_t now_us) {
  if (interval_us_ == kNeverUs || now_us < next_us_) return false;
  next_us_ = LaterMicros(now_us, interval_us_);
  return true;
}

}  // namespace redouble::inline v0_1::redis
