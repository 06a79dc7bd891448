#include "redouble/sim/storm/gateway/gateway_ledger.h"

#include <algorithm>

namespace redouble::inline v0_1::sim {
namespace {

constexpr double kAnything = std::numeric_limits<double>::infinity();

bool HasOverlap(const GatewayRequest& request) {
  for (size_t i = 0; i < request.attempts.size(); ++i) {
    for (size_t j = i + 1; j < request.attempts.size(); ++j) {
      if (request.attempts[j].begun < request.attempts[i].ended) return true;
    }
  }
  return false;
}

int ChargesOf(const GatewayRequest& request) {
  return static_cast<int>(std::count_if(request.attempts.begin(), request.attempts.end(),
                                        [](const GatewayAttempt& one) { return one.charges; }));
}

// What the remedies remove.
void AllowRemedied(const GatewayRequest& request, Account& account) {
  const auto attempts = static_cast<double>(request.attempts.size());
  const int charges = ChargesOf(request);
  if (HasOverlap(request)) {
    account.Allow("R5", -request.estimate * (attempts - 1),
                  std::max(0.0, request.cost - request.estimate) * (attempts - 1));
  }
  if (charges > 1) account.Allow("R6", 0, request.cost * (charges - 1));
  if (request.is_long) account.Allow("R8", 0, request.estimate);
  const bool is_settled = std::any_of(request.attempts.begin(), request.attempts.end(),
                                      [](const GatewayAttempt& one) { return one.succeeded(); });
  if (!is_settled) account.Allow("R9", 0, request.estimate);
}

}  // namespace

bool GatewayRequest::charged() const {
  return std::any_of(attempts.begin(), attempts.end(),
                     [](const GatewayAttempt& one) { return one.charges && one.succeeded(); });
}

bool GatewayRequest::torn() const {
  return !reserves && !is_corrected &&
         std::any_of(attempts.begin(), attempts.end(),
                     [](const GatewayAttempt& one) { return one.charges && !one.succeeded(); });
}

void AddSpend(const GatewayRequest& request, const GatewayFaults& faults, bool hardened,
              Account& account) {
  if (request.stage == GatewayRequest::Stage::kRefused) return;
  const int charges = ChargesOf(request);
  if (request.charged()) {
    account.Expect(request.cost, request.cost);
  } else if (charges > 0) {
    account.Expect(std::min(0.0, request.cost), std::max(0.0, request.cost));
  }
  if (request.reserves && !hardened) AllowRemedied(request, account);
  if (faults.duplicates) {
    const double again = request.estimate + request.cost * (charges + 1);
    account.Allow("R12", -request.estimate - request.cost, again);
  }
  if (faults.loses_data) account.Allow("R13", -kAnything, kAnything);
}

void AddDifference(const GatewayRequest& request, const GatewayFaults& faults, bool hardened,
                   Account& account) {
  if (request.torn() && !hardened) account.Allow("R2", -request.cost, request.cost);
  if (faults.duplicates) account.Allow("R12", -2 * request.cost, 2 * request.cost);
  if (faults.loses_data) account.Allow("R13", -kAnything, kAnything);
}

}  // namespace redouble::inline v0_1::sim
