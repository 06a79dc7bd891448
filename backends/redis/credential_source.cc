#include "redouble/backends/redis/credential_source.h"

namespace redouble::inline v0_1::redis {

void CredentialSource::Set(Credentials next) {
  std::vector<Listener> listeners;
  {
    const std::lock_guard lock(mutex_);
    current_ = {std::move(next), current_.number + 1};
    listeners = listeners_;
  }
  for (const Listener& listener : listeners) {
    if (const auto owner = listener.owner.lock()) listener.call();
  }
}

NumberedCredentials CredentialSource::current() const {
  const std::lock_guard lock(mutex_);
  return current_;
}

void CredentialSource::Listen(std::weak_ptr<const void> owner, std::function<void()> listener) {
  const std::lock_guard lock(mutex_);
  std::erase_if(listeners_, [](const Listener& known) { return known.owner.expired(); });
  listeners_.push_back({std::move(owner), std::move(listener)});
}

}  // namespace redouble::inline v0_1::redis
