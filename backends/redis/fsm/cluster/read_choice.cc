#include "redouble/backends/redis/fsm/cluster/read_choice.h"

#include <algorithm>
#include <iterator>

#include "redouble/backends/redis/fsm/backoff.h"
#include "redouble/backends/redis/fsm/command_effect.h"

namespace redouble::inline v0_1::redis {

bool ReadChoice::Concerns(const store::Request& request) const {
  if (policy_ == ReadFrom::kMaster) return false;
  if (request.kind() == store::Request::Kind::kTransaction) return false;
  return OnlyReads(request);
}

std::optional<TcpAddress> ReadChoice::Choose(const TcpAddress* master,
                                             std::span<const TcpAddress> replicas, int64_t now_us,
                                             bool only_available) {
  std::vector<TcpAddress> allowed(replicas.begin(), replicas.end());
  if (policy_ == ReadFrom::kAny && master != nullptr) allowed.push_back(*master);
  std::vector<TcpAddress> available;
  std::copy_if(allowed.begin(), allowed.end(), std::back_inserter(available),
               [&](const TcpAddress& server) { return !IsAvoided(server, now_us); });
  if (available.empty() && policy_ == ReadFrom::kReplicaPreferred && master != nullptr) {
    return *master;
  }
  if (available.empty() && (only_available || allowed.empty())) return std::nullopt;
  const TcpAddress chosen = AnyOf(available.empty() ? allowed : available);
  // One request tries a server that failed; the others avoid it until that is answered.
  for (Avoided& avoided : avoided_) {
    if (avoided.server == chosen) avoided.until_us = LaterMicros(now_us, kAvoidUs);
  }
  return chosen;
}

const TcpAddress& ReadChoice::AnyOf(const std::vector<TcpAddress>& servers) {
  return servers[rng_.Below(servers.size())];
}

bool ReadChoice::IsAvoided(const TcpAddress& server, int64_t now_us) const {
  return std::any_of(avoided_.begin(), avoided_.end(), [&](const Avoided& avoided) {
    return avoided.server == server && now_us < avoided.until_us;
  });
}

void ReadChoice::NoteFailure(const TcpAddress& server, int64_t now_us) {
  NoteAnswer(server);
  // Servers that have left are forgotten at some time.
  std::erase_if(avoided_, [&](const Avoided& avoided) {
    return LaterMicros(avoided.until_us, 60 * kAvoidUs) < now_us;
  });
  avoided_.push_back({server, LaterMicros(now_us, kAvoidUs)});
}

void ReadChoice::NoteAnswer(const TcpAddress& server) {
  std::erase_if(avoided_, [&](const Avoided& avoided) { return avoided.server == server; });
}

}  // namespace redouble::inline v0_1::redis
