// ReadChoice: the server that answers a request that only reads, by Options::read_from.
//
// Internal to ClusterMachine and SentinelMachine. A server that failed is avoided for kAvoidUs, and
// then tried again with one request. If every server is avoided, one of them is chosen.
//
//   ReadChoice choice(options.read_from, rng);
//   if (auto server = choice.Choose(master, replicas, now_us)) Send(*server);
//   choice.NoteFailure(*server, now_us);
//
// Thread-safety: one thread or strand at a time.
#ifndef REDOUBLE_BACKENDS_REDIS_FSM_CLUSTER_READ_CHOICE_H_
#define REDOUBLE_BACKENDS_REDIS_FSM_CLUSTER_READ_CHOICE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "redouble/backends/redis/options.h"
#include "redouble/core/base/random/rng.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::redis {

class ReadChoice {
 public:
  static constexpr int64_t kAvoidUs = 1'000'000;

  ReadChoice(ReadFrom policy, base::Rng rng) : policy_(policy), rng_(rng) {}

  bool uses_replicas() const { return policy_ != ReadFrom::kMaster; }

  // Whether the policy may send the request to a replica: it is no transaction, and Redis flags all
  // its commands as read-only.
  bool Concerns(const store::Request& request) const;

  // A server for a read. `master` is null if none is known. nullopt if the policy allows none of
  // the servers, or, with `only_available`, if all that it allows are avoided.
  std::optional<TcpAddress> Choose(const TcpAddress* master, std::span<const TcpAddress> replicas,
                                   int64_t now_us, bool only_available = false);

  // The server did not answer a read, or is not able to.
  void NoteFailure(const TcpAddress& server, int64_t now_us);
  void NoteAnswer(const TcpAddress& server);

 private:
  struct Avoided {
    TcpAddress server;
    int64_t until_us;
  };

  bool IsAvoided(const TcpAddress& server, int64_t now_us) const;
  const TcpAddress& AnyOf(const std::vector<TcpAddress>& servers);

  const ReadFrom policy_;
  base::Rng rng_;
  std::vector<Avoided> avoided_;  // Those that failed and have not answered since.
};

}  // namespace redouble::inline v0_1::redis

#endif  // REDOUBLE_BACKENDS_REDIS_FSM_CLUSTER_READ_CHOICE_H_
