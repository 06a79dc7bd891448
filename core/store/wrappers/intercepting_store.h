// InterceptingStore: the base of wrappers that see a request and its result, and may change either,
// delay them, answer by themselves, or ask several stores. What a wrapper does with one request is
// one coroutine:
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
// A request that is abandoned destroys its coroutine where it stands, and with that abandons what
// the coroutine has forwarded.
//
// Cost: one coroutine frame from the pool per request, nothing else while the store behind answers
// at once; requests that Intercepts() declines cost a virtual call.
//
// Thread-safety: as the store behind it.
#ifndef REDOUBLE_CORE_STORE_WRAPPERS_INTERCEPTING_STORE_H_
#define REDOUBLE_CORE_STORE_WRAPPERS_INTERCEPTING_STORE_H_

#include "absl/status/statusor.h"
#include "core/base/task.h"
#include "core/store/reply.h"
#include "core/store/store.h"
#include "core/store/wrappers/forwarding_store.h"

namespace redouble::store {

class InterceptingStore : public ForwardingStore {
 public:
  using ForwardingStore::ForwardingStore;

  void Submit(Request& request) final;

 protected:
  // Whether Intercept() shall see the request; otherwise it is forwarded as it is.
  virtual bool Intercepts(const Request&) { return true; }

  // The way of one request: what it returns is the request's result. Runs up to its first wait
  // inside Submit(). `request` and its commands live as long as the coroutine does. The wrapper
  // itself must outlive the coroutine.
  virtual base::Task<absl::StatusOr<Reply>> Intercept(const Request& request) = 0;

  // Awaitable: sends the commands of `request` to the store behind and gives their result. May be
  // awaited any number of times.
  Execution Forward(const Request& request) { return ForwardTo(inner(), request); }
  // As Forward, to another store.
  static Execution ForwardTo(Store& store, const Request& request) {
    return Execution(store, request.kind(), request.commands());
  }
};

}  // namespace redouble::store

#endif  // REDOUBLE_CORE_STORE_WRAPPERS_INTERCEPTING_STORE_H_
