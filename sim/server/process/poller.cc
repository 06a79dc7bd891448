#include "redouble/sim/server/process/poller.h"

// Other systems: poller_kqueue.cc.
#if __has_include(<sys/epoll.h>)

#include <sys/epoll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "absl/status/status.h"

namespace redouble::inline v0_1::sim {
namespace {

constexpr int kMostEvents = 512;

epoll_event EventOf(void* owner, bool writing) {
  epoll_event event = {};
  event.events = EPOLLIN | (writing ? EPOLLOUT : 0u);
  event.data.ptr = owner;
  return event;
}

}  // namespace

absl::StatusOr<Poller> Poller::Create() {
  const int descriptor = epoll_create1(EPOLL_CLOEXEC);
  if (descriptor < 0) return absl::ErrnoToStatus(errno, "epoll_create1");
  return Poller(descriptor);
}

Poller::Poller(Poller&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

Poller::~Poller() {
  if (descriptor_ >= 0) close(descriptor_);
}

bool Poller::Add(int socket, void* owner) {
  epoll_event event = EventOf(owner, false);
  return epoll_ctl(descriptor_, EPOLL_CTL_ADD, socket, &event) == 0;
}

void Poller::WatchWriting(int socket, void* owner, bool value) {
  epoll_event event = EventOf(owner, value);
  epoll_ctl(descriptor_, EPOLL_CTL_MOD, socket, &event);
}

void Poller::Remove(int socket) { epoll_ctl(descriptor_, EPOLL_CTL_DEL, socket, nullptr); }

void Poller::Ready(std::vector<Event>& events) {
  std::array<epoll_event, kMostEvents> ready;
  const int count = epoll_wait(descriptor_, ready.data(), kMostEvents, 0);
  events.clear();
  for (int i = 0; i < count; ++i) {
    const uint32_t flags = ready[i].events;
    events.push_back({ready[i].data.ptr, (flags & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0,
                      (flags & EPOLLOUT) != 0});
  }
}

}  // namespace redouble::inline v0_1::sim

#endif
