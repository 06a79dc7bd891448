// Authorizer: decides whether a request may pass, and computes the limits to report to the client.
//
// It identifies the service and the application, reads limits and counters, and runs the validators
// of the endpoint until one rejects. The result is an Authorization. Usage reports, limit headers
// and keys need more reads and have functions of their own. The Authorizer writes nothing, except
// with check_and_report_atomically; listener.h enqueues reports and notifications.
//
//   Authorizer authorizer(process);
//   absl::StatusOr<std::string> provider_key = co_await authorizer.FindProviderKey(request);
//   absl::StatusOr<Authorization> authorization =
//       co_await authorizer.Authorize(Endpoint::kAuthrep, *provider_key, request);
//   if (authorization->authorized()) ...                       // 200
//   else Respond(409, authorization->rejection->message);      // "usage limits are exceeded"
//
// Counters are read at the time of the process. A report that is processed in a later period counts
// in that period (H23). Requests between the check and the report see the old counters, so that
// several concurrent requests can pass a limit of 1 (H10). Hardening::check_and_report_atomically
// removes both.
//
// Errors of every operation: those that it names (errors.h), and those of Redis.
//
// Thread-safety: as Store.
// Source: docs/systems/threescale.md 4.11 to 4.14, H10, H23.
#ifndef REDOUBLE_CORE_THREESCALE_AUTHORIZE_AUTHORIZER_H_
#define REDOUBLE_CORE_THREESCALE_AUTHORIZE_AUTHORIZER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/threescale/authorize/auth_request.h"
#include "redouble/core/threescale/errors.h"
#include "redouble/core/threescale/hardening.h"
#include "redouble/core/threescale/model/application.h"
#include "redouble/core/threescale/model/metric.h"
#include "redouble/core/threescale/model/referrer.h"
#include "redouble/core/threescale/model/service.h"
#include "redouble/core/threescale/model/usage.h"
#include "redouble/core/threescale/model/usage_limit.h"
#include "redouble/core/threescale/process.h"
#include "redouble/core/threescale/text/integer.h"
#include "redouble/core/threescale/text/periods.h"

namespace redouble::inline v0_1::threescale {

// The reason of a rejection.
struct Rejection {
  ErrorCode code;
  std::string message;
};

// A limit of the application's plan, and the value of its counter.
struct LimitState {
  UsageLimit limit;
  Integer current = 0;
  std::optional<std::string> metric_name;  // Nullopt if the metric has no name.
};

struct Authorization {
  Service service;
  Application application;
  Endpoint endpoint = Endpoint::kAuthorize;
  // The usage of the request: reported by authrep, only checked by authorize.
  std::optional<Usage> usage;
  Extensions extensions;
  std::vector<LimitState> limits;
  absl::Time time;
  std::optional<Rejection> rejection;
  // Whether the parameter redirect_uri was checked instead of redirect_url. The checks before that
  // of redirections do not look at it.
  bool uses_redirect_uri = false;
  // The usage was counted already (Hardening::check_and_report_atomically).
  bool counted = false;

  bool authorized() const { return !rejection.has_value(); }
  int http_status() const { return authorized() ? 200 : 409; }
};

// The report about one limit.
struct UsageReport {
  std::string metric_name;
  Period period;
  Integer max_value = 0;
  // The counter; for an authorized authrep plus the usage of the request.
  Integer current_value = 0;
  // The counter exceeded the limit before the request.
  bool exceeded = false;
};

// The limit headers; -1: no limit, or no end of the period.
struct LimitHeaders {
  Integer remaining = -1;  // The number of further identical requests.
  int64_t reset_seconds = -1;
  std::optional<Integer> max_value;
};

// The metric names of the usage reports, each with the names of its children.
using HierarchyReport = std::vector<std::pair<std::string, MetricNames>>;

struct AuthorizerOptions {
  ReferrerMatch referrer_match = ReferrerMatch::kWhole;
  Hardening hardening = {};
};

class Authorizer {
 public:
  // The greatest number of keys that AppKeys returns.
  static constexpr size_t kMostListedKeys = 256;

  explicit Authorizer(const Process& process, AuthorizerOptions options = {})
      : process_(process), options_(options) {}

  // Returns the provider key of a normalized request: its own, or that of its service token. Up to
  // two round trips. Errors: ProviderKeyOrServiceTokenRequired, ServiceIdMissing,
  // ServiceTokenInvalid.
  base::Task<absl::StatusOr<std::string>> FindProviderKey(const AuthRequest& request);

  // Decides about a normalized request. Errors: those of ServiceStore::LoadWithProviderKey;
  // ApplicationNotFound, AuthenticationError, UserKeyInvalid; MetricInvalid and UsageValueInvalid
  // for the usage, which only the last validator reads. Round trips: service 2, application 1 (2 by
  // user key), limits 2, counters and names 1 each, and those of the validators.
  // Source: docs/systems/threescale.md 4.11, 4.12.
  base::Task<absl::StatusOr<Authorization>> Authorize(Endpoint endpoint,
                                                      std::string_view provider_key,
                                                      const AuthRequest& request);

  // Returns the reports in the order of the limits, without those whose metric has no name. Reads
  // the hierarchy for an authorized authrep with usage.
  // Source: docs/systems/threescale.md 4.14.
  base::Task<absl::StatusOr<std::vector<UsageReport>>> UsageReports(
      const Authorization& authorization);

  // Returns the limit with the fewest remaining requests, among the metrics of the usage and their
  // ancestors, or among all limits without a usage. On equal numbers the longer period wins. Call
  // it only for requests that are authorized or rejected for their limits.
  // Source: docs/systems/threescale.md 4.14.
  base::Task<absl::StatusOr<LimitHeaders>> FindLimitHeaders(const Authorization& authorization);

  // Returns an entry for each of `reports`, for the extension hierarchy.
  base::Task<absl::StatusOr<HierarchyReport>> FindHierarchy(
      const Authorization& authorization, const std::vector<UsageReport>& reports);

  // Returns the application's keys in the order of Redis. OAuth endpoints report the first one; the
  // extension list_app_keys reports all.
  base::Task<absl::StatusOr<std::vector<std::string>>> AppKeys(const Authorization& authorization);

 private:
  enum class Check : uint8_t;
  using MaybeRejection = std::optional<Rejection>;
  struct Descents;

  base::Task<absl::StatusOr<Application>> FindApplication(Endpoint endpoint, const Service& service,
                                                          const AuthRequest& request);
  base::Task<absl::StatusOr<std::vector<UsageLimit>>> LoadLimits(const Application& application,
                                                                 const AuthRequest& request);
  base::Task<absl::StatusOr<std::vector<UsageLimit>>> LoadLimitsOf(const Application& application,
                                                                   const Usage& usage);
  base::Task<absl::StatusOr<std::vector<LimitState>>> LoadStates(const Application& application,
                                                                 std::vector<UsageLimit> limits);
  base::Task<absl::StatusOr<MaybeRejection>> Run(Check check, Authorization& authorization,
                                                 const AuthRequest& request);
  base::Task<absl::StatusOr<MaybeRejection>> CheckKey(const Authorization& authorization,
                                                      std::optional<std::string_view> app_key);
  base::Task<absl::StatusOr<MaybeRejection>> CheckOauthKey(const Authorization& authorization,
                                                           std::optional<std::string_view> app_key);
  base::Task<absl::StatusOr<MaybeRejection>> CheckReferrer(
      const Authorization& authorization, std::optional<std::string_view> referrer);
  base::Task<absl::StatusOr<MaybeRejection>> CheckLimits(Authorization& authorization,
                                                         const AuthRequest& request);
  base::Task<absl::StatusOr<MetricNames>> FindDescendants(const Authorization& authorization,
                                                          std::string_view metric_name,
                                                          Descents& descents);
  base::Task<absl::StatusOr<Integer>> AddDescendants(const Authorization& authorization,
                                                     std::string_view metric_name, Integer value,
                                                     Descents& descents);
  // `names`: only of these metrics; nullptr: of all.
  base::Task<absl::StatusOr<std::vector<UsageReport>>> Reports(
      const Authorization& authorization, const std::vector<std::string>* names,
      Descents& descents);
  base::Task<absl::StatusOr<Integer>> RemainingCalls(const Authorization& authorization,
                                                     const UsageReport& report, Descents& descents);

  Process process_;
  AuthorizerOptions options_;
};

}  // namespace redouble::inline v0_1::threescale

#endif  // REDOUBLE_CORE_THREESCALE_AUTHORIZE_AUTHORIZER_H_
