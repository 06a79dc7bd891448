#include "redouble/core/threescale/keys.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdlib>
#include <utility>

#include "redouble/core/base/hash/crc.h"
#include "redouble/core/base/time/utc.h"
#include "redouble/core/store/keyspace/key_pattern.h"
#include "redouble/core/threescale/key_table.h"

namespace redouble::inline v0_1::threescale {
namespace {

using store::KeyFamily;
using store::KeyLayout;
using store::KeyPattern;

// The index of a family in KeyTable.
size_t RowOf(std::string_view id) {
  const std::span<const KeyFamily> families = KeyFamilies();
  const auto family = std::find_if(families.begin(), families.end(),
                                   [id](const KeyFamily& row) { return row.id == id; });
  if (family == families.end()) std::abort();
  return static_cast<size_t>(family - families.begin());
}

const KeyFamily& FamilyOf(std::string_view id) { return KeyFamilies()[RowOf(id)]; }

// The patterns of one family.
class Patterns {
 public:
  explicit Patterns(std::string_view id) : row_(RowOf(id)) {}

  const KeyPattern& In(KeyLayout layout) const { return KeyTable().pattern(layout, row_); }

 private:
  size_t row_;
};

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

std::string_view Keys::InLayout(std::string_view documented, std::string_view cluster) const {
  return layout_ == KeyLayout::kCluster ? cluster : documented;
}

// Encoded keys and keys that are not encoded must have the same tag, also for an id with a space.
std::string Keys::TagOf(std::string_view service_id) const {
  std::string id(service_id);
  return layout_ == KeyLayout::kCluster ? Encode(std::move(id)) : id;
}

std::string Keys::Service(std::string_view service_id, ServiceAttribute attribute) const {
  static const std::array<Patterns, 4> patterns = {
      Patterns("threescale.service_state"),
      Patterns("threescale.service_referrer_filters_required"),
      Patterns("threescale.service_backend_version"), Patterns("threescale.service_provider_key")};
  return BuildEncoded(patterns[static_cast<size_t>(attribute)].In(layout_), service_id);
}

std::string Keys::ProviderServiceIds(std::string_view provider_key) const {
  static const Patterns patterns("threescale.provider_service_ids");
  return BuildEncoded(patterns.In(layout_), provider_key);
}

std::string Keys::ProviderDefaultService(std::string_view provider_key) const {
  static const Patterns patterns("threescale.provider_default_service");
  return BuildEncoded(patterns.In(layout_), provider_key);
}

std::string Keys::ServiceApplications(std::string_view service_id) const {
  static const Patterns patterns("threescale.service_applications");
  return BuildEncoded(patterns.In(layout_), service_id);
}

std::string Keys::ServiceToken(const ServiceTokenRef& token) const {
  static const Patterns patterns("threescale.service_token");
  if (layout_ == KeyLayout::kCluster) {
    return BuildEncoded(patterns.In(layout_), token.service_id, token.token);
  }
  return BuildEncoded(patterns.In(layout_), token.token, token.service_id);
}

std::string Keys::Application(const ApplicationRef& application,
                              ApplicationAttribute attribute) const {
  static const std::array<Patterns, 4> patterns = {Patterns("threescale.application_state"),
                                                   Patterns("threescale.application_plan_id"),
                                                   Patterns("threescale.application_plan_name"),
                                                   Patterns("threescale.application_redirect_url")};
  return BuildEncoded(patterns[static_cast<size_t>(attribute)].In(layout_), application.service_id,
                      application.id);
}

std::string Keys::ApplicationKeys(const ApplicationRef& application) const {
  static const Patterns patterns("threescale.application_keys");
  return BuildEncoded(patterns.In(layout_), application.service_id, application.id);
}

std::string Keys::ReferrerFilters(const ApplicationRef& application) const {
  static const Patterns patterns("threescale.application_referrer_filters");
  return BuildEncoded(patterns.In(layout_), application.service_id, application.id);
}

std::string Keys::UserKey(const UserKeyRef& user_key) const {
  static const Patterns patterns("threescale.application_user_key");
  return BuildEncoded(patterns.In(layout_), user_key.service_id, user_key.user_key);
}

std::string Keys::MetricId(const MetricNameRef& metric) const {
  static const Patterns patterns("threescale.metric_id");
  return BuildEncoded(patterns.In(layout_), metric.service_id, metric.name);
}

std::string Keys::MetricName(const MetricRef& metric) const {
  static const Patterns patterns("threescale.metric_name");
  return BuildEncoded(patterns.In(layout_), metric.service_id, metric.id);
}

std::string Keys::MetricParent(const MetricRef& metric) const {
  static const Patterns patterns("threescale.metric_parent");
  return BuildEncoded(patterns.In(layout_), metric.service_id, metric.id);
}

std::string Keys::MetricIds(std::string_view service_id) const {
  static const Patterns patterns("threescale.metric_ids");
  return BuildEncoded(patterns.In(layout_), service_id);
}

std::string Keys::UsageLimit(const PlanRef& plan, std::string_view metric_id,
                             Granularity period) const {
  static const Patterns patterns("threescale.usage_limit");
  return BuildEncoded(patterns.In(layout_), plan.service_id, plan.id, metric_id,
                      GranularityName(period));
}

std::string Keys::Counter(const CounterSubject& subject, std::string_view period_segment) const {
  // The patterns of the eternity counters without that word. The keys of the other periods have the
  // same prefix.
  static const std::array<Patterns, 4> patterns = {
      Patterns("threescale.stats_metric_eternity"),
      Patterns("threescale.stats_response_code_eternity"),
      Patterns("threescale.stats_cinstance_metric_eternity"),
      Patterns("threescale.stats_cinstance_response_code_eternity")};
  const bool counts_code = !subject.response_code.empty();
  const std::string_view id = counts_code ? subject.response_code : subject.metric_id;
  const KeyPattern& pattern =
      patterns[(subject.application_id ? 2 : 0) + (counts_code ? 1 : 0)].In(layout_);
  const std::string service = TagOf(subject.service_id);
  std::string key = subject.application_id ? Build(pattern, service, *subject.application_id, id)
                                           : Build(pattern, service, id);
  const std::string_view eternity = GranularityName(Granularity::kEternity);
  if (period_segment != eternity) {
    key.replace(key.size() - eternity.size(), eternity.size(), period_segment);
  }
  return key;
}

std::string Keys::TrafficApplications(std::string_view service_id) const {
  static const Patterns patterns("threescale.stats_cinstances");
  return Build(patterns.In(layout_), TagOf(service_id));
}

std::string Keys::DailyTraffic(const ApplicationRef& application, absl::Time now) const {
  static const Patterns patterns("threescale.daily_traffic");
  return Build(patterns.In(layout_), TagOf(application.service_id), application.id,
               base::FormatUtcDay(now));
}

std::string Keys::CountedJob(std::string_view service_id, std::string_view job_id) const {
  static const Patterns patterns("threescale.counted_job");
  return Build(patterns.In(layout_), TagOf(service_id), job_id);
}

std::string_view Keys::EventsId() const { return InLayout("events/id", "{events}/id"); }
std::string_view Keys::EventsQueue() const { return InLayout("events/queue", "{events}/queue"); }
std::string_view Keys::EventsPing() const { return InLayout("events/ping", "{events}/ping"); }
std::string_view Keys::AlertsCurrentId() const {
  return InLayout("alerts/current_id", "alerts/{events}/current_id");
}

std::string Keys::NotifyBatch(std::string_view provider_key) const {
  static const Patterns patterns("threescale.notify_batch");
  if (layout_ == KeyLayout::kDocumented) return Build(patterns.In(layout_));
  return Build(patterns.In(layout_), base::KeySlot(provider_key) % kNotifyShards);
}

std::string Keys::AllowedAlerts(std::string_view service_id) const {
  static const Patterns patterns("threescale.alerts_allowed_set");
  return Build(patterns.In(layout_), TagOf(service_id));
}

std::string Keys::AlreadyNotified(const ApplicationRef& application, int level) const {
  static const Patterns patterns("threescale.alerts_already_notified");
  return Build(patterns.In(layout_), TagOf(application.service_id), application.id, level);
}

std::string Keys::Errors(std::string_view service_id) const {
  static const Patterns patterns("threescale.errors");
  return Build(patterns.In(layout_), TagOf(service_id));
}

absl::Duration MinuteCounterTtl() { return absl::Seconds(180); }
absl::Duration DailyTrafficTtl() { return *FamilyOf("threescale.daily_traffic").ttl; }
absl::Duration CountedJobTtl() { return *FamilyOf("threescale.counted_job").ttl; }
absl::Duration AlreadyNotifiedTtl() { return *FamilyOf("threescale.alerts_already_notified").ttl; }
absl::Duration EventsPingTtl() { return *FamilyOf("threescale.events_ping").ttl; }

}  // namespace redouble::inline v0_1::threescale
