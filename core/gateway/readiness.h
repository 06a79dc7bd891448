// Readiness: the response of the gateway's `/readyz` route.
//
// The gateway requires PostgreSQL and Redis. Probe both, whatever the result of the first; the
// caller probes PostgreSQL. The probe of Redis is one PING and creates no key.
//
//   const absl::Status redis = co_await gateway::ProbeControlState(store);
//   const gateway::ReadinessResponse response = gateway::Readiness(postgres, redis);
//
// Thread-safety: ProbeControlState as Store; Readiness is a pure function.
// Source: docs/systems/gateway.md 4.11.
#ifndef REDOUBLE_CORE_GATEWAY_READINESS_H_
#define REDOUBLE_CORE_GATEWAY_READINESS_H_

#include <string_view>

#include "absl/status/status.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::gateway {

// Sends PING: one round trip. OK for any string reply. Errors: ControlStateUnavailable
// (errors.h).
base::Task<absl::Status> ProbeControlState(store::Store& store);

struct ReadinessResponse {
  int http_status = 0;
  std::string_view body;  // JSON.
};

// 200 with {"status":"ready"} if both are OK, otherwise 503 with {"status":"not_ready"}.
// Source: docs/systems/gateway.md 2.7.
ReadinessResponse Readiness(const absl::Status& postgres, const absl::Status& redis);

}  // namespace redouble::inline v0_1::gateway

#endif  // REDOUBLE_CORE_GATEWAY_READINESS_H_
