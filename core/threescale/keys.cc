#include "redouble/core/threescale/keys.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdlib>
#include <utility>

#include "redouble/core/base/time/utc.h"
#include "redouble/core/store/keyspace/key_pattern.h"

namespace redouble::threescale {
namespace {

using store::KeyFamily;
using store::KeyPattern;

const KeyFamily& FamilyOf(std::string_view id) {
  const std::span<const KeyFamily> families = KeyFamilies();
  const auto family = std::find_if(families.begin(), families.end(),
                                   [id](const KeyFamily& row) { return row.id == id; });
  if (family == families.end()) std::abort();
  return *family;
}

// A pattern that lives as long as the program.
const KeyPattern& PatternOf(std::string_view id) {
  const KeyFamily& family = FamilyOf(id);
  return *new KeyPattern(KeyPattern::MustCompile(family.pattern, family.id));
}

// Builds a key from values that the pattern accepts: it accepts every id, and the words and digits
// are those of this file.
template <typename... Values>
std::string Build(const KeyPattern& pattern, const Values&... values) {
  absl::StatusOr<std::string> key = pattern.Build(values...);
  assert(key.ok());
  return *std::move(key);
}

template <typename... Values>
std::string BuildEncoded(const KeyPattern& pattern, const Values&... values) {
  return Encode(Build(pattern, values...));
}

}  // namespace

std::string Encode(std::string text) {
  std::replace(text.begin(), text.end(), ' ', '+');
  return text;
}

std::string Keys::Service(std::string_view service_id, ServiceAttribute attribute) const {
  static const std::array<const KeyPattern*, 4> patterns = {
      &PatternOf("threescale.service_state"),
      &PatternOf("threescale.service_referrer_filters_required"),
      &PatternOf("threescale.service_backend_version"),
      &PatternOf("threescale.service_provider_key")};
  return BuildEncoded(*patterns[static_cast<size_t>(attribute)], service_id);
}

std::string Keys::ProviderServiceIds(std::string_view provider_key) const {
  static const KeyPattern& pattern = PatternOf("threescale.provider_service_ids");
  return BuildEncoded(pattern, provider_key);
}

std::string Keys::ProviderDefaultService(std::string_view provider_key) const {
  static const KeyPattern& pattern = PatternOf("threescale.provider_default_service");
  return BuildEncoded(pattern, provider_key);
}

std::string Keys::ServiceApplications(std::string_view service_id) const {
  static const KeyPattern& pattern = PatternOf("threescale.service_applications");
  return BuildEncoded(pattern, service_id);
}

std::string Keys::ServiceToken(const ServiceTokenRef& token) const {
  static const KeyPattern& pattern = PatternOf("threescale.service_token");
  return BuildEncoded(pattern, token.token, token.service_id);
}

std::string Keys::Application(const ApplicationRef& application,
                              ApplicationAttribute attribute) const {
  static const std::array<const KeyPattern*, 4> patterns = {
      &PatternOf("threescale.application_state"), &PatternOf("threescale.application_plan_id"),
      &PatternOf("threescale.application_plan_name"),
      &PatternOf("threescale.application_redirect_url")};
  return BuildEncoded(*patterns[static_cast<size_t>(attribute)], application.service_id,
                      application.id);
}

std::string Keys::ApplicationKeys(const ApplicationRef& application) const {
  static const KeyPattern& pattern = PatternOf("threescale.application_keys");
  return BuildEncoded(pattern, application.service_id, application.id);
}

std::string Keys::ReferrerFilters(const ApplicationRef& application) const {
  static const KeyPattern& pattern = PatternOf("threescale.application_referrer_filters");
  return BuildEncoded(pattern, application.service_id, application.id);
}

std::string Keys::UserKey(const UserKeyRef& user_key) const {
  static const KeyPattern& pattern = PatternOf("threescale.application_user_key");
  return BuildEncoded(pattern, user_key.service_id, user_key.user_key);
}

std::string Keys::MetricId(const MetricNameRef& metric) const {
  static const KeyPattern& pattern = PatternOf("threescale.metric_id");
  return BuildEncoded(pattern, metric.service_id, metric.name);
}

std::string Keys::MetricName(const MetricRef& metric) const {
  static const KeyPattern& pattern = PatternOf("threescale.metric_name");
  return BuildEncoded(pattern, metric.service_id, metric.id);
}

std::string Keys::MetricParent(const MetricRef& metric) const {
  static const KeyPattern& pattern = PatternOf("threescale.metric_parent");
  return BuildEncoded(pattern, metric.service_id, metric.id);
}

std::string Keys::MetricIds(std::string_view service_id) const {
  static const KeyPattern& pattern = PatternOf("threescale.metric_ids");
  return BuildEncoded(pattern, service_id);
}

std::string Keys::UsageLimit(const PlanRef& plan, std::string_view metric_id,
                             Granularity period) const {
  static const KeyPattern& pattern = PatternOf("threescale.usage_limit");
  return BuildEncoded(pattern, plan.service_id, plan.id, metric_id, GranularityName(period));
}

std::string Keys::Counter(const CounterSubject& subject, std::string_view period_segment) const {
  // The patterns of the eternity counters without that word. The keys of the other periods have the
  // same prefix.
  static const std::array<const KeyPattern*, 4> patterns = {
      &PatternOf("threescale.stats_metric_eternity"),
      &PatternOf("threescale.stats_response_code_eternity"),
      &PatternOf("threescale.stats_cinstance_metric_eternity"),
      &PatternOf("threescale.stats_cinstance_response_code_eternity")};
  const bool counts_code = !subject.response_code.empty();
  const std::string_view id = counts_code ? subject.response_code : subject.metric_id;
  const KeyPattern& pattern = *patterns[(subject.application_id ? 2 : 0) + (counts_code ? 1 : 0)];
  std::string key = subject.application_id
                        ? Build(pattern, subject.service_id, *subject.application_id, id)
                        : Build(pattern, subject.service_id, id);
  const std::string_view eternity = GranularityName(Granularity::kEternity);
  if (period_segment != eternity) {
    key.replace(key.size() - eternity.size(), eternity.size(), period_segment);
  }
  return key;
}

std::string Keys::TrafficApplications(std::string_view service_id) const {
  static const KeyPattern& pattern = PatternOf("threescale.stats_cinstances");
  return Build(pattern, service_id);
}

std::string Keys::DailyTraffic(const ApplicationRef& application, absl::Time now) const {
  static const KeyPattern& pattern = PatternOf("threescale.daily_traffic");
  return Build(pattern, application.service_id, application.id, base::FormatUtcDay(now));
}

std::string Keys::AllowedAlerts(std::string_view service_id) const {
  static const KeyPattern& pattern = PatternOf("threescale.alerts_allowed_set");
  return Build(pattern, service_id);
}

std::string Keys::AlreadyNotified(const ApplicationRef& application, int level) const {
  static const KeyPattern& pattern = PatternOf("threescale.alerts_already_notified");
  return Build(pattern, application.service_id, application.id, level);
}

std::string Keys::Errors(std::string_view service_id) const {
  static const KeyPattern& pattern = PatternOf("threescale.errors");
  return Build(pattern, service_id);
}

absl::Duration MinuteCounterTtl() { return absl::Seconds(180); }
absl::Duration DailyTrafficTtl() { return *FamilyOf("threescale.daily_traffic").ttl; }
absl::Duration AlreadyNotifiedTtl() { return *FamilyOf("threescale.alerts_already_notified").ttl; }
absl::Duration EventsPingTtl() { return *FamilyOf("threescale.events_ping").ttl; }

}  // namespace redouble::threescale
