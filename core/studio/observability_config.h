// Where a service's logs (Loki), metrics (Prometheus) and traces (Tempo) are: three optional parts
// of its registry record.
//
// Each function gives the object in its model's form: members in the model's order, texts stripped,
// URLs normalised, absent members at their defaults, unknown ones dropped. Errors: InvalidArgument
// (ValidationError).
//
// Thread-safety: pure functions.
// Source: reference/relayna.md section 6 names the members only; their rules follow the models of
// the documented commit.
#ifndef REDOUBLE_CORE_STUDIO_OBSERVABILITY_CONFIG_H_
#define REDOUBLE_CORE_STUDIO_OBSERVABILITY_CONFIG_H_

#include "absl/status/statusor.h"
#include "core/python/value.h"

namespace redouble::studio {

absl::StatusOr<python::Value> ReadLogConfig(const python::Value& value);
absl::StatusOr<python::Value> ReadMetricsConfig(const python::Value& value);
absl::StatusOr<python::Value> ReadTraceConfig(const python::Value& value);

}  // namespace redouble::studio

#endif  // REDOUBLE_CORE_STUDIO_OBSERVABILITY_CONFIG_H_
