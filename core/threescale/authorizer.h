// Authorizer: whether a client's request may go through, and what it is told about its limits.
//
// Service and application are identified, limits and counters read, and the validators of the
// endpoint run in order until one rejects. The decision and what it was made from come back as an
// Authorization; what costs more reads (usage reports, limit headers, keys) is asked for
// afterwards. Nothing is written: who enqueues reports and notifies the master is listener.h.
//
//   Authorizer authorizer(process);
//   absl::StatusOr<std::string> provider_key = co_await authorizer.FindProviderKey(request);
//   absl::StatusOr<Authorization> authorization =
//       co_await authorizer.Authorize(Endpoint::kAuthrep, *provider_key, request);
//   if (authorization->authorized()) ...                       // 200
//   else Respond(409, authorization->rejection->message);      // "usage limits are exceeded"
//
// Counters are read, and usage is compared, at the time of the process; who reports later, in
// another period, is not the same. Between reading and reporting others report: N requests at once
// pass a limit of 1. See Hardening::check_and_report_atomically.
//
// Errors: those of errors.h that the steps name, and those of Redis. Thread-safety: as Store.
// Source: seed 004, reference/threescale.md 4.
#ifndef REDOUBLE_CORE_THREESCALE_AUTHORIZER_H_
#define REDOUBLE_CORE_THREESCALE_AUTHORIZER_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "core/base/task.h"
#include "core/threescale/application.h"
#include "core/threescale/auth_request.h"
#include "core/threescale/errors.h"
#include "core/threescale/hardening.h"
#include "core/threescale/integer.h"
#include "core/threescale/metric.h"
#include "core/threescale/periods.h"
#include "core/threescale/process.h"
#include "core/threescale/referrer.h"
#include "core/threescale/service.h"
#include "core/threescale/usage.h"
#include "core/threescale/usage_limit.h"

namespace redouble::threescale {

// Why a request was rejected.
struct Rejection {
  ErrorCode code;
  std::string message;
};

// A limit of the application's plan, and where its counter stood.
struct LimitState {
  UsageLimit limit;
  Integer current = 0;
  std::optional<std::string> metric_name;  // None: the metric has none (any more).
};

struct Authorization {
  Service service;
  Application application;
  Endpoint endpoint = Endpoint::kAuthorize;
  // As in the request: reported by authrep, predicted by authorize.
  std::optional<Usage> usage;
  Extensions extensions;
  std::vector<LimitState> limits;
  absl::Time time;
  std::optional<Rejection> rejection;
  // Whether the request named its redirection redirect_uri rather than redirect_url.
  bool uses_redirect_uri = false;
  // The usage has been counted already (Hardening::check_and_report_atomically).
  bool counted = false;

  bool authorized() const { return !rejection.has_value(); }
  int http_status() const { return authorized() ? 200 : 409; }
};

// What a client is told about one limit.
struct UsageReport {
  std::string metric_name;
  Period period;
  Integer max_value = 0;
  // The counter; of an authorized authrep with the usage of the request added.
  Integer current_value = 0;
  // The counter was above the limit before the request.
  bool exceeded = false;
};

// -1: without a limit, without an end.
struct LimitHeaders {
  Integer remaining = -1;  // How many requests like this one are left.
  int64_t reset_seconds = -1;
  std::optional<Integer> max_value;
};

// Names of the metrics of the usage reports, each with its children's.
using HierarchyReport = std::vector<std::pair<std::string, MetricNames>>;

struct AuthorizerOptions {
  ReferrerMatch referrer_match = ReferrerMatch::kWhole;
  Hardening hardening = {};
};

class Authorizer {
 public:
  // How many keys AppKeys gives at most.
  static constexpr size_t kMostListedKeys = 256;

  explicit Authorizer(const Process& process, AuthorizerOptions options = {})
      : process_(process), options_(options) {}

  // The provider key of a normalized request: its own, or that which its service token stands for.
  // Up to two round trips. Errors: ProviderKeyOrServiceTokenRequired, ServiceIdMissing,
  // ServiceTokenInvalid.
  base::Task<absl::StatusOr<std::string>> FindProviderKey(const AuthRequest& request);

  // Decides. Errors: those of ServiceStore::LoadWithProviderKey; ApplicationNotFound,
  // AuthenticationError, UserKeyInvalid; MetricInvalid and UsageValueInvalid for the usage, which
  // is looked at by the last validator only. `request` is a normalized one. Round trips: service 2,
  // application 1 (2 by user key), limits 2, counters and names 1 each, and those of the
  // validators.
  base::Task<absl::StatusOr<Authorization>> Authorize(Endpoint endpoint,
                                                      std::string_view provider_key,
                                                      const AuthRequest& request);

  // The limits in their order, without those whose metric has no name. Reads the hierarchy when the
  // authorization is that of a usage to report.
  base::Task<absl::StatusOr<std::vector<UsageReport>>> UsageReports(
      const Authorization& authorization);

  // The tightest of the limits on the metrics of the usage and those above them, or of all limits
  // without a usage: the one with the fewest requests left, the longer period of equals. Only for
  // requests that are authorized or rejected for their limits.
  base::Task<absl::StatusOr<LimitHeaders>> FindLimitHeaders(const Authorization& authorization);

  // For the extension hierarchy: an entry for each of `reports`.
  base::Task<absl::StatusOr<HierarchyReport>> FindHierarchy(
      const Authorization& authorization, const std::vector<UsageReport>& reports);

  // The application's keys, in Redis's order: the first is told by oauth endpoints, all of them
  // with the extension list_app_keys.
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
  base::Task<absl::StatusOr<std::vector<UsageReport>>> Reports(const Authorization& authorization,
                                                               Descents& descents);
  base::Task<absl::StatusOr<Integer>> RemainingCalls(const Authorization& authorization,
                                                     const UsageReport& report, Descents& descents);

  Process process_;
  AuthorizerOptions options_;
};

}  // namespace redouble::threescale

#endif  // REDOUBLE_CORE_THREESCALE_AUTHORIZER_H_
