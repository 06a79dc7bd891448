// ForwardingStore: the base of wrappers that see requests but not their results.
//
// It forwards every request to another store. Override Submit to look at a request, or to complete
// it without forwarding it:
//
//   class ReadOnlyStore final : public ForwardingStore {
//    public:
//     using ForwardingStore::ForwardingStore;
//     void Submit(Request& request) override {
//       if (Writes(request)) return request.Complete(NotSentError("this store only reads"));
//       ForwardingStore::Submit(request);
//     }
//   };
//
// A wrapper that also needs the result derives from InterceptingStore.
//
// Thread-safety: as the wrapped store.
#ifndef REDOUBLE_CORE_STORE_WRAPPERS_FORWARDING_STORE_H_
#define REDOUBLE_CORE_STORE_WRAPPERS_FORWARDING_STORE_H_

#include "redouble/core/store/store.h"

namespace redouble::inline v0_1::store {

class ForwardingStore : public Store {
 public:
  // `inner` must outlive this store.
  explicit ForwardingStore(Store& inner) : inner_(inner) {}

  // Forwards the same request object: its result and its abandonment bypass this store.
  void Submit(Request& request) override { inner_.Submit(request); }

 protected:
  Store& inner() { return inner_; }

 private:
  Store& inner_;
};

}  // namespace redouble::inline v0_1::store

#endif  // REDOUBLE_CORE_STORE_WRAPPERS_FORWARDING_STORE_H_
