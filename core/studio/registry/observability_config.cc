#include "redouble/core/studio/registry/observability_config.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/python/model_reader.h"
#include "redouble/core/python/text.h"
#include "redouble/core/studio/registry/url.h"

namespace redouble::inline v0_1::studio {
namespace {

using base::ToAbsl;
using base::ToStd;
using python::Value;

// These labels have a value per request, so a selector with one of them would match a single
// request.
constexpr std::array<std::string_view, 4> kRefusedMetricLabels = {"task_id", "correlation_id",
                                                                  "request_id", "worker_id"};
constexpr std::string_view kDefaultQueryPath = "/api/traces/{trace_id}";

bool IsRefusedMetricLabel(std::string_view label) {
  return std::find(kRefusedMetricLabels.begin(), kRefusedMetricLabels.end(), label) !=
         kRefusedMetricLabels.end();
}

std::string RefusedLabelText(std::string_view label) {
  return absl::StrCat("metrics_config must not use high-cardinality selector label '",
                      ToAbsl(label), "'");
}

// A member with a fixed set of values; the first is the default.
template <size_t kCount>
std::string Choice(python::ModelReader& reader, std::string_view name,
                   const std::array<std::string_view, kCount>& choices) {
  std::string text = reader.StringOr(name, choices.front());
  if (std::find(choices.begin(), choices.end(), text) == choices.end()) {
    reader.Refuse(name, absl::StrCat("Input should be '", ToAbsl(choices.front()), "'"));
  }
  return text;
}

std::string Url(python::ModelReader& reader, std::string_view name, const std::string& text) {
  absl::StatusOr<std::string> url = NormalizeBaseUrl(text);
  if (url.ok()) return *std::move(url);
  reader.Refuse(name, ToStd(url.status().message()));
  return "";
}

// Requires at least one label, and no blank ones. The original does not validate the default of a
// missing member, which is no label.
Value SelectorLabels(python::ModelReader& reader, bool for_metrics) {
  constexpr std::string_view kName = "service_selector_labels";
  const Value* given = reader.FindGiven(kName);
  python::Object labels;
  if (given == nullptr) return Value(labels);
  if (given->object() == nullptr) {
    reader.Refuse(kName, "service_selector_labels must not be empty");
    return Value(labels);
  }
  for (const auto& [name, value] : given->object()->members()) {
    const std::string_view label = python::Strip(name);
    const std::string_view text =
        value.text() == nullptr ? std::string_view() : python::Strip(*value.text());
    if (label.empty() || text.empty()) {
      reader.Refuse(kName, "service_selector_labels must contain non-empty string keys and values");
    } else if (for_metrics && IsRefusedMetricLabel(label)) {
      reader.Refuse(kName, RefusedLabelText(label));
    }
    labels.Set(label, Value(text));
  }
  if (labels.empty()) reader.Refuse(kName, "service_selector_labels must not be empty");
  return Value(std::move(labels));
}

std::string MetricLabel(python::ModelReader& reader, std::string_view name,
                        std::string_view otherwise) {
  std::string label = reader.FindGiven(name) == nullptr && !otherwise.empty()
                          ? std::string(otherwise)
                          : reader.StrippedString(name);
  if (IsRefusedMetricLabel(label)) reader.Refuse(name, RefusedLabelText(label));
  return label;
}

int64_t Bounded(python::ModelReader& reader, std::string_view name, int64_t otherwise,
                int64_t least) {
  constexpr int64_t kMaxSeconds = 3600;
  const int64_t seconds = reader.IntegerOr(name, otherwise);
  if (seconds < least || seconds > kMaxSeconds) {
    reader.Refuse(name, absl::StrCat("Input should be from ", least, " to ", kMaxSeconds));
  }
  return seconds;
}

absl::StatusOr<Value> Finish(const python::ModelReader& reader, Value value) {
  REDOUBLE_RETURN_IF_ERROR(reader.status());
  return value;
}

}  // namespace

absl::StatusOr<Value> ReadLogConfig(const Value& value) {
  python::ModelReader reader(value, "LokiLogConfig");
  const std::string url = Url(reader, "base_url", reader.String("base_url"));
  Value config(python::Object{
      {"provider", Choice(reader, "provider", std::array<std::string_view, 1>{"loki"})},
      {"base_url", url},
      {"tenant_id", reader.OptionalStrippedString("tenant_id")},
      {"service_selector_labels", SelectorLabels(reader, /*for_metrics=*/false)},
      {"source_label", reader.OptionalStrippedString("source_label")},
      {"task_id_label", reader.OptionalStrippedString("task_id_label")},
      {"correlation_id_label", reader.OptionalStrippedString("correlation_id_label")},
      {"level_label", reader.OptionalStrippedString("level_label")},
      {"task_match_mode", Choice(reader, "task_match_mode",
                                 std::array<std::string_view, 3>{"label", "contains", "regex"})},
      {"task_match_template", reader.OptionalStrippedString("task_match_template")}});
  return Finish(reader, std::move(config));
}

absl::StatusOr<Value> ReadMetricsConfig(const Value& value) {
  constexpr int64_t kDefaultStepSeconds = 30;
  constexpr int64_t kMinStepSeconds = 5;
  constexpr int64_t kDefaultPaddingSeconds = 120;
  python::ModelReader reader(value, "PrometheusMetricsConfig");
  const std::string url = Url(reader, "base_url", reader.String("base_url"));
  Value config(python::Object{
      {"provider", Choice(reader, "provider", std::array<std::string_view, 1>{"prometheus"})},
      {"base_url", url},
      {"namespace", MetricLabel(reader, "namespace", "")},
      {"service_selector_labels", SelectorLabels(reader, /*for_metrics=*/true)},
      {"runtime_service_label_value", reader.OptionalStrippedString("runtime_service_label_value")},
      {"namespace_label", MetricLabel(reader, "namespace_label", "namespace")},
      {"pod_label", MetricLabel(reader, "pod_label", "pod")},
      {"container_label", MetricLabel(reader, "container_label", "container")},
      {"step_seconds", Bounded(reader, "step_seconds", kDefaultStepSeconds, kMinStepSeconds)},
      {"task_window_padding_seconds",
       Bounded(reader, "task_window_padding_seconds", kDefaultPaddingSeconds, 0)}});
  return Finish(reader, std::move(config));
}

absl::StatusOr<Value> ReadTraceConfig(const Value& value) {
  python::ModelReader reader(value, "TempoTraceConfig");
  const std::string url = Url(reader, "base_url", reader.String("base_url"));
  std::optional<std::string> public_url = reader.OptionalStrippedString("public_base_url");
  if (public_url) public_url = Url(reader, "public_base_url", *public_url);
  std::string path(python::Strip(reader.StringOr("query_path", kDefaultQueryPath)));
  if (path.empty()) path = kDefaultQueryPath;
  if (path.find("{trace_id}") == std::string::npos) {
    reader.Refuse("query_path", "query_path must contain {trace_id}");
  }
  if (!path.starts_with('/')) path.insert(0, "/");
  Value config(python::Object{
      {"provider", Choice(reader, "provider", std::array<std::string_view, 1>{"tempo"})},
      {"base_url", url},
      {"public_base_url", public_url},
      {"tenant_id", reader.OptionalStrippedString("tenant_id")},
      {"query_path", path}});
  return Finish(reader, std::move(config));
}

}  // namespace redouble::inline v0_1::studio
