// The poller of systems without epoll: macOS and the BSDs. Like epoll's, its descriptor is readable
// while a socket is ready.
#include "redouble/sim/server/process/poller.h"

#if !__has_include(<sys/epoll.h>)

#include <fcntl.h>
#include <sys/event.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <ctime>
#include <utility>

#include "absl/status/status.h"

namespace redouble::inline v0_1::sim {
namespace {

constexpr int kMostEvents = 512;

bool Change(int descriptor, int socket, int filter, int flags, void* owner) {
  struct kevent change;
  EV_SET(&change, socket, filter, flags, 0, 0, owner);
  return kevent(descriptor, &change, 1, nullptr, 0, nullptr) == 0;
}

}  // namespace

absl::StatusOr<Poller> Poller::Create() {
  const int descriptor = kqueue();
  if (descriptor < 0) return absl::ErrnoToStatus(errno, "kqueue");
  fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  return Poller(descriptor);
}

Poller::Poller(Poller&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

Poller::~Poller() {
  if (descriptor_ >= 0) close(descriptor_);
}

bool Poller::Add(int socket, void* owner) {
  return Change(descriptor_, socket, EVFILT_READ, EV_ADD, owner);
}

void Poller::WatchWriting(int socket, void* owner, bool value) {
  Change(descriptor_, socket, EVFILT_WRITE, value ? EV_ADD : EV_DELETE, owner);
}

void Poller::Remove(int socket) {
  Change(descriptor_, socket, EVFILT_READ, EV_DELETE, nullptr);
  Change(descriptor_, socket, EVFILT_WRITE, EV_DELETE, nullptr);
}

// A socket that is ready for both has two events.
void Poller::Ready(std::vector<Event>& events) {
  std::array<struct kevent, kMostEvents> ready;
  const timespec no_time = {};
  const int count = kevent(descriptor_, nullptr, 0, ready.data(), kMostEvents, &no_time);
  events.clear();
  for (int i = 0; i < count; ++i) {
    const bool ended = (ready[i].flags & EV_EOF) != 0;
    const bool writes = ready[i].filter == EVFILT_WRITE;
    events.push_back({ready[i].udata, !writes || ended, writes});
  }
}

}  // namespace redouble::inline v0_1::sim

#endif
