#include "redouble/core/threescale/authorize/authorizer.h"

#include <algorithm>
#include <array>
#include <set>
#include <span>

#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/threescale/authorize/limit_check.h"
#include "redouble/core/threescale/authorize/metric_usage.h"
#include "redouble/core/threescale/keys.h"
#include "redouble/core/threescale/model/requests.h"
#include "redouble/core/threescale/model/service_token.h"

namespace redouble::inline v0_1::threescale {

enum class Authorizer::Check : uint8_t {
  kOauthSetting,
  kKey,
  kOauthKey,
  kRedirectUri,
  kReferrer,
  kState,
  kServiceState,
  kLimits,
};

namespace {

using OptionalText = std::optional<std::string>;

std::string_view OrEmpty(std::optional<std::string_view> text) { return text.value_or(""); }

bool IsMissing(std::optional<std::string_view> text) { return !text || text->empty(); }

Rejection Reject(ErrorCode code, std::optional<std::string_view> argument = std::nullopt) {
  return {code, ErrorMessage(code, OrEmpty(argument))};
}

// If redirect_url was sent, redirect_uri is ignored.
std::optional<Rejection> CheckRedirection(const Authorization& authorization,
                                          const AuthRequest& request) {
  const auto& redirection = request.redirect_url ? request.redirect_url : request.redirect_uri;
  if (IsMissing(redirection) || authorization.application.redirect_url == *redirection) {
    return std::nullopt;
  }
  return Reject(
      request.redirect_url ? ErrorCode::kRedirectURLInvalid : ErrorCode::kRedirectURIInvalid,
      redirection);
}

}  // namespace

base::Task<absl::StatusOr<std::string>> Authorizer::FindProviderKey(const AuthRequest& request) {
  if (request.provider_key) {
    if (!request.provider_key->empty()) co_return std::string(*request.provider_key);
  } else if (!IsMissing(request.service_token) && !IsMissing(request.service_id)) {
    const ServiceTokenRef token{*request.service_token, *request.service_id};
    ServiceTokenStore tokens(process_);
    REDOUBLE_CO_ASSIGN_OR_RETURN(const bool exists, co_await tokens.Exists(token));
    if (exists) {
      ServiceStore services(process_);
      REDOUBLE_CO_ASSIGN_OR_RETURN(OptionalText key,
                                   co_await services.ProviderKeyOf(*request.service_id));
      if (key && !key->empty()) co_return *std::move(key);
    }
  }
  if (IsMissing(request.service_token)) {
    co_return MakeError(ErrorCode::kProviderKeyOrServiceTokenRequired);
  }
  if (IsMissing(request.service_id)) co_return MakeError(ErrorCode::kServiceIdMissing);
  co_return MakeError(ErrorCode::kServiceTokenInvalid, *request.service_token, *request.service_id);
}

base::Task<absl::StatusOr<Authorization>> Authorizer::Authorize(Endpoint endpoint,
                                                                std::string_view provider_key,
                                                                const AuthRequest& request) {
  Authorization result;
  ServiceStore services(process_);
  REDOUBLE_CO_ASSIGN_OR_RETURN(
      result.service, co_await services.LoadWithProviderKey(request.service_id, provider_key));
  REDOUBLE_CO_ASSIGN_OR_RETURN(result.application,
                               co_await FindApplication(endpoint, result.service, request));
  result.endpoint = endpoint;
  result.usage = request.usage;
  result.extensions = request.extensions;

  REDOUBLE_CO_ASSIGN_OR_RETURN(std::vector<UsageLimit> limits,
                               co_await LoadLimits(result.application, request));
  if (result.application.kept_limits) *result.application.kept_limits = limits;
  result.time = process_.clock.Now();
  REDOUBLE_CO_ASSIGN_OR_RETURN(result.limits,
                               co_await LoadStates(result.application, std::move(limits)));

  constexpr std::array kNormal = {Check::kKey, Check::kReferrer, Check::kState,
                                  Check::kServiceState, Check::kLimits};
  constexpr std::array kOpenIdConnect = {Check::kOauthKey, Check::kReferrer, Check::kState,
                                         Check::kServiceState, Check::kLimits};
  constexpr std::array kOauth = {Check::kOauthSetting, Check::kOauthKey, Check::kRedirectUri,
                                 Check::kReferrer,     Check::kState,    Check::kServiceState,
                                 Check::kLimits};
  std::span<const Check> checks = kNormal;
  if (IsOauth(endpoint)) {
    checks = kOauth;
  } else if (result.service.authentication() == BackendVersion::kOauth) {
    checks = kOpenIdConnect;
  }
  for (const Check check : checks) {
    if (check == Check::kRedirectUri) {
      result.uses_redirect_uri = !request.redirect_url && request.redirect_uri;
    }
    REDOUBLE_CO_ASSIGN_OR_RETURN(result.rejection, co_await Run(check, result, request));
    if (result.rejection) break;
  }
  co_return result;
}

base::Task<absl::StatusOr<Application>> Authorizer::FindApplication(Endpoint endpoint,
                                                                    const Service& service,
                                                                    const AuthRequest& request) {
  if (IsOauth(endpoint) && !request.app_id) co_return MakeError(ErrorCode::kApplicationNotFound);
  if (request.app_id && request.user_key) co_return MakeError(ErrorCode::kAuthenticationError);
  ApplicationStore applications(process_);
  OptionalText id;
  if (request.app_id) id = *request.app_id;
  if (service.authentication() == BackendVersion::kUserKey) {
    const UserKeyRef user_key{service.id, OrEmpty(request.user_key)};
    REDOUBLE_CO_ASSIGN_OR_RETURN(OptionalText found,
                                 co_await applications.LoadIdByUserKey(user_key));
    if (!found.has_value()) co_return MakeError(ErrorCode::kUserKeyInvalid, user_key.user_key);
    id = std::move(found);
  }
  if (!id) co_return MakeError(ErrorCode::kApplicationNotFound);
  const ApplicationRef application{service.id, *id};
  co_return co_await applications.LoadOrFail(application);
}

base::Task<absl::StatusOr<std::vector<UsageLimit>>> Authorizer::LoadLimits(
    const Application& application, const AuthRequest& request) {
  if (request.extensions.no_body && request.usage && !request.usage->empty()) {
    co_return co_await LoadLimitsOf(application, *request.usage);
  }
  UsageLimitStore limits(process_);
  co_return co_await limits.LoadAll(application.plan());
}

// The limits of the metrics of the usage and of their ancestors. The ids are in the order of their
// text.
base::Task<absl::StatusOr<std::vector<UsageLimit>>> Authorizer::LoadLimitsOf(
    const Application& application, const Usage& usage) {
  MetricStore metrics(process_);
  std::vector<std::string> names;
  const auto add = [&names](const std::string& name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  };
  for (const UsageEntry& entry : usage) {
    add(entry.metric);
    const MetricNameRef metric{application.service_id, entry.metric};
    REDOUBLE_CO_ASSIGN_OR_RETURN(const MetricNames above, co_await metrics.Ascendants(metric));
    for (const OptionalText& name : above) add(name.value_or(""));
  }
  std::set<std::string> ids;
  for (const std::string& name : names) {
    const MetricNameRef metric{application.service_id, name};
    REDOUBLE_CO_ASSIGN_OR_RETURN(const OptionalText id, co_await metrics.LoadId(metric));
    if (!id.has_value()) co_return MakeError(ErrorCode::kMetricInvalid, name);
    ids.insert(*id);
  }
  UsageLimitStore limits(process_);
  std::vector<std::string> sorted(ids.begin(), ids.end());
  co_return co_await limits.LoadForMetrics(application.plan(), std::move(sorted));
}

base::Task<absl::StatusOr<std::vector<LimitState>>> Authorizer::LoadStates(
    const Application& application, std::vector<UsageLimit> limits) {
  std::vector<std::string> keys;
  std::vector<std::string> metric_ids;
  for (const UsageLimit& limit : limits) {
    const CounterSubject subject = {.service_id = application.service_id,
                                    .application_id = application.id,
                                    .metric_id = limit.metric_id};
    const Period period = PeriodAt(limit.period, process_.clock.Now());
    keys.push_back(
        Encode(process_.keys.Counter(subject, period.KeySegment(process_.stamp_format))));
    metric_ids.push_back(limit.metric_id);
  }
  REDOUBLE_CO_ASSIGN_OR_RETURN(const OptionalTexts counters,
                               co_await GetAll(process_.store, std::move(keys)));
  MetricStore metrics(process_);
  REDOUBLE_CO_ASSIGN_OR_RETURN(
      const MetricNames names,
      co_await metrics.LoadNames(application.service_id, std::move(metric_ids)));
  std::vector<LimitState> states;
  for (size_t i = 0; i < limits.size(); ++i) {
    states.push_back({std::move(limits[i]), ToIntegerOrZero(counters[i]), names[i]});
  }
  co_return states;
}

base::Task<absl::StatusOr<Authorizer::MaybeRejection>> Authorizer::Run(Check check,
                                                                       Authorization& authorization,
                                                                       const AuthRequest& request) {
  const Service& service = authorization.service;
  switch (check) {
    case Check::kOauthSetting:
      if (service.authentication() == BackendVersion::kOauth) co_return std::nullopt;
      co_return Reject(ErrorCode::kOauthNotEnabled);
    case Check::kKey:
      co_return co_await CheckKey(authorization, request.app_key);
    case Check::kOauthKey:
      co_return co_await CheckOauthKey(authorization, request.app_key);
    case Check::kRedirectUri:
      co_return CheckRedirection(authorization, request);
    case Check::kReferrer:
      co_return co_await CheckReferrer(authorization, request.referrer);
    case Check::kState:
      if (authorization.application.active()) co_return std::nullopt;
      co_return Reject(ErrorCode::kApplicationNotActive);
    case Check::kServiceState:
      if (service.active) co_return std::nullopt;
      co_return Reject(ErrorCode::kServiceNotActive);
    case Check::kLimits:
      break;
  }
  co_return co_await CheckLimits(authorization, request);
}

base::Task<absl::StatusOr<Authorizer::MaybeRejection>> Authorizer::CheckKey(
    const Authorization& authorization, std::optional<std::string_view> app_key) {
  if (authorization.service.authentication() == BackendVersion::kUserKey) co_return std::nullopt;
  ApplicationStore applications(process_);
  const ApplicationRef application = authorization.application.ref();
  REDOUBLE_CO_ASSIGN_OR_RETURN(const bool has_keys, co_await applications.HasKeys(application));
  if (!has_keys) co_return std::nullopt;
  REDOUBLE_CO_ASSIGN_OR_RETURN(const bool valid,
                               co_await applications.HasKey(application, OrEmpty(app_key)));
  if (valid) co_return std::nullopt;
  co_return Reject(ErrorCode::kApplicationKeyInvalid, app_key);
}

base::Task<absl::StatusOr<Authorizer::MaybeRejection>> Authorizer::CheckOauthKey(
    const Authorization& authorization, std::optional<std::string_view> app_key) {
  if (!app_key) co_return std::nullopt;
  if (!app_key->empty()) {
    ApplicationStore applications(process_);
    const ApplicationRef application = authorization.application.ref();
    REDOUBLE_CO_ASSIGN_OR_RETURN(const bool valid,
                                 co_await applications.HasKey(application, *app_key));
    if (valid) co_return std::nullopt;
  }
  co_return Reject(ErrorCode::kApplicationKeyInvalid, app_key);
}

base::Task<absl::StatusOr<Authorizer::MaybeRejection>> Authorizer::CheckReferrer(
    const Authorization& authorization, std::optional<std::string_view> referrer) {
  if (!authorization.service.referrer_filters_required) co_return std::nullopt;
  ApplicationStore applications(process_);
  const ApplicationRef application = authorization.application.ref();
  REDOUBLE_CO_ASSIGN_OR_RETURN(const bool has_filters,
                               co_await applications.HasReferrerFilters(application));
  if (!has_filters) co_return std::nullopt;
  REDOUBLE_CO_ASSIGN_OR_RETURN(const std::vector<std::string> filters,
                               co_await applications.ReferrerFilters(application));
  for (const std::string& filter : filters) {
    if (referrer && MatchesReferrer(filter, *referrer, options_.referrer_match)) {
      co_return std::nullopt;
    }
  }
  co_return Reject(ErrorCode::kReferrerNotAllowed, referrer);
}

base::Task<absl::StatusOr<Authorizer::MaybeRejection>> Authorizer::CheckLimits(
    Authorization& authorization, const AuthRequest& request) {
  std::optional<Usage> usage;
  if (request.usage) {
    MetricCollection metrics(process_, authorization.service.id);
    const Propagation propagation =
        request.extensions.flat_usage ? Propagation::kNone : Propagation::kToParents;
    REDOUBLE_CO_ASSIGN_OR_RETURN(Usage by_id,
                                 co_await metrics.ProcessUsage(*request.usage, propagation));
    usage = std::move(by_id);
  }
  bool within = false;
  if (options_.hardening.check_and_report_atomically &&
      threescale::Reports(authorization.endpoint)) {
    CountedRequest counted_request;
    counted_request.application = authorization.application.ref();
    counted_request.usage = &usage;
    counted_request.time = authorization.time;
    counted_request.must_exist = options_.hardening.check_applications_atomically;
    REDOUBLE_CO_ASSIGN_OR_RETURN(
        const CountedLimits counted,
        co_await CountWithinLimits(process_, authorization.limits, counted_request));
    for (size_t i = 0; i < counted.before.size(); ++i) {
      authorization.limits[i].current = counted.before[i];
    }
    within = authorization.counted = counted.within;
  } else {
    within = WithinLimits(authorization.limits, usage);
  }
  if (within) co_return std::nullopt;
  co_return Reject(ErrorCode::kLimitsExceeded);
}

base::Task<absl::StatusOr<std::vector<std::string>>> Authorizer::AppKeys(
    const Authorization& authorization) {
  ApplicationStore applications(process_);
  const ApplicationRef application = authorization.application.ref();
  absl::StatusOr<std::vector<std::string>> keys = co_await applications.Keys(application);
  if (keys.ok() && keys->size() > kMostListedKeys) keys->resize(kMostListedKeys);
  co_return keys;
}

}  // namespace redouble::inline v0_1::threescale
