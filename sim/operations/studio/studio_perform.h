// Templates that read the arguments of a Studio operation and run it. For this folder only.
//
//   std::string ReadServiceId(ArgumentReader& reader) { return reader.String("service_id"); }
//   OperationTask GetService(StudioParts& parts, const std::string& service_id) {
//     co_return ModelOr(co_await parts.registry.GetService(service_id));
//   }
//   table.Add("registry.get_service", Perform<ReadServiceId, GetService>);
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_OPERATIONS_STUDIO_STUDIO_PERFORM_H_
#define REDOUBLE_SIM_OPERATIONS_STUDIO_STUDIO_PERFORM_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/task/task.h"
#include "redouble/sim/operations/arguments.h"
#include "redouble/sim/operations/operation.h"
#include "redouble/sim/operations/python_json.h"
#include "redouble/sim/operations/studio/studio_parts.h"

namespace redouble::inline v0_1::scenarios {

using OperationTask = base::Task<sim::OperationResult>;

// Reads the parts and the arguments, refuses other arguments, and runs the operation. If `kRead`
// returns an error, that is the result.
template <auto kRead, auto kRun>
OperationTask Perform(sim::OperationContext context, const sim::Json& arguments) {
  sim::ArgumentReader reader(arguments);
  StudioParts parts(context, reader);
  auto request = kRead(reader);
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());
  if constexpr (requires { request.status(); }) {
    REDOUBLE_CO_RETURN_IF_ERROR(request.status());
    co_return co_await kRun(parts, *request);
  } else {
    co_return co_await kRun(parts, request);
  }
}

// The same for an operation that needs no store.
template <auto kRead, auto kRun>
OperationTask Compute(sim::OperationContext, const sim::Json& arguments) {
  sim::ArgumentReader reader(arguments);
  const auto request = kRead(reader);
  REDOUBLE_CO_RETURN_IF_ERROR(reader.Finish());
  co_return kRun(request);
}

struct NoArguments {};
inline NoArguments ReadNothing(sim::ArgumentReader&) { return {}; }

inline std::string ReadServiceId(sim::ArgumentReader& reader) {
  return reader.String("service_id");
}

inline sim::OperationResult NullOr(const absl::Status& status) {
  REDOUBLE_RETURN_IF_ERROR(status);
  return sim::Json();
}

// Returns a number, a text, a boolean, or null for nullopt.
template <typename T>
sim::OperationResult ValueOr(const absl::StatusOr<T>& value) {
  REDOUBLE_RETURN_IF_ERROR(value.status());
  return sim::Json(*value);
}
inline sim::OperationResult ValueOr(const absl::StatusOr<std::optional<std::string>>& value) {
  REDOUBLE_RETURN_IF_ERROR(value.status());
  return ToJson(*value);
}

// Returns a model, or null for nullopt.
template <typename Model>
sim::OperationResult ModelOr(const absl::StatusOr<Model>& model) {
  REDOUBLE_RETURN_IF_ERROR(model.status());
  return ToJson(ToValue(*model));
}
template <typename Model>
sim::OperationResult ModelOr(const absl::StatusOr<std::optional<Model>>& model) {
  REDOUBLE_RETURN_IF_ERROR(model.status());
  return *model ? ToJson(ToValue(**model)) : sim::Json();
}

// Returns {"count", "items", "next_cursor"}.
inline sim::Json PageJson(sim::Json items, const std::optional<std::string>& next_cursor) {
  sim::Json page;
  page["count"] = items.size();
  page["items"] = std::move(items);
  page["next_cursor"] = ToJson(next_cursor);
  return page;
}

// A service, by the argument `service` (a record) or `service_id`.
struct ServiceChoice {
  std::optional<studio::ServiceRecord> record;
  std::string service_id;
};
absl::StatusOr<ServiceChoice> ReadServiceChoice(sim::ArgumentReader& reader);
// Returns the given record, or reads it from the registry.
base::Task<absl::StatusOr<studio::ServiceRecord>> Chosen(StudioParts& parts,
                                                         const ServiceChoice& choice);

// Returns an array of models.
template <typename Model>
sim::OperationResult ModelsOr(const absl::StatusOr<std::vector<Model>>& models) {
  REDOUBLE_RETURN_IF_ERROR(models.status());
  sim::Json list = sim::Json::array();
  for (const Model& model : *models) list.push_back(ToJson(ToValue(model)));
  return list;
}

// Add the operations of the search index, and those of studio::Studio.
void AddSearchOperations(sim::OperationTable& table);
void AddFacadeOperations(sim::OperationTable& table);

}  // namespace redouble::inline v0_1::scenarios

#endif  // REDOUBLE_SIM_OPERATIONS_STUDIO_STUDIO_PERFORM_H_
