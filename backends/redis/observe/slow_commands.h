// SlowCommands: the last requests that took long, from a CommandHook.
//
//   redis::SlowCommands slow({.threshold = absl::Milliseconds(10)});
//   hooks.command = slow.hook();
//   ...
//   for (const redis::SlowCommand& entry : slow.Entries()) {
//     LOG(WARNING) << entry.name << " at " << entry.node << ": " << entry.duration;
//   }
//
// Unlike Redis's SLOWLOG, which measures the execution in the server, this is the time that the
// caller waited: queue, network, redirections and retries included. Arguments are not kept, because
// they may be secret.
//
// Thread-safety: any thread; one object may serve several clients.
#ifndef REDOUBLE_BACKENDS_REDIS_OBSERVE_SLOW_COMMANDS_H_
#define REDOUBLE_BACKENDS_REDIS_OBSERVE_SLOW_COMMANDS_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "redouble/backends/redis/observe/command_event.h"

namespace redouble::inline v0_1::redis {

struct SlowCommandOptions {
  // Requests that take at least this long are kept.
  absl::Duration threshold = absl::Milliseconds(10);
  // The newest entries are kept.
  size_t max_entries = 128;
};

// One request that took long.
struct SlowCommand {
  std::string name;  // As RequestName.
  std::string node;  // The last server that it was sent to; empty if there was none.
  absl::Duration duration;
  int64_t ended_us = 0;  // Of the monotonic clock.
  int sends = 0;
  int redirects = 0;
  size_t request_bytes = 0;
  size_t reply_bytes = 0;
  std::string error;  // As ErrorOf; empty for success.
};

class SlowCommands {
 public:
  explicit SlowCommands(SlowCommandOptions options = SlowCommandOptions()) : options_(options) {}
  SlowCommands(const SlowCommands&) = delete;
  SlowCommands& operator=(const SlowCommands&) = delete;

  // The hook for a client. This object must outlive the client.
  CommandHook hook();

  // The kept entries, the newest first.
  std::vector<SlowCommand> Entries() const;
  // The number of requests that took long, those that are no longer kept included.
  uint64_t total() const;

 private:
  void Record(const CommandEvent& event);

  const SlowCommandOptions options_;
  mutable std::mutex mutex_;
  std::deque<SlowCommand> entries_;
  uint64_t total_ = 0;
};

}  // namespace redouble::inline v0_1::redis

#endif  // REDOUBLE_BACKENDS_REDIS_OBSERVE_SLOW_COMMANDS_H_
