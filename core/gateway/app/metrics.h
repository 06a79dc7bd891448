// AdmissionMetrics: how many requests the gateway has admitted, refused and settled.
//
// Admission counts; a program exports the numbers, for example as the text that Prometheus reads:
//
//   http_response.body = gateway::MetricsText(admission.metrics());
//
//   # TYPE gateway_admissions_total counter
//   gateway_admissions_total{outcome="admitted"} 812
//   gateway_admissions_total{outcome="budget_exceeded"} 3
//
// The counts are those of one process since its start.
//
// Thread-safety: plain values and a pure function.
// Source: docs/systems/gateway.md 4.16.
#ifndef REDOUBLE_CORE_GATEWAY_APP_METRICS_H_
#define REDOUBLE_CORE_GATEWAY_APP_METRICS_H_

#include <array>
#include <cstdint>
#include <string>

#include "redouble/core/gateway/admission.h"

namespace redouble::inline v0_1::gateway {

struct AdmissionMetrics {
  static constexpr size_t kOutcomes = 5;
  static constexpr size_t kActions = 4;

  // By AdmissionDecision::Outcome.
  std::array<int64_t, kOutcomes> admissions = {};
  // By SettlementReport::Action: settlements that succeeded, and that failed.
  std::array<int64_t, kActions> settlements = {};
  std::array<int64_t, kActions> failed_settlements = {};
  int64_t sweeps = 0;
  int64_t failed_sweeps = 0;
  int64_t released_reservations = 0;
  double released_usd = 0;

  void Count(const AdmissionDecision& decision);
  void Count(const SettlementReport& report);
};

// One line for each count, with its labels.
std::string MetricsText(const AdmissionMetrics& metrics);

}  // namespace redouble::inline v0_1::gateway

#endif  // REDOUBLE_CORE_GATEWAY_APP_METRICS_H_
