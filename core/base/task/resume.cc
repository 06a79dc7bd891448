#include "redouble/core/base/task/resume.h"

#include <utility>

namespace redouble::inline v0_1::base::internal {

constinit thread_local ResumeState resume_state = {};

// A resumed coroutine may cancel deferred resumptions or add others, so that the list is read from
// the start after each.
void ResumeScope::ResumeDeferred() {
  DeferredResumption* at = resume_state.first;
  while (at != nullptr) {
    if (resume_state.depth > at->allowed_depth()) {
      at = at->next_;
      continue;
    }
    const std::coroutine_handle<> coroutine = at->coroutine_;
    at->Unlink();
    coroutine.resume();
    at = resume_state.first;
  }
}

DeferredResumption::~DeferredResumption() {
  if (coroutine_) Unlink();
}

std::coroutine_handle<> DeferredResumption::Request(std::coroutine_handle<> coroutine) noexcept {
  if (resume_state.depth <= allowed_depth()) return coroutine;
  coroutine_ = coroutine;
  previous_ = resume_state.last;
  (previous_ == nullptr ? resume_state.first : previous_->next_) = this;
  resume_state.last = this;
  return std::noop_coroutine();
}

void DeferredResumption::Unlink() noexcept {
  (previous_ == nullptr ? resume_state.first : previous_->next_) = next_;
  (next_ == nullptr ? resume_state.last : next_->previous_) = previous_;
  previous_ = next_ = nullptr;
  coroutine_ = {};
}

}  // namespace redouble::inline v0_1::base::internal
