// RequestObserver: reports the requests of one client to its CommandHook.
//
// Internal to the clients. A client passes each request through Submit, which replaces it by an
// observed one; the machines report what they do with that one.
//
//   auto observer = RequestObserver::Make(hooks.command, NodeName(options), SteadyMicros);
//   observer->Submit(request, [&](store::Request& observed) { machine.Submit(observed); });
//   observer->Sent(observed);      // In the machine: it was handed to the connection.
//
// Requests that the observer does not know (health checks) are ignored. Submitted requests keep the
// observer alive.
//
// Thread-safety: only on the client's thread or strand.
#ifndef REDOUBLE_BACKENDS_REDIS_OBSERVE_REQUEST_OBSERVER_H_
#define REDOUBLE_BACKENDS_REDIS_OBSERVE_REQUEST_OBSERVER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "redouble/backends/redis/observe/command_event.h"
#include "redouble/core/store/reply.h"
#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::redis {

class RequestObserver final : public store::RequestKeeper,
                              public std::enable_shared_from_this<RequestObserver> {
 public:
  // `node` is the server of a client that has only one. `now_us` reads the monotonic clock. Returns
  // null if `hook` is null.
  static std::shared_ptr<RequestObserver> Make(CommandHook hook, std::string node,
                                               std::function<int64_t()> now_us);
  ~RequestObserver();
  RequestObserver(const RequestObserver&) = delete;
  RequestObserver& operator=(const RequestObserver&) = delete;

  // Reports the start of the request and passes the observed one to `submit`. The end of the
  // observed one ends the request.
  void Submit(store::Request& request, absl::FunctionRef<void(store::Request&)> submit);

  // An observed request was handed to the connection of the only server, or of `node`.
  void Sent(const store::Request& observed) { Sent(observed, node_); }
  void Sent(const store::Request& observed, std::string_view node);
  // `node` answered it with the error `cause`, and it goes elsewhere. nullopt: the node that it was
  // sent to last.
  void Redirected(const store::Request& observed, std::optional<std::string_view> node,
                  std::string_view cause);

  // The waiter of the request was destroyed: abandons the observed one.
  void Abandon(store::Request& request) override;

 private:
  class Observed;

  RequestObserver(CommandHook hook, std::string node, std::function<int64_t()> now_us);

  void End(Observed& observed, absl::StatusOr<store::Reply>&& result);
  void ReportEnd(const Observed& observed, const absl::StatusOr<store::Reply>* result) const;
  std::unique_ptr<Observed> Take(const store::Request& request);
  Observed* Find(const store::Request& observed) const;

  const CommandHook hook_;
  const std::string node_;
  const std::function<int64_t()> now_us_;
  uint64_t last_id_ = 0;
  absl::flat_hash_map<const store::Request*, std::unique_ptr<Observed>> by_request_;
  absl::flat_hash_map<const store::Request*, Observed*> by_observed_;
};

}  // namespace redouble::inline v0_1::redis

#endif  // REDOUBLE_BACKENDS_REDIS_OBSERVE_REQUEST_OBSERVER_H_
