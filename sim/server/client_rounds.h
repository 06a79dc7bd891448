// ClientRounds: which clients the server's timer looks at. As in Redis, each is looked at about
// once a second, a part of them at each call, so that thousands of idle clients cost little.
//
//   rounds.VisitNext(connections, period, [&](Connection& connection) { ... });
//
// Thread-safety: one thread.
// Source: Redis 7.0 clientsCron.
#ifndef REDOUBLE_SIM_SERVER_CLIENT_ROUNDS_H_
#define REDOUBLE_SIM_SERVER_CLIENT_ROUNDS_H_

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>

#include "absl/functional/function_ref.h"
#include "absl/time/time.h"

namespace redouble::inline v0_1::sim {

class ClientRounds {
 public:
  // Visits the next of `clients`, in the order of their ids: so many that all have their turn
  // within a second of calls that are `period` apart, and at least five. `visit` must not change
  // `clients`.
  template <typename Client>
  void VisitNext(const std::map<int64_t, std::unique_ptr<Client>>& clients, absl::Duration period,
                 absl::FunctionRef<void(Client&)> visit) {
    constexpr double kLeast = 5;
    const auto all = static_cast<double>(clients.size());
    const double wanted = std::max(kLeast, std::ceil(all * absl::ToDoubleSeconds(period)));
    auto next = clients.upper_bound(last_id_);
    for (auto left = static_cast<size_t>(std::min(all, wanted)); left > 0; --left) {
      if (next == clients.end()) next = clients.begin();
      last_id_ = next->first;
      visit(*next->second);
      ++next;
    }
  }

 private:
  int64_t last_id_ = 0;
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_SERVER_CLIENT_ROUNDS_H_
