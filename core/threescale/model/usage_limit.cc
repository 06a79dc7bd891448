#include "redouble/core/threescale/model/usage_limit.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/store/batch.h"
#include "redouble/core/store/typed/keys.h"
#include "redouble/core/store/typed/strings.h"
#include "redouble/core/threescale/model/metric.h"
#include "redouble/core/threescale/model/requests.h"

namespace redouble::inline v0_1::threescale {
namespace {

std::string AllKey(const PlanRef& plan) {
  return MemoizerKey("UsageLimit.load_all", plan.service_id, plan.id);
}

}  // namespace

base::Task<absl::Status> UsageLimitStore::Save(PlanRef plan, std::string_view metric_id,
                                               std::span<const UsageLimitSave> values) {
  store::Batch batch(store::Batch::Atomicity::kPipeline);
  for (const Granularity period : LimitGranularities()) {
    const auto given = std::find_if(values.begin(), values.end(),
                                    [period](const auto& value) { return value.period == period; });
    if (given == values.end()) continue;
    batch.Add(store::CommandId::kSet)
        .AddOwned(process_.keys.UsageLimit(plan, metric_id, period))
        .Add(given->value);
  }
  if (batch.empty()) co_return absl::OkStatus();
  absl::Status saved = co_await ExecuteAll(process_.store, batch);
  if (saved.ok()) Forget(plan);
  co_return saved;
}

base::Task<absl::Status> UsageLimitStore::Delete(PlanRef plan, std::string_view metric_id,
                                                 Granularity period) {
  const std::string key = process_.keys.UsageLimit(plan, metric_id, period);
  const absl::StatusOr<bool> deleted = co_await store::Del(process_.store, key);
  if (deleted.ok()) Forget(plan);
  co_return deleted.status();
}

base::Task<absl::StatusOr<std::optional<Integer>>> UsageLimitStore::LoadValue(
    PlanRef plan, std::string_view metric_id, Granularity period) {
  const std::string key = process_.keys.UsageLimit(plan, metric_id, period);
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::optional<std::string> value,
                               co_await store::Get(process_.store, key));
  if (!value.has_value()) co_return std::nullopt;
  co_return ToInteger(*value);
}

base::Task<absl::StatusOr<std::vector<UsageLimit>>> UsageLimitStore::LoadAll(PlanRef plan) {
  const auto read = [this, plan] { return ReadAll(plan); };
  co_return co_await Memoized<std::vector<UsageLimit>>(process_.memoizer, AllKey(plan), read);
}

base::Task<absl::StatusOr<std::vector<UsageLimit>>> UsageLimitStore::ReadAll(PlanRef plan) {
  MetricStore metrics(process_);
  REDOUBLE_CO_ASSIGN_OR_RETURN(std::vector<std::string> metric_ids,
                               co_await metrics.LoadIds(plan.service_id));
  co_return co_await Read(plan, std::move(metric_ids));
}

base::Task<absl::StatusOr<std::vector<UsageLimit>>> UsageLimitStore::LoadForMetrics(
    PlanRef plan, std::vector<std::string> metric_ids) {
  const std::string arguments =
      absl::StrCat(base::ToAbsl(plan.id), "-", absl::StrJoin(metric_ids, "-"));
  const auto read = [&] { return Read(plan, metric_ids); };
  co_return co_await Memoized<std::vector<UsageLimit>>(
      process_.memoizer,
      MemoizerKey("UsageLimit.load_for_affecting_metrics", plan.service_id, arguments), read);
}

base::Task<absl::StatusOr<std::vector<UsageLimit>>> UsageLimitStore::Read(
    PlanRef plan, std::vector<std::string> metric_ids) {
  std::vector<std::string> keys;
  for (const std::string& metric_id : metric_ids) {
    for (const Granularity period : LimitGranularities()) {
      keys.push_back(process_.keys.UsageLimit(plan, metric_id, period));
    }
  }
  REDOUBLE_CO_ASSIGN_OR_RETURN(const OptionalTexts values,
                               co_await GetAll(process_.store, std::move(keys)));
  const size_t periods = LimitGranularities().size();
  std::vector<UsageLimit> limits;
  for (size_t i = 0; i < values.size(); ++i) {
    const std::optional<std::string>& value = values[i];
    if (!value) continue;
    limits.push_back(
        {metric_ids[i / periods], LimitGranularities()[i % periods], ToInteger(*value)});
  }
  co_return limits;
}

void UsageLimitStore::Forget(const PlanRef& plan) {
  if (process_.memoizer != nullptr) process_.memoizer->Clear(AllKey(plan));
}

}  // namespace redouble::inline v0_1::threescale
