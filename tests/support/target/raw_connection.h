// RawConnection: sends commands to a real server and receives replies, without any of the code
// under test.
//
// For tests that compare Redis with the memory engine: no reconnection, no retries, no typed
// commands. Any number of commands may be sent before their replies are read; for a command that
// blocks, call Send and later TryReceive. The server may read the commands of two connections in
// another order than that in which they were sent; Synchronize establishes an order where it
// matters.
//
//     auto connection = RawConnection::ConnectUnix(server.unix_socket()).value();
//     connection->Call({"SET", "key", "value"});       // OK
//     connection->Send({"BLPOP", "list", "1"});
//     other->Synchronize();                            // BLPOP is blocked now
//     connection->TryReceive();                        // nullopt: no reply yet
//     server.AdvanceTime(absl::Milliseconds(1001));
//     server.Settle();
//     connection->TryReceive();                        // nil: BLPOP has timed out
//
// Thread-safety: one thread; open one connection per actor.
#ifndef REDOUBLE_TESTS_SUPPORT_TARGET_RAW_CONNECTION_H_
#define REDOUBLE_TESTS_SUPPORT_TARGET_RAW_CONNECTION_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/core/store/command.h"
#include "redouble/core/store/reply.h"
#include "redouble/core/store/resp/reply_reader.h"
#include "redouble/tests/support/target/resp3_reader.h"

namespace redouble::inline v0_1::tests {

class RawConnection {
 public:
  // The default timeout, in real time. It ends tests that would otherwise hang.
  static constexpr absl::Duration kPatience = absl::Seconds(20);

  using Arguments = std::vector<std::string>;

  // Connects to a Unix socket.
  // Errors: InvalidArgument for a path over 107 bytes; the errno of connect as a status.
  static absl::StatusOr<std::unique_ptr<RawConnection>> ConnectUnix(const std::string& path);

  // Connects to a port of 127.0.0.1.
  // Errors: the errno of connect as a status.
  static absl::StatusOr<std::unique_ptr<RawConnection>> ConnectLoopback(int port);

  // Closes the connection; unread replies are lost.
  ~RawConnection();

  RawConnection(const RawConnection&) = delete;
  RawConnection& operator=(const RawConnection&) = delete;

  // Reads RESP3 from now on. Call it before sending HELLO 3, when no reply is pending.
  void ReadResp3() { resp3_.emplace(); }

  // Appends a command, which begins with its name, to the buffer that Flush sends.
  void Append(const Arguments& command);
  void Append(const store::Command& command);

  // Sends the buffer. Reads replies meanwhile, so that a long pipeline cannot deadlock. Errors:
  // Unavailable if the server has closed the connection; DeadlineExceeded if it does not read
  // everything within the timeout, in which case the rest stays in the buffer.
  absl::Status Flush(absl::Duration timeout = kPatience);

  // Append and Flush. Errors: as Flush.
  absl::Status Send(const Arguments& command);
  absl::Status Send(const store::Command& command);

  // Returns the next reply, or nullopt if it has not arrived; does not wait. Errors: Unavailable if
  // the server has closed the connection and all replies have been returned; a protocol error
  // (core/store/errors.h) if the bytes are not RESP.
  absl::StatusOr<std::optional<store::Reply>> TryReceive();

  // Waits for the next reply and returns it. Errors: as TryReceive; DeadlineExceeded after the
  // timeout.
  absl::StatusOr<store::Reply> Receive(absl::Duration timeout = kPatience);

  // Send and Receive. No other reply may be pending. Errors: as Send and Receive.
  absl::StatusOr<store::Reply> Call(const Arguments& command);
  absl::StatusOr<store::Reply> Call(const store::Command& command);

  // Sends all commands at once and returns as many replies, in order. Errors: as Send and Receive.
  absl::StatusOr<std::vector<store::Reply>> CallAll(const std::vector<Arguments>& commands);

  // Returns when the server has read and started all commands that any connection sent before, so
  // that the clock may be moved or another actor may send a command. No reply may be pending on
  // this connection. Three round trips: one turn of the server's event loop may read this
  // connection's PING but not the bytes that arrived just before it, and a new connection is
  // accepted in one turn and read in the next. Errors: as Send and Receive.
  absl::Status Synchronize();

 private:
  explicit RawConnection(int socket);
  void ReadWhatIsThere();

  const int socket_;
  std::string unsent_;
  store::ReplyReader reader_;
  std::optional<Resp3Reader> resp3_;
  absl::Status end_;  // Why the connection has ended; OK until then.
};

// Calls the command and returns Reply::DebugString() of its reply, or the text of the status.
std::string Ask(RawConnection& connection, const RawConnection::Arguments& command);

}  // namespace redouble::inline v0_1::tests

#endif  // REDOUBLE_TESTS_SUPPORT_TARGET_RAW_CONNECTION_H_
