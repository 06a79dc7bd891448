// Log: the lines that a server prints about itself, in the format of redis-server.
//
//   Log log(&std::cout, LogLevel::kNotice);
//   log.Write(LogLevel::kNotice, now, "Ready to accept connections");
//   // 4711:M 09 May 2026 14:03:02.000 * Ready to accept connections
//
// The time is the server's own, in UTC: with a manual clock, that of the manual clock.
//
// Thread-safety: one thread. Source: Redis 7.0 server.c, serverLogRaw.
#ifndef REDOUBLE_SIM_SERVER_PROCESS_LOG_H_
#define REDOUBLE_SIM_SERVER_PROCESS_LOG_H_

#include <cstdint>
#include <optional>
#include <ostream>
#include <string_view>

#include "absl/time/time.h"

namespace redouble::inline v0_1::sim {

enum class LogLevel : uint8_t { kDebug, kVerbose, kNotice, kWarning };

// The names of `loglevel` in redis.conf, in the order of LogLevel.
inline constexpr std::string_view kLogLevelNames[] = {"debug", "verbose", "notice", "warning"};

// Returns nullopt if there is no such level. Case is ignored.
std::optional<LogLevel> FindLogLevel(std::string_view name);

class Log {
 public:
  // Discards everything.
  Log() = default;
  // Writes lines of `least` and above. `out` must outlive the log.
  Log(std::ostream* out, LogLevel least) : out_(out), least_(least) {}

  // Writes and flushes a line. `text` must be one line.
  void Write(LogLevel level, absl::Time time, std::string_view text) const;
  // Whether lines of this level are written.
  bool writes(LogLevel level) const { return out_ != nullptr && level >= least_; }

 private:
  std::ostream* out_ = nullptr;
  LogLevel least_ = LogLevel::kNotice;
};

}  // namespace redouble::inline v0_1::sim

#endif  // REDOUBLE_SIM_SERVER_PROCESS_LOG_H_
