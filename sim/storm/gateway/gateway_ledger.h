// The ledger of the gateway's storm: what its actors did, and what the counters must hold.
//
// It knows the requests, how each was answered, and each attempt to settle it; from these follow
// the amount that a counter must hold, and the hazards that can have changed it.
//
// Thread-safety: one thread. Source: docs/systems/gateway.md 5.
#ifndef REDOUBLE_SIM_STORM_GATEWAY_GATEWAY_LEDGER_H_
#define REDOUBLE_SIM_STORM_GATEWAY_GATEWAY_LEDGER_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "redouble/core/gateway/keys.h"
#include "redouble/sim/storm/account.h"

namespace redouble::inline v0_1::sim {

// One attempt to settle a request.
struct GatewayAttempt {
  static constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

  bool charges = false;    // With a cost: not a release.
  int64_t begun = 0;       // In ticks of the ledger.
  int64_t ended = kNever;  // kNever if its outcome is unknown: the server may still execute it.

  bool succeeded() const { return ended != kNever; }
};

// A request, or an operator's correction of the spend, which reserves nothing.
struct GatewayRequest {
  enum class Stage {
    kAsked,     // Without an answer: it may have reserved.
    kRefused,   // It has reserved nothing.
    kAdmitted,  // It has reserved, if it has an estimate.
  };

  size_t key = 0;  // Which virtual key.
  std::string id;
  bool reserves = false;
  bool is_corrected = false;  // An operator's correction.
  bool is_long = false;       // Outlives its reservation.
  double estimate = 0;
  double cost = 0;
  Stage stage = Stage::kAsked;
  std::vector<GatewayAttempt> attempts;

  bool charged() const;  // An attempt with a cost has succeeded.
  bool torn() const;     // A charge without a reservation has an unknown outcome.
};

// The faults of a run that open hazards to which every request is exposed.
struct GatewayFaults {
  bool duplicates = false;  // A request is executed twice.
  bool loses_data = false;  // Of the server.
  bool moves_clocks = false;
};

// Adds what a request has spent, and the hazards it was open to. `hardened`: the remedies are on,
// so that only hazards without one remain.
void AddSpend(const GatewayRequest& request, const GatewayFaults& faults, bool hardened,
              Account& account);

// Allows the difference between the month's and the day's spend that the request may have caused.
// `hardened`: as for AddSpend.
void AddDifference(const GatewayRequest& request, const GatewayFaults& faults, bool hardened,
                   Account& account);

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_STORM_GATEWAY_GATEWAY_LEDGER_H_
