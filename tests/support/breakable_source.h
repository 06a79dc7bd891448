// BreakableSource: a MessageSource whose connection is lost and comes back when a test says so.
//
//   BreakableSource source(session);
//   source.Lose();      // Messages are lost from now on.
//   source.ComeBack();  // The listener hears of the gap, and of further messages.
//
// Thread-safety: as the wrapped source.
#ifndef REDOUBLE_TESTS_SUPPORT_BREAKABLE_SOURCE_H_
#define REDOUBLE_TESTS_SUPPORT_BREAKABLE_SOURCE_H_

#include "redouble/core/store/message_source.h"

namespace redouble::inline v0_1::tests {

class BreakableSource final : public store::MessageSource {
 public:
  // `inner` must outlive the source.
  explicit BreakableSource(store::MessageSource& inner) : inner_(inner) {}

  void Submit(store::Request& request) override { inner_.Submit(request); }
  void Listen(store::PushListener* listener) override {
    listener_ = listener;
    inner_.Listen(listener);
  }

  void Lose() { inner_.Listen(nullptr); }
  void ComeBack() {
    inner_.Listen(listener_);
    if (listener_ != nullptr) listener_->OnGap();
  }

 private:
  store::MessageSource& inner_;
  store::PushListener* listener_ = nullptr;
};

}  // namespace redouble::inline v0_1::tests

#endif  // REDOUBLE_TESTS_SUPPORT_BREAKABLE_SOURCE_H_
