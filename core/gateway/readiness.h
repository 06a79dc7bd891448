// Readiness: whether the gateway can serve, as `/readyz` answers it.
//
// The gateway needs PostgreSQL and Redis. Both are probed, whatever the first one says; PostgreSQL
// is the caller's business. Probing Redis is one PING and leaves no key behind.
//
//   const absl::Status redis = co_await gateway::ProbeControlState(store);
//   const gateway::ReadinessResponse response = gateway::Readiness(postgres, redis);
//
// Thread-safety: as Store; Readiness is pure.
// Source: seed 002 "Scope", reference/gateway.md 3.8.
#ifndef REDOUBLE_CORE_GATEWAY_READINESS_H_
#define REDOUBLE_CORE_GATEWAY_READINESS_H_

#include <string_view>

#include "absl/status/status.h"
#include "core/base/task.h"
#include "core/store/store.h"

namespace redouble::gateway {

// PING: one round trip. OK for any string reply. Errors: ControlStateUnavailable.
base::Task<absl::Status> ProbeControlState(store::Store& store);

struct ReadinessResponse {
  int http_status = 0;
  std::string_view body;  // JSON.
};

// 200 when both are OK, otherwise 503.
ReadinessResponse Readiness(const absl::Status& postgres, const absl::Status& redis);

}  // namespace redouble::gateway

#endif  // REDOUBLE_CORE_GATEWAY_READINESS_H_
