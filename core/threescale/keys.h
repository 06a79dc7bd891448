// 3scale's key families, and the functions that build their keys.
//
// The documented system accepts any id. Slashes, colons and braces appear in keys unchanged, so
// that unusual ids can give two keys the same text; the families declare these overlaps, and no
// builder refuses an id. Most keys are encoded as a whole: each space is replaced by `+`. Usage
// counters are written without encoding and read with it, so that limits and alerts never see the
// usage of an application with a space in its id (hazard H25).
//
//   ApplicationKey({"2", "my app"}, ApplicationAttribute::kState)
//       // "application/service_id:2/id:my+app/state"
//   CounterKey({.service_id = "2", .application_id = "my app", .metric_id = "6"}, "day:20250423")
//       // "stats/{service:2}/cinstance:my app/metric:6/day:20250423"
//
// Thread-safety: constant data and pure functions.
// Source: docs/systems/threescale.md 1, 1.1, 1.2, H25.
#ifndef REDOUBLE_CORE_THREESCALE_KEYS_H_
#define REDOUBLE_CORE_THREESCALE_KEYS_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "absl/time/time.h"
#include "redouble/core/store/keyspace/key_family.h"
#include "redouble/core/threescale/text/periods.h"

namespace redouble::threescale {

// All families, in the order of the documentation.
std::span<const store::KeyFamily> KeyFamilies();

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

// Keys of services and their tokens; encoded.
enum class ServiceAttribute : uint8_t {
  kState,
  kReferrerFiltersRequired,
  kBackendVersion,
  kProviderKey
};
inline constexpr std::string_view kServicesSetKey = "services_set";
inline constexpr std::string_view kProviderKeysSetKey = "provider_keys_set";
std::string ServiceKey(std::string_view service_id, ServiceAttribute attribute);
std::string ProviderServiceIdsKey(std::string_view provider_key);
std::string ProviderDefaultServiceKey(std::string_view provider_key);
std::string ServiceApplicationsKey(std::string_view service_id);
struct ServiceTokenRef {
  std::string_view token;
  std::string_view service_id;
};
std::string ServiceTokenKey(const ServiceTokenRef& token);

// Keys of applications; encoded.
enum class ApplicationAttribute : uint8_t { kState, kPlanId, kPlanName, kRedirectUrl };
std::string ApplicationKey(const ApplicationRef& application, ApplicationAttribute attribute);
std::string ApplicationKeysKey(const ApplicationRef& application);
std::string ReferrerFiltersKey(const ApplicationRef& application);
struct UserKeyRef {
  std::string_view service_id;
  std::string_view user_key;
};
std::string UserKeyKey(const UserKeyRef& user_key);

// Keys of metrics and usage limits; encoded.
struct MetricNameRef {
  std::string_view service_id;
  std::string_view name;
};
std::string MetricIdKey(const MetricNameRef& metric);
std::string MetricNameKey(const MetricRef& metric);
std::string MetricParentKey(const MetricRef& metric);
std::string MetricIdsKey(std::string_view service_id);
std::string UsageLimitKey(const PlanRef& plan, std::string_view metric_id, Granularity period);

// What a usage counter counts: one metric or one response code, for the whole service or for one of
// its applications.
struct CounterSubject {
  std::string_view service_id;
  std::optional<std::string_view> application_id = std::nullopt;
  std::string_view metric_id = {};      // Set either this
  std::string_view response_code = {};  // or this.
};
// Returns the counter of a period, whose last segment is Period::KeySegment. Not encoded, as
// reports write it; limits and alerts read Encode() of it.
std::string CounterKey(const CounterSubject& subject, std::string_view period_segment);
// Returns the set of the applications that ever had traffic. The key is not encoded, its members
// are.
std::string TrafficApplicationsKey(std::string_view service_id);
// Not encoded. `now` is the time of processing.
std::string DailyTrafficKey(const ApplicationRef& application, absl::Time now);

// Keys of events, alerts, notifications, errors and the deletion of statistics; not encoded.
inline constexpr std::string_view kEventsIdKey = "events/id";
inline constexpr std::string_view kEventsQueueKey = "events/queue";
inline constexpr std::string_view kEventsPingKey = "events/ping";
inline constexpr std::string_view kAlertsCurrentIdKey = "alerts/current_id";
inline constexpr std::string_view kNotifyBatchKey = "notify/aggregator/batch";
inline constexpr std::string_view kServicesToCleanKey = "set_with_services_marked_for_deletion";
std::string AllowedAlertsKey(std::string_view service_id);
std::string AlreadyNotifiedKey(const ApplicationRef& application, int level);
std::string ErrorsKey(std::string_view service_id);

// The TTLs of the families that have one, as in their rows.
absl::Duration MinuteCounterTtl();    // 180 s from the last write.
absl::Duration DailyTrafficTtl();     // 2 days.
absl::Duration AlreadyNotifiedTtl();  // 1 day.
absl::Duration EventsPingTtl();       // 60 s.

}  // namespace redouble::threescale

#endif  // REDOUBLE_CORE_THREESCALE_KEYS_H_
