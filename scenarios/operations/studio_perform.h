// How each of Studio's operations reads its arguments and gives its result. For this folder only.
//
//   std::string ReadServiceId(ArgumentReader& reader) { return reader.String("service_id"); }
//   OperationTask GetService(StudioParts& parts, const std::string& service_id) {
//     co_return ModelOr(co_await parts.registry.GetService(service_id));
//   }
//   table.Add("registry.get_service", Perform<ReadServiceId, GetService>);
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SCENARIOS_OPERATIONS_STUDIO_PERFORM_H_
#define REDOUBLE_SCENARIOS_OPERATIONS_STUDIO_PERFORM_H_

#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/base/task.h"
#include "scenarios/operations/python_json.h"
#include "scenarios/operations/studio_parts.h"
#include "sim/scenario/arguments.h"
#include "sim/scenario/operation.h"

namespace redouble::scenarios {

using OperationTask = base::Task<sim::OperationResult>;

// Reads the parts and the arguments, which must be all that there are, and runs the operation. What
// `kRead` gives may be an error: it is the operation's then.
template <auto kRead, auto kRun>
OperationTask Perform(sim::OperationContext context, const sim::Json& arguments) {
  sim::ArgumentReader reader(arguments);
  StudioParts parts(context, reader);
  auto request = kRead(reader);
  if (absl::Status status = reader.Finish(); !status.ok()) co_return status;
  if constexpr (requires { request.status(); }) {
    if (!request.ok()) co_return request.status();
    co_return co_await kRun(parts, *request);
  } else {
    co_return co_await kRun(parts, request);
  }
}

// The same for an operation that works on values only.
template <auto kRead, auto kRun>
OperationTask Compute(sim::OperationContext, const sim::Json& arguments) {
  sim::ArgumentReader reader(arguments);
  const auto request = kRead(reader);
  if (absl::Status status = reader.Finish(); !status.ok()) co_return status;
  co_return kRun(request);
}

struct NoArguments {};
inline NoArguments ReadNothing(sim::ArgumentReader&) { return {}; }

inline std::string ReadServiceId(sim::ArgumentReader& reader) {
  return reader.String("service_id");
}

inline sim::OperationResult NullOr(const absl::Status& status) {
  if (!status.ok()) return status;
  return sim::Json();
}

// A number, a text or a boolean; null for none.
template <typename T>
sim::OperationResult ValueOr(const absl::StatusOr<T>& value) {
  if (!value.ok()) return value.status();
  return sim::Json(*value);
}
inline sim::OperationResult ValueOr(const absl::StatusOr<std::optional<std::string>>& value) {
  if (!value.ok()) return value.status();
  return ToJson(*value);
}

// A model, or null for none.
template <typename Model>
sim::OperationResult ModelOr(const absl::StatusOr<Model>& model) {
  if (!model.ok()) return model.status();
  return ToJson(ToValue(*model));
}
template <typename Model>
sim::OperationResult ModelOr(const absl::StatusOr<std::optional<Model>>& model) {
  if (!model.ok()) return model.status();
  return *model ? ToJson(ToValue(**model)) : sim::Json();
}

// {"count", "items", "next_cursor"}
inline sim::Json PageJson(sim::Json items, const std::optional<std::string>& next_cursor) {
  sim::Json page;
  page["count"] = items.size();
  page["items"] = std::move(items);
  page["next_cursor"] = ToJson(next_cursor);
  return page;
}

// A service by the argument `service`, a record, or by `service_id`.
struct ServiceChoice {
  std::optional<studio::ServiceRecord> record;
  std::string service_id;
};
absl::StatusOr<ServiceChoice> ReadServiceChoice(sim::ArgumentReader& reader);
// The record, read from the registry unless it was given.
base::Task<absl::StatusOr<studio::ServiceRecord>> Chosen(StudioParts& parts,
                                                         const ServiceChoice& choice);

// The operations of the search index.
void AddSearchOperations(sim::OperationTable& table);

}  // namespace redouble::scenarios

#endif  // REDOUBLE_SCENARIOS_OPERATIONS_STUDIO_PERFORM_H_
