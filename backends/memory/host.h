// Host: the program around an engine that carries its sessions to clients, asked for what an engine
// cannot know.
//
// An engine inside a test has no sockets, no process of its own and no wall clock; one behind a
// server has, and INFO, CLIENT and SHUTDOWN tell of them. Everything of that kind comes from here,
// so that an engine without a host stays a function of its commands, its clock and its seed:
//
//   class Server final : public memory::Host { ... };
//   engine.administration().set_host(&server);
//
// Thread-safety: that of the engine.
#ifndef REDOUBLE_BACKENDS_MEMORY_HOST_H_
#define REDOUBLE_BACKENDS_MEMORY_HOST_H_

#include <cstddef>
#include <cstdint>
#include <string>

namespace redouble::memory {

class Session;

// What CLIENT LIST tells of a session's socket. The defaults are those of a session without one.
struct ConnectionFigures {
  std::string address = "?:0";        // "127.0.0.1:50312", "/run/redouble.sock:0"
  std::string local_address = "?:0";  // Of this side.
  int descriptor = -1;
  size_t query_bytes = 0;        // Received and not yet run.
  size_t query_free_bytes = 0;   // Room for more without asking for memory.
  size_t output_bytes = 0;       // Replies that were not yet sent.
  size_t output_room_bytes = 0;  // What the buffer of replies takes.
  bool waits_to_write = false;   // The client does not read as fast as it is written to.
};

// What INFO tells of the process.
struct ProcessFigures {
  int64_t process_id = 0;
  int tcp_port = 0;
  std::string executable;
  std::string run_id = std::string(40, '0');
  std::string monotonic_clock = "virtual";
  std::string multiplexing_api = "none";
  int64_t resident_bytes = 0;
  int64_t peak_resident_bytes = 0;
  int64_t allocated_bytes = 0;  // By the program, on its heap.
  int64_t system_memory_bytes = 0;
  double system_cpu_seconds = 0;
  double user_cpu_seconds = 0;
  int64_t connections_received = 0;
  int64_t connections_rejected = 0;
  int64_t input_bytes = 0;
  int64_t output_bytes = 0;
  double operations_per_second = 0;
  double input_kilobytes_per_second = 0;
  double output_kilobytes_per_second = 0;
  int64_t reads = 0;
  int64_t writes = 0;
  int64_t largest_input_bytes = 0;  // Of the connections there are now.
  int64_t largest_output_bytes = 0;
};

class Host {
 public:
  virtual ~Host() = default;

  // A clock that only ever goes forward, for how long a command takes.
  virtual int64_t MonotonicMicros() = 0;
  virtual ProcessFigures Figures() = 0;
  virtual ConnectionFigures FiguresOf(const Session& session) = 0;
  // Somebody else's command disconnected the session, which answers nothing any more: hang up.
  virtual void OnDisconnect(const Session& session) = 0;
  // Stand still for so long: DEBUG SLEEP.
  virtual void Sleep(int64_t duration_us) = 0;
  // Stop once the replies that are due have been sent: SHUTDOWN.
  virtual void Shutdown() = 0;
};

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_HOST_H_
