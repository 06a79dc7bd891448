// 3scale's key families, and the builders of their keys.
//
// The documented system accepts any id. Slashes, colons and braces appear in keys unchanged, so
// that unusual ids can give two keys the same text; the families declare these overlaps, and no
// builder refuses an id. Most keys are encoded as a whole: each space is replaced by `+`. Usage
// counters are written without encoding and read with it, so that limits and alerts never see the
// usage of an application with a space in its id (hazard H25).
//
//   const threescale::Keys keys;
//   keys.Application({"2", "my app"}, ApplicationAttribute::kState)
//       // "application/service_id:2/id:my+app/state"
//   keys.Counter({.service_id = "2", .application_id = "my app", .metric_id = "6"}, "day:20250423")
//       // "stats/{service:2}/cinstance:my app/metric:6/day:20250423"
//
// In the cluster layout the service is the hash tag, as it is in the documented keys of statistics:
// "application/{service:2}/id:my+app/state". Events are one tag, and the notifications for the
// master service are divided into shards by provider. A space in the id of a service is encoded in
// all keys, so that all keys of a service have one tag.
//
// Thread-safety: constant data and pure functions; a Keys is a plain value.
// Source: docs/systems/threescale.md 1, 1.1, 1.2, 1.4, H25.
#ifndef REDOUBLE_CORE_THREESCALE_KEYS_H_
#define REDOUBLE_CORE_THREESCALE_KEYS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "absl/time/time.h"
#include "redouble/core/store/keyspace/key_family.h"
#include "redouble/core/store/keyspace/key_layout.h"
#include "redouble/core/threescale/text/periods.h"

namespace redouble::inline v0_1::threescale {

// All families, in the order of the documentation and with the same ids in both layouts.
std::span<const store::KeyFamily> KeyFamilies(
    store::KeyLayout layout = store::KeyLayout::kDocumented);

// The number of lists of notifications in the cluster layout.
inline constexpr int kNotifyShards = 64;

// Returns `text` with each space replaced by `+`.
std::string Encode(std::string text);

// References to objects whose ids are unique only within a service. The views must outlive the task
// that takes them.
struct ApplicationRef {
  std::string_view service_id;
  std::string_view id;
};
struct MetricRef {
  std::string_view service_id;
  std::string_view id;
};
struct PlanRef {
  std::string_view service_id;
  std::string_view id;  // Empty for an application without a plan.
};

struct ServiceTokenRef {
  std::string_view token;
  std::string_view service_id;
};
struct UserKeyRef {
  std::string_view service_id;
  std::string_view user_key;
};
struct MetricNameRef {
  std::string_view service_id;
  std::string_view name;
};

enum class ServiceAttribute : uint8_t {
  kState,
  kReferrerFiltersRequired,
  kBackendVersion,
  kProviderKey
};
enum class ApplicationAttribute : uint8_t { kState, kPlanId, kPlanName, kRedirectUrl };

// What a usage counter counts: one metric or one response code, for the whole service or for one of
// its applications.
struct CounterSubject {
  std::string_view service_id;
  std::optional<std::string_view> application_id = std::nullopt;
  std::string_view metric_id = {};      // Set either this
  std::string_view response_code = {};  // or this.
};

// Builds the keys of one layout. Process holds the one that the classes of the package use.
class Keys {
 public:
  explicit Keys(store::KeyLayout layout = store::KeyLayout::kDocumented) : layout_(layout) {}

  store::KeyLayout layout() const { return layout_; }

  // Keys of services and their tokens; encoded.
  std::string_view ServicesSet() const { return "services_set"; }
  std::string_view ProviderKeysSet() const { return "provider_keys_set"; }
  std::string Service(std::string_view service_id, ServiceAttribute attribute) const;
  std::string ProviderServiceIds(std::string_view provider_key) const;
  std::string ProviderDefaultService(std::string_view provider_key) const;
  std::string ServiceApplications(std::string_view service_id) const;
  std::string ServiceToken(const ServiceTokenRef& token) const;

  // Keys of applications; encoded.
  std::string Application(const ApplicationRef& application, ApplicationAttribute attribute) const;
  std::string ApplicationKeys(const ApplicationRef& application) const;
  std::string ReferrerFilters(const ApplicationRef& application) const;
  std::string UserKey(const UserKeyRef& user_key) const;

  // Keys of metrics and usage limits; encoded.
  std::string MetricId(const MetricNameRef& metric) const;
  std::string MetricName(const MetricRef& metric) const;
  std::string MetricParent(const MetricRef& metric) const;
  std::string MetricIds(std::string_view service_id) const;
  std::string UsageLimit(const PlanRef& plan, std::string_view metric_id, Granularity period) const;

  // Returns the counter of a period, whose last segment is Period::KeySegment. Not encoded, as
  // reports write it; limits and alerts read Encode() of it.
  std::string Counter(const CounterSubject& subject, std::string_view period_segment) const;
  // Returns the set of the applications that ever had traffic. The key is not encoded, its members
  // are.
  std::string TrafficApplications(std::string_view service_id) const;
  // Not encoded. `now` is the time of processing.
  std::string DailyTraffic(const ApplicationRef& application, absl::Time now) const;

  // Not encoded. Only Hardening::count_jobs_once has this key.
  std::string CountedJob(std::string_view service_id, std::string_view job_id) const;

  // Keys of events, alerts, notifications, errors and the deletion of statistics; not encoded.
  std::string_view EventsId() const;
  std::string_view EventsQueue() const;
  std::string_view EventsPing() const;
  std::string_view AlertsCurrentId() const;
  // The provider selects the shard.
  std::string NotifyBatch(std::string_view provider_key) const;
  std::string_view ServicesToClean() const { return "set_with_services_marked_for_deletion"; }
  std::string AllowedAlerts(std::string_view service_id) const;
  std::string AlreadyNotified(const ApplicationRef& application, int level) const;
  std::string Errors(std::string_view service_id) const;

  // Returns the id of a service as it stands in the tags of this layout.
  std::string TagOf(std::string_view service_id) const;

 private:
  std::string_view InLayout(std::string_view documented, std::string_view cluster) const;

  store::KeyLayout layout_;
};

// The TTLs of the families that have one, as in their rows.
absl::Duration MinuteCounterTtl();    // 180 s from the last write.
absl::Duration DailyTrafficTtl();     // 2 days.
absl::Duration CountedJobTtl();       // 2 days from the last slice.
absl::Duration AlreadyNotifiedTtl();  // 1 day.
absl::Duration EventsPingTtl();       // 60 s.

}  // namespace redouble::inline v0_1::threescale

#endif  // REDOUBLE_CORE_THREESCALE_KEYS_H_
