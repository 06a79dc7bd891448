// Statistics: what INFO counts of the commands that an engine has run.
//
// Counts follow Redis: a call is counted with its row, those of a script and of a transaction
// included; one that ended with an error has failed, one that was refused before it ran is rejected
// and no call. Errors are counted by their code. How long commands take is measured only by a host
// (host.h); without one all durations are 0 and nothing depends on the machine.
//
//   statistics.CountCall(CommandId::kGet, reply);
//   statistics.of(CommandId::kGet).calls;  // 1
//
// Thread-safety: one thread.
// Source: Redis 7.0 INFO, CONFIG RESETSTAT.
#ifndef REDOUBLE_BACKENDS_MEMORY_STATISTICS_H_
#define REDOUBLE_BACKENDS_MEMORY_STATISTICS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/store/command_table.h"
#include "core/store/reply.h"

namespace redouble::memory {

// How often durations of about the same length occurred: within 6 % of each other above 32 us.
class DurationHistogram {
 public:
  void Add(int64_t duration_us);
  int64_t count() const { return count_; }
  // The duration that `percent` of all did not exceed, rounded up to its bucket's end; 0 for none.
  int64_t Percentile(double percent) const;
  // How many took at most so long, to a bucket.
  int64_t CountUpTo(int64_t duration_us) const;

 private:
  std::vector<int64_t> buckets_;
  int64_t count_ = 0;
};

struct CommandStatistics {
  int64_t calls = 0;
  int64_t duration_us = 0;  // Of all calls together.
  int64_t rejected = 0;
  int64_t failed = 0;
  std::unique_ptr<DurationHistogram> durations = nullptr;  // None before the first was measured.
};

class Statistics {
 public:
  const CommandStatistics& of(store::CommandId id) const {
    return commands_[static_cast<size_t>(id)];
  }
  // How often an error with this code was replied, by code: "WRONGTYPE".
  const std::map<std::string, int64_t, std::less<>>& errors() const { return errors_; }
  // All calls, all error replies.
  int64_t calls() const;
  int64_t error_replies() const;
  // Of the keys that commands which only read looked up.
  int64_t hits() const { return hits_; }
  int64_t misses() const { return misses_; }

  void CountCall(store::CommandId id, const store::Reply& reply) {
    CommandStatistics& command = commands_[static_cast<size_t>(id)];
    ++command.calls;
    if (reply.is_error()) CountFailure(command, reply);
  }
  void CountDuration(store::CommandId id, int64_t duration_us, bool with_histogram);
  // `id` may be kUnknown.
  void CountRejection(store::CommandId id, const store::Reply& error);
  void CountLookups(int64_t hits, int64_t misses) {
    hits_ += hits;
    misses_ += misses;
  }

  // Counts anew from 0.
  void Reset();

 private:
  void CountFailure(CommandStatistics& command, const store::Reply& error);
  void CountError(const store::Reply& error);

  std::array<CommandStatistics, store::kCommandCount> commands_ = {};
  std::map<std::string, int64_t, std::less<>> errors_;
  int64_t hits_ = 0;
  int64_t misses_ = 0;
};

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_STATISTICS_H_
