// Poller: which of many sockets can be read or written, asked of the kernel at once.
//
// Why it exists: Asio re-arms every socket after every read, which costs a call to the kernel per
// request when clients do not pipeline. Here a socket is registered once. The poller is itself a
// descriptor that becomes readable when one of its sockets is ready, so that an event loop waits
// for all of them by waiting for one.
//
//   poller.Add(socket, client);
//   for (const Poller::Event& event : poller.Ready()) static_cast<Peer*>(event.owner)->Serve();
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_SERVER_POLLER_H_
#define REDOUBLE_SIM_SERVER_POLLER_H_

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"

namespace redouble::sim {

class Poller {
 public:
  struct Event {
    void* owner;
    bool readable;  // Or broken: reading tells.
    bool writable;
  };

  // Errors: the kernel's.
  static absl::StatusOr<Poller> Create();
  Poller(Poller&& other) noexcept;
  Poller& operator=(Poller&& other) = delete;
  ~Poller();

  int descriptor() const { return descriptor_; }
  // False when the kernel refuses the socket.
  bool Add(int socket, void* owner);
  // To be told when the socket can be written, too, or no more.
  void WatchWriting(int socket, void* owner, bool value);
  // Takes the socket out, before it is closed.
  void Remove(int socket);
  // Those that are ready now; never waits. Good until the next call.
  std::span<const Event> Ready();

 private:
  explicit Poller(int descriptor) : descriptor_(descriptor) {}

  int descriptor_;
  std::vector<Event> events_;
};

}  // namespace redouble::sim

#endif  // REDOUBLE_SIM_SERVER_POLLER_H_
