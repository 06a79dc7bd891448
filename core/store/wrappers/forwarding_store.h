// ForwardingStore: a store that hands every request to another one. The base of wrappers that look
// at a request on its way and do not care for its result.
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
// A wrapper that needs the result as well is an InterceptingStore.
//
// Thread-safety: as the store behind it.
#ifndef REDOUBLE_CORE_STORE_WRAPPERS_FORWARDING_STORE_H_
#define REDOUBLE_CORE_STORE_WRAPPERS_FORWARDING_STORE_H_

#include "core/store/store.h"

namespace redouble::store {

class ForwardingStore : public Store {
 public:
  // `inner` must outlive this store.
  explicit ForwardingStore(Store& inner) : inner_(inner) {}

  // Submits the very same request: its result and its abandonment pass this store by.
  void Submit(Request& request) override { inner_.Submit(request); }

 protected:
  Store& inner() { return inner_; }

 private:
  Store& inner_;
};

}  // namespace redouble::store

#endif  // REDOUBLE_CORE_STORE_WRAPPERS_FORWARDING_STORE_H_
