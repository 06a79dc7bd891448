#include "redouble/core/threescale/backend/backend.h"

#include <string>
#include <utility>
#include <variant>

#include "redouble/core/base/status/status_macros.h"
#include "redouble/core/threescale/errors.h"

namespace redouble::inline v0_1::threescale {
namespace {

Process ProcessOf(store::Store& store, const base::Clock& clock, const BackendSettings& settings,
                  std::optional<Memoizer>& memoizer) {
  Process process(store, clock);
  process.keys = Keys(settings.key_layout);
  process.stamp_format = settings.stamp_format;
  if (settings.read_cache) process.memoizer = &memoizer.emplace(clock);
  return process;
}

NotifierOptions NotifierOptionsOf(const BackendSettings& settings) {
  return {.master_service_id = settings.master_service_id,
          .batch_size = settings.notification_batch,
          .transactions_metric = settings.transactions_metric,
          .authorizations_metric = settings.authorizations_metric,
          .hardening = settings.hardening};
}

AuthorizerOptions AuthorizerOptionsOf(const BackendSettings& settings) {
  AuthorizerOptions options;
  if (settings.legacy_referrer_filters) options.referrer_match = ReferrerMatch::kAnyPart;
  options.hardening = settings.hardening;
  return options;
}

WorkerOptions WorkerOptionsOf(const BackendSettings& settings, EventQueue::Hook hook) {
  WorkerOptions options;
  options.aggregator.hardening = settings.hardening;
  if (!settings.events_hook.empty()) options.aggregator.events_hook = std::move(hook);
  options.master_service_id = settings.master_service_id;
  return options;
}

}  // namespace

Backend::Backend(store::Store& store, const base::Clock& clock, const BackendSettings& settings,
                 BackendParts parts)
    : settings_(settings),
      process_(ProcessOf(store, clock, settings_, memoizer_)),
      queue_(parts.queue == nullptr ? memory_queue_ : *parts.queue),
      notifier_(process_, queue_, NotifierOptionsOf(settings_)),
      listener_(process_, queue_, notifier_, AuthorizerOptionsOf(settings_)),
      reporter_(process_, queue_, notifier_),
      worker_(process_, WorkerOptionsOf(settings_, std::move(parts.events_hook))) {}

base::Task<absl::StatusOr<HttpResponse>> Backend::Handle(HttpRequest request) {
  HttpCall call = ParseHttpRequest(request);
  if (HttpResponse* const ready = std::get_if<HttpResponse>(&call)) co_return std::move(*ready);
  if (const AuthCall* const auth = std::get_if<AuthCall>(&call)) {
    co_return co_await Authorize(*auth, request);
  }
  const absl::Status accepted = co_await reporter_.Report(std::get<ReportRequest>(std::move(call)));
  if (accepted.ok()) co_return ReportResponse();
  if (ErrorCodeOf(accepted)) co_return ErrorResponse(accepted, request);
  co_return accepted;
}

base::Task<absl::StatusOr<HttpResponse>> Backend::Authorize(const AuthCall& call,
                                                            const HttpRequest& request) {
  const AuthRequest view = call.View();
  const std::string info = ContextInfo(request);
  const absl::StatusOr<Authorization> authorization =
      co_await listener_.Handle(call.endpoint, view, info);
  if (!authorization.ok()) {
    const bool has_response = ErrorCodeOf(authorization.status()) || view.has_malformed_usage;
    if (has_response) co_return ErrorResponse(authorization.status(), request);
    co_return authorization.status();
  }
  REDOUBLE_CO_ASSIGN_OR_RETURN(const AnswerDetails details,
                               co_await ReadAnswerDetails(listener_.authorizer(), *authorization));
  co_return AuthorizationResponse(*authorization, details);
}

base::Task<absl::Status> Backend::RunJobs() { return worker_.RunAll(memory_queue_); }

}  // namespace redouble::inline v0_1::threescale
