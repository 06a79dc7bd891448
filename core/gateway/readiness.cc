#include "redouble/core/gateway/readiness.h"

#include <string>

#include "absl/status/statusor.h"
#include "redouble/core/gateway/errors.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/decode.h"

namespace redouble::inline v0_1::gateway {

base::Task<absl::Status> ProbeControlState(store::Store& store) {
  const store::Command ping(store::CommandId::kPing);
  const absl::StatusOr<std::string> pong = store::DecodeString(co_await store.Execute(ping));
  co_return pong.ok() ? absl::OkStatus() : ControlStateUnavailable(pong.status());
}

ReadinessResponse Readiness(const absl::Status& postgres, const absl::Status& redis) {
  if (postgres.ok() && redis.ok()) return {200, R"({"status":"ready"})"};
  return {503, R"({"status":"not_ready"})"};
}

}  // namespace redouble::inline v0_1::gateway
