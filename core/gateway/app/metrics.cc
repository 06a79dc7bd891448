#include "redouble/core/gateway/app/metrics.h"

#include <string_view>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/text/string_bridge.h"
#include "redouble/core/gateway/rust_float.h"

namespace redouble::inline v0_1::gateway {
namespace {

using base::ToAbsl;

// The labels, in the order of the enumerators.
constexpr std::array<std::string_view, AdmissionMetrics::kOutcomes> kOutcomeNames = {
    "admitted", "rate_limit_exceeded", "token_rate_limit_exceeded", "budget_exceeded",
    "control_state_unavailable"};
constexpr std::array<std::string_view, AdmissionMetrics::kActions> kActionNames = {
    "none", "reconciled", "spend_added", "released"};

void Begin(std::string& text, std::string_view name) {
  absl::StrAppend(&text, "# TYPE ", ToAbsl(name), " counter\n");
}

template <size_t kSize>
void AddSeries(std::string& text, std::string_view name, std::string_view label,
               const std::array<std::string_view, kSize>& values,
               const std::array<int64_t, kSize>& counts) {
  Begin(text, name);
  for (size_t i = 0; i < kSize; ++i) {
    absl::StrAppend(&text, ToAbsl(name), "{", ToAbsl(label), "=\"", ToAbsl(values[i]), "\"} ",
                    counts[i], "\n");
  }
}

void AddOne(std::string& text, std::string_view name, std::string_view value) {
  Begin(text, name);
  absl::StrAppend(&text, ToAbsl(name), " ", ToAbsl(value), "\n");
}

}  // namespace

void AdmissionMetrics::Count(const AdmissionDecision& decision) {
  ++admissions[static_cast<size_t>(decision.outcome)];
}

void AdmissionMetrics::Count(const SettlementReport& report) {
  auto& counts = report.status.ok() ? settlements : failed_settlements;
  ++counts[static_cast<size_t>(report.action)];
}

std::string MetricsText(const AdmissionMetrics& metrics) {
  std::string text;
  AddSeries(text, "gateway_admissions_total", "outcome", kOutcomeNames, metrics.admissions);
  AddSeries(text, "gateway_settlements_total", "action", kActionNames, metrics.settlements);
  AddSeries(text, "gateway_failed_settlements_total", "action", kActionNames,
            metrics.failed_settlements);
  AddOne(text, "gateway_sweeps_total", absl::StrCat(metrics.sweeps));
  AddOne(text, "gateway_failed_sweeps_total", absl::StrCat(metrics.failed_sweeps));
  AddOne(text, "gateway_released_reservations_total", absl::StrCat(metrics.released_reservations));
  AddOne(text, "gateway_released_usd_total", FormatFloatDisplay(metrics.released_usd));
  return text;
}

}  // namespace redouble::inline v0_1::gateway
