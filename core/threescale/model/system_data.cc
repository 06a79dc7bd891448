#include "redouble/core/threescale/model/system_data.h"

#include <map>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/threescale/errors.h"
#include "redouble/core/threescale/model/alert_limit.h"
#include "redouble/core/threescale/model/application.h"
#include "redouble/core/threescale/model/service.h"
#include "redouble/core/threescale/model/service_token.h"

namespace redouble::inline v0_1::threescale {
namespace {

absl::Status Check(const SystemService& service) {
  for (const std::string& token : service.tokens) {
    if (token.empty()) return MakeError(ErrorCode::kInvalidServiceToken);
  }
  for (const int level : service.alert_levels) {
    if (ParseAlertLevel(absl::StrCat(level))) continue;
    return absl::InvalidArgumentError(absl::StrCat(level, " is not an alert level"));
  }
  for (const SystemApplication& application : service.applications) {
    for (const std::string& filter : application.referrer_filters) {
      if (IsBlank(filter)) return MakeError(ErrorCode::kReferrerFilterInvalid);
    }
    for (const std::string& user_key : application.user_keys) {
      if (!IsBlank(user_key)) continue;
      return MakeError(ErrorCode::kApplicationHasInconsistentData, application.id, user_key);
    }
  }
  return absl::OkStatus();
}

base::Task<absl::Status> RestorePlan(const Process& process, const std::string& service_id,
                                     const SystemPlan& plan) {
  std::map<std::string, std::vector<std::pair<Granularity, std::string>>> by_metric;
  for (const UsageLimit& limit : plan.limits) {
    by_metric[limit.metric_id].emplace_back(limit.period, FormatInteger(limit.value));
  }
  UsageLimitStore limits(process);
  const PlanRef reference = {service_id, plan.id};
  for (const auto& [metric_id, values] : by_metric) {
    std::vector<UsageLimitSave> saves;
    for (const auto& [period, value] : values) saves.push_back({period, value});
    REDOUBLE_CO_RETURN_IF_ERROR(co_await limits.Save(reference, metric_id, saves));
  }
  co_return absl::OkStatus();
}

base::Task<absl::Status> RestoreApplication(const Process& process, const std::string& service_id,
                                            const SystemApplication& application) {
  ApplicationStore applications(process);
  const ApplicationRef reference = {service_id, application.id};
  REDOUBLE_CO_RETURN_IF_ERROR(
      co_await applications.AddMembers(reference, application.keys, application.referrer_filters));
  ApplicationSave save = {
      .service_id = service_id, .id = application.id, .state = application.state};
  save.plan_id = application.plan_id;
  save.plan_name = application.plan_name;
  save.redirect_url = application.redirect_url;
  REDOUBLE_CO_RETURN_IF_ERROR(co_await applications.Save(save));
  for (const std::string& user_key : application.user_keys) {
    const UserKeyRef key = {service_id, user_key};
    REDOUBLE_CO_RETURN_IF_ERROR(co_await applications.SaveUserKey(key, application.id));
  }
  co_return absl::OkStatus();
}

// Tokens and alert levels, which do not depend on other data.
base::Task<absl::Status> RestoreSets(const Process& process, const SystemService& service) {
  std::vector<ServiceTokenPair> tokens;
  for (const std::string& token : service.tokens) tokens.push_back({token, service.id});
  REDOUBLE_CO_RETURN_IF_ERROR(co_await ServiceTokenStore(process).SavePairs(tokens));
  AlertLimitStore alert_limits(process);
  for (const int level : service.alert_levels) {
    const std::string text = absl::StrCat(level);
    REDOUBLE_CO_RETURN_IF_ERROR((co_await alert_limits.Save(service.id, text)).status());
  }
  co_return absl::OkStatus();
}

}  // namespace

base::Task<absl::Status> RestoreService(Process process, const SystemService& service,
                                        Hardening hardening) {
  REDOUBLE_CO_RETURN_IF_ERROR(Check(service));
  MetricStore metrics(process, hardening);
  for (const Metric& metric : service.metrics) {
    Metric owned = metric;
    owned.service_id = service.id;
    REDOUBLE_CO_RETURN_IF_ERROR(co_await metrics.Save(owned));
  }
  for (const SystemPlan& plan : service.plans) {
    REDOUBLE_CO_RETURN_IF_ERROR(co_await RestorePlan(process, service.id, plan));
  }
  REDOUBLE_CO_RETURN_IF_ERROR(co_await RestoreSets(process, service));
  for (const SystemApplication& application : service.applications) {
    REDOUBLE_CO_RETURN_IF_ERROR(co_await RestoreApplication(process, service.id, application));
  }
  ServiceSave save = {.id = service.id, .provider_key = service.provider_key};
  save.backend_version = service.backend_version;
  save.referrer_filters_required = service.referrer_filters_required;
  save.state = service.state;
  save.is_default = service.is_default;
  co_return (co_await ServiceStore(process, hardening).Save(save)).status();
}

}  // namespace redouble::inline v0_1::threescale
