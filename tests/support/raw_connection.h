// RawConnection: commands as byte strings to a real server, replies as they come back.
//
// The bare wire, for tests that compare Redis with something of ours: no reconnection, no retries,
// no typed commands, nothing of the code under test. Commands may be sent before the replies of
// earlier ones have been read, as many as one likes; a command that blocks is sent, and then asked
// after.
//
// Not thread-safe; open one per actor. What one connection sent, the server may read after what
// another sent later; Synchronize makes sure where it matters.
//
//     auto connection = RawConnection::ConnectUnix(server.unix_socket()).value();
//     connection->Call({"SET", "key", "value"});       // OK
//     connection->Send({"BLPOP", "list", "1"});
//     other->Synchronize();                            // It blocks by now
//     connection->TryReceive();                        // nullopt: nothing has come yet
//     server.AdvanceTime(absl::Milliseconds(1001));
//     server.Settle();
//     connection->TryReceive();                        // nil: it has timed out

#ifndef REDOUBLE_TESTS_SUPPORT_RAW_CONNECTION_H_
#define REDOUBLE_TESTS_SUPPORT_RAW_CONNECTION_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "backends/redis/protocol/reply_reader.h"
#include "core/store/command.h"
#include "core/store/reply.h"
#include "tests/support/resp3_reader.h"

namespace redouble::tests {

class RawConnection {
 public:
  // How long, in real time, a reply is waited for unless said otherwise. A reply that is due comes
  // within microseconds; this bounds a test that would otherwise hang.
  static constexpr absl::Duration kPatience = absl::Seconds(20);

  using Arguments = std::vector<std::string>;

  // Connects to a Unix socket.
  // Errors: InvalidArgument for a path over 107 bytes; the errno of connect as a status.
  static absl::StatusOr<std::unique_ptr<RawConnection>> ConnectUnix(const std::string& path);

  // Connects to a port of 127.0.0.1.
  // Errors: the errno of connect as a status.
  static absl::StatusOr<std::unique_ptr<RawConnection>> ConnectLoopback(int port);

  // Closes the connection; replies not yet read are lost.
  ~RawConnection();

  RawConnection(const RawConnection&) = delete;
  RawConnection& operator=(const RawConnection&) = delete;

  // Reads RESP3 from now on; to be called when no reply is under way and the server has been told
  // to speak it (HELLO 3 is the first command whose reply is read so).
  void ReadResp3() { resp3_.emplace(); }

  // Puts a command, its name first, into the buffer, to leave with the next Flush.
  void Append(const Arguments& command);
  void Append(const store::Command& command);

  // Writes what was appended. Replies that arrive meanwhile are kept, so that a pipeline of any
  // length cannot lock both sides up.
  // Errors: Unavailable when the server has closed the connection; DeadlineExceeded when it does
  // not read all of it in time, after which the rest stays in the buffer.
  absl::Status Flush(absl::Duration timeout = kPatience);

  // Append and Flush. Errors: as Flush.
  absl::Status Send(const Arguments& command);
  absl::Status Send(const store::Command& command);

  // The next reply if it has arrived, else nothing; never waits.
  // Errors: Unavailable when the server has closed the connection, after its last reply has been
  // given; a protocol error (store/errors.h) when it sent what is not RESP2.
  absl::StatusOr<std::optional<store::Reply>> TryReceive();

  // The next reply, waited for. Errors: as TryReceive; DeadlineExceeded when none comes in time.
  absl::StatusOr<store::Reply> Receive(absl::Duration timeout = kPatience);

  // Send and Receive, for a connection that waits for no other reply. Errors: as theirs.
  absl::StatusOr<store::Reply> Call(const Arguments& command);
  absl::StatusOr<store::Reply> Call(const store::Command& command);

  // Sends all commands at once and returns as many replies, in order. Errors: as Send and Receive.
  absl::StatusOr<std::vector<store::Reply>> CallAll(const std::vector<Arguments>& commands);

  // Returns once the server has read and begun whatever any connection had sent to it before, so
  // that the time may be moved or the next actor's command sent. To be called on a connection that
  // waits for no other reply. Costs three round trips: a turn of the server's event loop may
  // take up this connection's PING without what came just before it, and a connection that is not
  // accepted yet is accepted in one turn and read in the next. Errors: as Send and Receive.
  absl::Status Synchronize();

 private:
  explicit RawConnection(int socket);
  void ReadWhatIsThere();

  const int socket_;
  std::string unsent_;
  redis::ReplyReader reader_;
  std::optional<Resp3Reader> resp3_;
  absl::Status end_;  // Why nothing more can come; OK while the connection stands.
};

// The reply of a call on one line, as Reply::DebugString writes it, or its status's text: what a
// test compares.
std::string Ask(RawConnection& connection, const RawConnection::Arguments& command);

}  // namespace redouble::tests

#endif  // REDOUBLE_TESTS_SUPPORT_RAW_CONNECTION_H_
