// MasterSocket: the connection of a replica to its master, as Follower uses it.
//
//   socket.Open("127.0.0.1", 6379);   // Later: listener.OnOpen()
//   socket.Send("*1\r\n$4\r\nPING\r\n");
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_SERVER_REPLICATION_MASTER_SOCKET_H_
#define REDOUBLE_SIM_SERVER_REPLICATION_MASTER_SOCKET_H_

#include <string>
#include <string_view>

namespace redouble::inline v0_1::sim {

class MasterSocket {
 public:
  // Hears of the connection that was opened last. No function is called from within Open, Send or
  // Close; any of them may be called from within these.
  class Listener {
   public:
    virtual void OnOpen() = 0;
    virtual void OnBytes(std::string_view bytes) = 0;
    // The connection was closed by the other side, or could not be opened.
    virtual void OnClosed(std::string_view reason) = 0;

   protected:
    ~Listener() = default;
  };

  virtual ~MasterSocket() = default;
  // To be called once, before the first Open. The listener must outlive the socket's use.
  virtual void Listen(Listener& listener) = 0;
  // Closes the present connection, and opens another one.
  virtual void Open(const std::string& host, int port) = 0;
  virtual void Send(std::string_view bytes) = 0;
  virtual void Close() = 0;
  // "127.0.0.1:6379"; empty if it is not open.
  virtual std::string address() const = 0;
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_SERVER_REPLICATION_MASTER_SOCKET_H_
