// InterceptingStore: the base of wrappers that see a request and its result.
//
// Such a wrapper can change either, delay them, answer by itself, or ask several stores. It handles
// each request in one coroutine:
//
//   class SlowStore final : public InterceptingStore {
//    public:
//     SlowStore(Store& inner, base::Clock& clock) : InterceptingStore(inner), clock_(clock) {}
//
//    private:
//     base::Task<absl::StatusOr<Reply>> Intercept(const Request& request) override {
//       co_await clock_.Sleep(absl::Milliseconds(5));
//       co_return co_await Forward(request);
//     }
//
//     base::Clock& clock_;
//   };
//
// If the caller abandons a request, its coroutine is destroyed at the await where it is suspended,
// which abandons the request that it has forwarded.
//
// Cost: one pooled coroutine frame per request if the wrapped store completes at once; a virtual
// call for requests that Intercepts() declines.
//
// Thread-safety: as the wrapped store.
#ifndef REDOUBLE_CORE_STORE_WRAPPERS_INTERCEPTING_STORE_H_
#define REDOUBLE_CORE_STORE_WRAPPERS_INTERCEPTING_STORE_H_

#include "absl/status/statusor.h"
#include "redouble/core/base/task/task.h"
#include "redouble/core/store/reply.h"
#include "redouble/core/store/store.h"
#include "redouble/core/store/wrappers/forwarding_store.h"

namespace redouble::inline v0_1::store {

class InterceptingStore : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;

  void Submit(Request& request) final;

 protected:
  // Returns whether Intercept() handles the request; otherwise it is forwarded unchanged.
  virtual bool Intercepts(const Request&) { return true; }

  // Handles one request; its result becomes the request's. Runs inside Submit() up to its first
  // wait. `request` and its commands outlive the coroutine; the wrapper must do so too.
  virtual base::Task<absl::StatusOr<Reply>> Intercept(const Request& request) = 0;

  // Awaitable: sends the commands of `request` to the wrapped store and returns the result. Each
  // call sends them again.
  Execution Forward(const Request& request) { return ForwardTo(inner(), request); }
  // As Forward, to `store`.
  static Execution ForwardTo(Store& store, const Request& request) {
    return Execution(store, request.kind(), request.commands());
  }
};

}  // namespace redouble::inline v0_1::store

#endif  // REDOUBLE_CORE_STORE_WRAPPERS_INTERCEPTING_STORE_H_
