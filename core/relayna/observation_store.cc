#include "core/relayna/observation_store.h"

#include <utility>

#include "core/python/json.h"
#include "core/python/text.h"
#include "core/relayna/history.h"
#include "core/relayna/tokens.h"

namespace redouble::relayna {
namespace {

using python::Object;
using python::Value;
using Foreign = python::PyJsonOptions::Foreign;

// The form that is stored and hashed: the fields, the trace, the class.
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
    : store_(store), options_(std::move(options)), keys_(options_.prefix) {}

absl::StatusOr<std::optional<Append>> ObservationStore::AppendOf(
    const Observation& observation, const std::optional<TraceContext>& trace) const {
  const Value normalized = Normalized(observation, trace);
  const absl::StatusOr<std::optional<std::string>> task_id =
      python::NormalizedText(normalized.Find("task_id"));
  if (!task_id.ok()) return task_id.status();
  if (!*task_id) return std::nullopt;
  absl::StatusOr<std::string> payload =
      python::PyJson(normalized, {.date_times = Foreign::kIsoOrText});
  if (!payload.ok()) return payload.status();
  const absl::StatusOr<std::string> token = ObservationToken(normalized);
  if (!token.ok()) return token.status();
  return Append{.marker = keys_.Event({**task_id, *token}),
                .list = keys_.History(**task_id),
                .payload = *std::move(payload),
                .maxlen = options_.history_maxlen,
                .ttl_seconds = options_.ttl_seconds};
}

base::Task<absl::StatusOr<bool>> ObservationStore::SetEvent(const Observation& observation,
                                                            std::optional<TraceContext> trace) {
  const absl::StatusOr<std::optional<Append>> append = AppendOf(observation, trace);
  if (!append.ok()) co_return append.status();
  if (!append->has_value()) co_return false;
  if (options_.atomic_events) {
    std::vector<Append> appends = {**append};
    if (options_.feed != nullptr) {
      absl::StatusOr<std::optional<Append>> item = options_.feed->ObservationAppend(observation);
      if (!item.ok()) co_return item.status();
      if (*item) appends.push_back(**std::move(item));
    }
    co_return co_await AppendOnceAtomically(store_, appends);
  }
  const absl::StatusOr<bool> is_new = co_await AppendOnce(store_, **append);
  if (!is_new.ok() || !*is_new || options_.feed == nullptr) co_return is_new;
  const absl::StatusOr<bool> fed = co_await options_.feed->AddObservation(observation);
  if (!fed.ok()) co_return fed.status();
  co_return true;
}

base::Task<absl::StatusOr<std::vector<Value>>> ObservationStore::GetHistory(
    std::string_view task_id, std::optional<int64_t> limit) {
  return ReadHistory(store_, keys_.History(task_id), limit.value_or(options_.history_maxlen));
}

}  // namespace redouble::relayna
