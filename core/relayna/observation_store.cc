#include "redouble/core/relayna/observation_store.h"

#include <utility>

#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/python/json.h"
#include "redouble/core/relayna/history.h"
#include "redouble/core/relayna/tokens.h"

namespace redouble::inline v0_1::relayna {
namespace {

using python::Object;
using python::Value;
using Foreign = python::PyJsonOptions::Foreign;

// The form that is stored and hashed: the fields, the trace and the name of the class.
Object Normalized(const Observation& observation, const std::optional<TraceContext>& trace) {
  Object object = observation.fields.value_or(Object());
  if (observation.fields && trace) {
    object.Set("trace_id", trace->trace_id);
    object.Set("span_id", trace->span_id);
  }
  object.Set("event_type", observation.class_name);
  return object;
}

}  // namespace

ObservationStore::ObservationStore(store::Store& store, ObservationOptions options)
    : store_(store), options_(std::move(options)), keys_(options_.prefix, options_.key_layout) {}

absl::StatusOr<std::optional<Append>> ObservationStore::AppendOf(
    const Observation& observation, const std::optional<TraceContext>& trace) const {
  const Value normalized = Normalized(observation, trace);
  REDOUBLE_ASSIGN_OR_RETURN(const std::optional<std::string> task_id,
                            TruthyText(normalized.Find("task_id")));
  if (!task_id) return std::nullopt;
  REDOUBLE_ASSIGN_OR_RETURN(std::string payload,
                            python::PyJson(normalized, {.date_times = Foreign::kIsoOrText}));
  REDOUBLE_ASSIGN_OR_RETURN(const std::string token, ObservationToken(normalized));
  return Append{.marker = keys_.Event({*task_id, token}),
                .list = keys_.History(*task_id),
                .payload = std::move(payload),
                .maxlen = options_.history_maxlen,
                .ttl_seconds = options_.ttl_seconds};
}

base::Task<absl::StatusOr<bool>> ObservationStore::SetEvent(const Observation& observation,
                                                            std::optional<TraceContext> trace) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::optional<Append> append, AppendOf(observation, trace));
  if (!append.has_value()) co_return false;
  if (options_.hardening.atomic_events) {
    std::vector<Append> appends = {*append};
    if (options_.feed != nullptr) {
      REDOUBLE_CO_ASSIGN_OR_RETURN(std::optional<Append> item,
                                   options_.feed->ObservationAppend(observation));
      if (item) appends.push_back(*std::move(item));
    }
    co_return co_await AppendOnceInLayout(store_, options_.key_layout, appends,
                                          /*atomically=*/true);
  }
  const absl::StatusOr<bool> is_new = co_await AppendOnce(store_, *append);
  if (!is_new.ok() || !*is_new || options_.feed == nullptr) co_return is_new;
  REDOUBLE_CO_RETURN_IF_ERROR((co_await options_.feed->AddObservation(observation)).status());
  co_return true;
}

base::Task<absl::StatusOr<std::vector<Value>>> ObservationStore::GetHistory(
    std::string_view task_id, std::optional<int64_t> limit) {
  return ReadHistory(store_, keys_.History(task_id), limit.value_or(options_.history_maxlen));
}

}  // namespace redouble::inline v0_1::relayna
