// Listener: authorize and authrep as a listener process does them, from a client's request to the
// decision, with what is left behind for others: jobs, notifications and errors.
//
//   Listener listener(process, queue, notifier);
//   AuthRequest request = {.provider_key = "pkey", .service_id = "2", .app_id = "37ba04ec"};
//   absl::StatusOr<Authorization> answer =
//       co_await listener.Handle(Endpoint::kAuthrep, request, /*context_info=*/"{}");
//   // Rejected: 409, answer->rejection. Failed: SpecOf(*ErrorCodeOf(answer.status())).http_status.
//
// Thread-safety: as Store.
// Source: reference/threescale.md 4.
#ifndef REDOUBLE_CORE_THREESCALE_LISTENER_H_
#define REDOUBLE_CORE_THREESCALE_LISTENER_H_

#include <optional>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/base/task.h"
#include "core/threescale/auth_request.h"
#include "core/threescale/authorizer.h"
#include "core/threescale/job_queue.h"
#include "core/threescale/notifier.h"
#include "core/threescale/process.h"

namespace redouble::threescale {

class Listener {
 public:
  // `queue` and `notifier` must outlive this.
  Listener(const Process& process, JobQueue& queue, Notifier& notifier,
           AuthorizerOptions options = {})
      : process_(process), queue_(queue), notifier_(notifier), authorizer_(process, options) {}

  // Decides, and for authrep enqueues the usage of an authorized request: without entries whose
  // text is "0", and not at all when neither usage nor a response code is left. The master is
  // notified of every authorize before it is looked at, of an authrep afterwards, and of one that
  // failed only if its application was not found.
  //
  // Errors: EndUsersNoLongerSupported; PermissionDenied without a code for a usage that is no map
  // (403 without a body); those of Authorizer::FindProviderKey and Authorize; those of the queue
  // and of Redis. Those with a code are also put into the errors list of the service when the
  // request names, or means, a service of its own provider; what fails while doing so is not told.
  // `context_info` is the request for that list, as JSON, and must outlive the task.
  base::Task<absl::StatusOr<Authorization>> Handle(Endpoint endpoint, AuthRequest request,
                                                   std::string_view context_info);

  // For the details of an answer.
  Authorizer& authorizer() { return authorizer_; }

 private:
  // The provider's key as far as the request has got: for the errors list.
  using KnownKey = std::optional<std::string>;

  base::Task<absl::StatusOr<Authorization>> Decide(Endpoint endpoint, const AuthRequest& request,
                                                   KnownKey& provider_key);
  base::Task<absl::Status> Report(const Authorization& authorization, std::string_view provider_key,
                                  const AuthRequest& request);
  base::Task<void> StoreError(absl::Status error, const AuthRequest& request,
                              const KnownKey& provider_key, std::string_view context_info);

  Process process_;
  JobQueue& queue_;
  Notifier& notifier_;
  Authorizer authorizer_;
};

}  // namespace redouble::threescale

#endif  // REDOUBLE_CORE_THREESCALE_LISTENER_H_
