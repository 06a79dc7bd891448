// MonitorStream: the lines of MONITOR from a live Redis, over a plain socket.
//
// No client of backends/redis can send MONITOR, which has many replies.
//
//   REDOUBLE_ASSIGN_OR_RETURN(MonitorStream stream, MonitorStream::Open(options));
//   while (std::optional<std::string> line = stream.Next(absl::Milliseconds(100))) Use(*line);
//
// Thread-safety: one thread.
#ifndef REDOUBLE_SIM_CLI_RECORD_MONITOR_STREAM_H_
#define REDOUBLE_SIM_CLI_RECORD_MONITOR_STREAM_H_

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "redouble/backends/redis/options.h"

namespace redouble::inline v0_1::sim {

class MonitorStream {
 public:
  // Connects, authenticates and sends MONITOR; two round trips at most. Errors: Unimplemented for
  // TLS, a cluster or a sentinel; Unavailable if the server does not answer; PermissionDenied with
  // the server's text if it refuses.
  static absl::StatusOr<MonitorStream> Open(const redis::Options& options);
  MonitorStream(MonitorStream&& other) noexcept;
  MonitorStream& operator=(MonitorStream&&) = delete;
  ~MonitorStream();

  // Returns the next line without its line break; an empty line if none arrives within `patience`
  // or a signal arrives; nullopt at the end of the stream.
  std::optional<std::string> Next(absl::Duration patience);

 private:
  explicit MonitorStream(int socket) : socket_(socket) {}

  absl::Status Expect(const std::string& request);

  int socket_;
  std::string buffer_;
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_CLI_RECORD_MONITOR_STREAM_H_
