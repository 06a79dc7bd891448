#include "redouble/core/threescale/authorize/metric_usage.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/threescale/errors.h"

namespace redouble::inline v0_1::threescale {

MetricCollection::MetricCollection(const Process& process, std::string_view service_id)
    : metrics_(process), service_id_(service_id) {
  Memoizer* memoizer = process.memoizer;
  const std::string key = MemoizerKey("Metric.load_all", service_id);
  const auto* shared = memoizer == nullptr ? nullptr : memoizer->Find<std::shared_ptr<Known>>(key);
  known_ = shared == nullptr ? std::make_shared<Known>() : *shared;
  if (memoizer != nullptr && shared == nullptr) memoizer->Put(key, known_);
}

base::Task<absl::StatusOr<Usage>> MetricCollection::ProcessUsage(Usage usage,
                                                                 Propagation propagation) {
  absl::StatusOr<Usage> by_id = co_await ReplaceNames(usage);
  if (!by_id.ok() || propagation == Propagation::kNone) co_return by_id;
  std::vector<std::vector<std::string>> ancestors;
  for (const UsageEntry& entry : *by_id) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(std::vector<std::string> above,
                                 co_await AncestorsOf(entry.metric));
    ancestors.push_back(std::move(above));
  }
  co_return PropagateUsage(*by_id, ancestors);
}

base::Task<absl::StatusOr<Usage>> MetricCollection::ReplaceNames(const Usage& usage) {
  Usage by_id;
  for (const UsageEntry& entry : usage) {
    const UsageEntry named = {std::string(absl::StripAsciiWhitespace(base::ToAbsl(entry.metric))),
                              entry.value};
    REDOUBLE_CO_RETURN_IF_ERROR(CheckUsageValue(named));
    auto known = known_->ids.find(named.metric);
    if (known == known_->ids.end()) {
      const MetricNameRef name{service_id_, named.metric};
      REDOUBLE_CO_ASSIGN_OR_RETURN(std::optional<std::string> id, co_await metrics_.LoadId(name));
      if (!id.has_value()) co_return MakeError(ErrorCode::kMetricInvalid, named.metric);
      known = known_->ids.emplace(named.metric, *std::move(id)).first;
    }
    PutUsage(by_id, known->second, named.value);
  }
  co_return by_id;
}

base::Task<absl::StatusOr<std::vector<std::string>>> MetricCollection::AncestorsOf(
    std::string_view id) {
  std::vector<std::string> ancestors;
  std::string below(id);
  while (true) {
    REDOUBLE_CO_ASSIGN_OR_RETURN(std::optional<std::string> parent, co_await ParentOf(below));
    if (!parent.has_value()) co_return ancestors;
    below = *std::move(parent);
    if (below == id || std::find(ancestors.begin(), ancestors.end(), below) != ancestors.end()) {
      co_return MetricCycleError(service_id_, below);
    }
    ancestors.push_back(below);
  }
}

// Only existing parents are cached. A metric without a parent is read again.
base::Task<absl::StatusOr<std::optional<std::string>>> MetricCollection::ParentOf(
    const std::string& id) {
  if (const auto known = known_->parents.find(id); known != known_->parents.end()) {
    co_return known->second;
  }
  const MetricRef metric{service_id_, id};
  absl::StatusOr<std::optional<std::string>> parent = co_await metrics_.LoadParentId(metric);
  if (parent.ok() && parent->has_value()) known_->parents.emplace(id, **parent);
  co_return parent;
}

}  // namespace redouble::inline v0_1::threescale
