// Poller: waits for many sockets with one descriptor, of epoll or kqueue.
//
// Asio re-arms a socket after every read, which costs a system call per request if clients do not
// pipeline. The poller registers a socket once. It is itself a descriptor that is readable while
// any of its sockets is ready, so an event loop that waits for the poller waits for all of them.
//
//   poller.Add(socket, client);
//   poller.Ready(events);
//   for (const Poller::Event& event : events) static_cast<Peer*>(event.owner)->Serve();
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_SERVER_PROCESS_POLLER_H_
#define REDOUBLE_SIM_SERVER_PROCESS_POLLER_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"

namespace redouble::inline v0_1::sim {

class Poller {
 public:
  struct Event {
    void* owner;
    bool readable;  // Also true if the socket failed; reading reports the error.
    bool writable;
  };

  // Errors: the operating system's.
  static absl::StatusOr<Poller> Create();
  Poller(Poller&& other) noexcept;
  Poller& operator=(Poller&& other) = delete;
  ~Poller();

  // As in INFO's multiplexing_api.
#if __has_include(<sys/epoll.h>)
  static constexpr char kName[] = "epoll";
#else
  static constexpr char kName[] = "kqueue";
#endif

  int descriptor() const { return descriptor_; }
  // Registers a socket for reading. Returns false if the system refuses it.
  bool Add(int socket, void* owner);
  // Enables or disables events for writing.
  void WatchWriting(int socket, void* owner, bool value);
  // Removes the socket. Must be called before the socket is closed.
  void Remove(int socket);
  // Replaces `events` by the sockets that are ready now, without blocking.
  void Ready(std::vector<Event>& events);

 private:
  explicit Poller(int descriptor) : descriptor_(descriptor) {}

  int descriptor_;
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_SERVER_PROCESS_POLLER_H_
