// MonitorLine: a line of MONITOR as time, database, client and words.
//
//   1778335382.005000 [0 127.0.0.1:50312] "SET" "k" "a\x00b"
//
// `redouble record` reads such lines from a server or from a file. The quoted words are unescaped,
// so that they are the bytes that the client sent.
//
// Thread-safety: pure functions.
// Source: Redis 7.0 replication.c, replicationFeedMonitors.
#ifndef REDOUBLE_SIM_CLI_RECORD_MONITOR_LINE_H_
#define REDOUBLE_SIM_CLI_RECORD_MONITOR_LINE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace redouble::inline v0_1::sim {

struct MonitorLine {
  int64_t us;  // The server's time in microseconds since the Unix epoch.
  int db;
  std::string client;  // The address, for example "127.0.0.1:50312"; "lua" for a script's command.
  std::vector<std::string> words;

  bool is_from_script() const { return client == "lua"; }
};

// Parses a line without its line break, with or without the "+" of RESP. Errors: InvalidArgument.
absl::StatusOr<MonitorLine> ParseMonitorLine(std::string_view text);

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_CLI_RECORD_MONITOR_LINE_H_
