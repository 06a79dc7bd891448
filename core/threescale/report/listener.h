// Listener: handles authorize and authrep requests as a listener process does, including jobs,
// notifications and the errors list.
//
//   Listener listener(process, queue, notifier);
//   AuthRequest request = {.provider_key = "pkey", .service_id = "2", .app_id = "37ba04ec"};
//   absl::StatusOr<Authorization> answer =
//       co_await listener.Handle(Endpoint::kAuthrep, request, /*context_info=*/"{}");
//   // Rejected: 409, answer->rejection. Failed: SpecOf(*ErrorCodeOf(answer.status())).http_status.
//
// Use Authorizer instead if only the decision is needed.
//
// Thread-safety: as Store.
// Source: docs/systems/threescale.md 3.2, 4.11, 4.15.
#ifndef REDOUBLE_CORE_THREESCALE_REPORT_LISTENER_H_
#define REDOUBLE_CORE_THREESCALE_REPORT_LISTENER_H_

#include <optional>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/threescale/authorize/auth_request.h"
#include "redouble/core/threescale/authorize/authorizer.h"
#include "redouble/core/threescale/model/job_queue.h"
#include "redouble/core/threescale/notify/notifier.h"
#include "redouble/core/threescale/process.h"

namespace redouble::inline v0_1::threescale {

class Listener {
 public:
  // `queue` and `notifier` must outlive the object.
  Listener(const Process& process, JobQueue& queue, Notifier& notifier,
           AuthorizerOptions options = {})
      : process_(process),
        hardening_(options.hardening),
        queue_(queue),
        notifier_(notifier),
        authorizer_(process, options) {}

  // Decides about a request. An authorized authrep enqueues its usage without entries whose text is
  // "0", if usage or a response code is left. The master service is notified of an authorize before
  // its validation, of an authrep after it, and of a failed authrep only if the application was not
  // found.
  //
  // Errors: EndUsersNoLongerSupported; PermissionDenied without a code for a usage that is not a
  // map (403 without a body); those of Authorizer::FindProviderKey and Authorize; those of the
  // queue and of Redis. Errors with a code are also added to the errors list of the service if the
  // request names, or defaults to, a service of its own provider; a failure of this write is
  // ignored. `context_info` describes the request as JSON for that list, and must outlive the task.
  base::Task<absl::StatusOr<Authorization>> Handle(Endpoint endpoint, AuthRequest request,
                                                   std::string_view context_info);

  // Computes the details of an answer.
  Authorizer& authorizer() { return authorizer_; }

 private:
  // The provider key, if the request has got that far. For the errors list.
  using KnownKey = std::optional<std::string>;

  base::Task<absl::StatusOr<Authorization>> Decide(Endpoint endpoint, const AuthRequest& request,
                                                   KnownKey& provider_key);
  base::Task<absl::Status> Report(const Authorization& authorization, std::string_view provider_key,
                                  const AuthRequest& request);
  base::Task<void> StoreError(absl::Status error, const AuthRequest& request,
                              const KnownKey& provider_key, std::string_view context_info);

  Process process_;
  Hardening hardening_;
  JobQueue& queue_;
  Notifier& notifier_;
  Authorizer authorizer_;
};

}  // namespace redouble::inline v0_1::threescale

#endif  // REDOUBLE_CORE_THREESCALE_REPORT_LISTENER_H_
