// The readers of three optional parts of a service record: where its logs (Loki), metrics
// (Prometheus) and traces (Tempo) are.
//
//   absl::StatusOr<python::Value> config = ReadLogConfig(value);   // record.log_config
//
// Each function returns the object in the form of its model: members in the order of the model,
// texts stripped, URLs normalized, missing members with their defaults, unknown ones dropped.
// Errors: InvalidArgument (ValidationError).
//
// Thread-safety: pure functions.
// Source: docs/systems/studio.md 2.1.
#ifndef REDOUBLE_CORE_STUDIO_REGISTRY_OBSERVABILITY_CONFIG_H_
#define REDOUBLE_CORE_STUDIO_REGISTRY_OBSERVABILITY_CONFIG_H_

#include "absl/status/statusor.h"
#include "redouble/core/python/value.h"

namespace redouble::inline v0_1::studio {

absl::StatusOr<python::Value> ReadLogConfig(const python::Value& value);
absl::StatusOr<python::Value> ReadMetricsConfig(const python::Value& value);
absl::StatusOr<python::Value> ReadTraceConfig(const python::Value& value);

}  // namespace redouble::inline v0_1::studio

#endif  // REDOUBLE_CORE_STUDIO_REGISTRY_OBSERVABILITY_CONFIG_H_
