#include "redouble/core/threescale/report/listener.h"

#include <string>
#include <utility>

#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/threescale/errors.h"
#include "redouble/core/threescale/report/error_log.h"

namespace redouble::inline v0_1::threescale {
namespace {

Notification OneAuthorization() {
  Notification notification;
  notification.authorizations = 1;
  return notification;
}

}  // namespace

base::Task<absl::StatusOr<Authorization>> Listener::Handle(Endpoint endpoint, AuthRequest request,
                                                           std::string_view context_info) {
  const AuthRequest normalized = request.Normalized();
  KnownKey provider_key;
  if (normalized.provider_key) provider_key = *normalized.provider_key;
  absl::StatusOr<Authorization> answer = co_await Decide(endpoint, normalized, provider_key);
  if (!answer.ok() && ErrorCodeOf(answer.status())) {
    co_await StoreError(answer.status(), normalized, provider_key, context_info);
  }
  co_return answer;
}

base::Task<absl::StatusOr<Authorization>> Listener::Decide(Endpoint endpoint,
                                                           const AuthRequest& request,
                                                           KnownKey& provider_key) {
  REDOUBLE_CO_ASSIGN_OR_RETURN(std::string found, co_await authorizer_.FindProviderKey(request));
  if (request.user_id) co_return MakeError(ErrorCode::kEndUsersNoLongerSupported);
  if (request.has_malformed_usage) co_return absl::PermissionDeniedError("usage is no map");
  provider_key = std::move(found);

  if (!Reports(endpoint)) {
    REDOUBLE_CO_RETURN_IF_ERROR(co_await notifier_.Notify(*provider_key, OneAuthorization()));
  }
  absl::StatusOr<Authorization> authorization =
      co_await authorizer_.Authorize(endpoint, *provider_key, request);
  if (!Reports(endpoint)) co_return authorization;
  if (!authorization.ok()) {
    if (ErrorCodeOf(authorization.status()) != ErrorCode::kApplicationNotFound) {
      co_return authorization;
    }
    REDOUBLE_CO_RETURN_IF_ERROR(co_await notifier_.Notify(*provider_key, OneAuthorization()));
    co_return authorization;
  }
  REDOUBLE_CO_RETURN_IF_ERROR(co_await Report(*authorization, *provider_key, request));
  co_return authorization;
}

base::Task<absl::Status> Listener::Report(const Authorization& authorization,
                                          std::string_view provider_key,
                                          const AuthRequest& request) {
  Notification notification = OneAuthorization();
  Usage usage = request.usage ? WithoutZeros(*request.usage) : Usage();
  if (!authorization.authorized() || (usage.empty() && !request.log_code)) {
    co_return co_await notifier_.Notify(provider_key, notification);
  }
  Transaction transaction;
  transaction.app_id = authorization.application.id;
  transaction.usage = std::move(usage);
  if (request.log_code) transaction.log_code = *request.log_code;
  ReportJob job;
  job.service_id = authorization.service.id;
  job.transactions.push_back(std::move(transaction));
  job.flat_usage = request.extensions.flat_usage;
  job.counted = authorization.counted;
  job.enqueued_at = process_.clock.Now();
  REDOUBLE_CO_RETURN_IF_ERROR(co_await queue_.Enqueue(std::move(job)));
  notification.transactions = request.usage ? 1 : 0;
  co_return co_await notifier_.Notify(provider_key, notification);
}

base::Task<void> Listener::StoreError(absl::Status error, const AuthRequest& request,
                                      const KnownKey& provider_key, std::string_view context_info) {
  ServiceStore services(process_);
  std::string service_id;
  if (request.service_id) {
    std::optional<std::string_view> owner;
    if (provider_key) owner = *provider_key;
    const absl::StatusOr<bool> is_owned = co_await services.IsOwnedBy(*request.service_id, owner);
    if (!is_owned.ok() || !*is_owned) co_return;
    service_id = *request.service_id;
  } else {
    const absl::StatusOr<std::optional<std::string>> default_id =
        co_await services.DefaultId(provider_key.value_or(""));
    if (!default_id.ok() || !*default_id) co_return;
    service_id = **default_id;
  }
  ErrorLog errors(process_, hardening_);
  const absl::Status stored = co_await errors.Store(service_id, std::move(error), context_info);
  // The client receives the original error, whether or not it could be stored.
  stored.IgnoreError();
}

}  // namespace redouble::inline v0_1::threescale
