// Statistics: the counters of INFO commandstats, errorstats and stats.
//
// As in Redis, a call is counted for its row of the command table, calls of scripts and
// transactions included. A call that returned an error has failed; a command that was refused
// before it ran is rejected and is not a call. Errors are counted by their code. Durations are
// measured by a host (host.h); without one they are 0, and nothing depends on the machine.
//
//   statistics.CountCall(CommandId::kGet, reply);
//   statistics.of(CommandId::kGet).calls;  // 1
//
// Thread-safety: one thread.
// Source: Redis 7.0 INFO, CONFIG RESETSTAT.
#ifndef REDOUBLE_BACKENDS_MEMORY_SERVER_STATISTICS_H_
#define REDOUBLE_BACKENDS_MEMORY_SERVER_STATISTICS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "redouble/core/store/reply.h"
#include "redouble/core/store/table/command_table.h"

namespace redouble::inline v0_1::memory {

// Counts durations in buckets that are at most 6 % wide above 32 us.
class DurationHistogram {
 public:
  void Add(int64_t duration_us);
  int64_t count() const { return count_; }
  // The duration that `percent` of all did not exceed, rounded up to the end of its bucket; 0 if
  // there is none.
  int64_t Percentile(double percent) const;
  // The number of durations up to this one, rounded to a bucket.
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
  std::unique_ptr<DurationHistogram> durations = nullptr;  // Null before the first measurement.
};

// Of the connections of a host.
struct Traffic {
  int64_t connections_received = 0;
  int64_t connections_rejected = 0;
  int64_t input_bytes = 0;
  int64_t output_bytes = 0;
  int64_t reads = 0;
  int64_t writes = 0;
};

// What a host has sent to replicas that asked for the stream.
struct Synchronizations {
  int64_t full = 0;
  int64_t partial = 0;
  int64_t refused_partial = 0;
};

class Statistics {
 public:
  const CommandStatistics& of(store::CommandId id) const {
    return commands_[static_cast<size_t>(id)];
  }
  // The number of error replies by code: "WRONGTYPE".
  const std::map<std::string, int64_t, std::less<>>& errors() const { return errors_; }
  // The number of all calls, and of all error replies.
  int64_t calls() const;
  int64_t error_replies() const;
  // Lookups that read (keyspace_hits, keyspace_misses).
  int64_t hits() const { return hits_; }
  int64_t misses() const { return misses_; }

  void CountCall(store::CommandId id, const store::Reply& reply) {
    CommandStatistics& command = commands_[static_cast<size_t>(id)];
    ++command.calls;
    if (reply.is_error()) CountFailure(command, reply);
  }
  // A call that was counted when it blocked has failed. The error is counted too, if there is one.
  void CountBlockedFailure(store::CommandId id, const store::Reply& reply);
  // The error that the next counted call returns has been counted: a command of its script returned
  // it.
  void MarkErrorAsCounted() { error_is_counted_ = true; }
  // The next error that a counted call returns is neither a failure of the command nor an error.
  void LeaveNextErrorOut() { leaves_error_out_ = true; }
  // The errors within the array that a command's script returned: the new ones, and the number of
  // those that have been counted. As in Redis, each of the latter is a failure of the command, and
  // all of the others together are one.
  void CountNestedErrors(store::CommandId id, std::span<const std::string> errors, int64_t counted);
  void CountDuration(store::CommandId id, int64_t duration_us, bool with_histogram);
  // `id` may be kUnknown.
  void CountRejection(store::CommandId id, const store::Reply& error);
  void CountLookups(int64_t hits, int64_t misses) {
    hits_ += hits;
    misses_ += misses;
  }

  // Clients closed because all clients together exceeded maxmemory-clients.
  int64_t evicted_clients() const { return evicted_clients_; }
  void CountEvictedClient() { ++evicted_clients_; }

  // A host counts these.
  const Traffic& traffic() const { return traffic_; }
  Traffic& traffic() { return traffic_; }
  const Synchronizations& synchronizations() const { return synchronizations_; }
  Synchronizations& synchronizations() { return synchronizations_; }
  // Saves, rewrites of the log, and files of keys for replicas, in the background (total_forks).
  int64_t background_jobs() const { return background_jobs_; }
  void CountBackgroundJob() { ++background_jobs_; }

  // Sets all counters to 0.
  void Reset();

 private:
  void CountFailure(CommandStatistics& command, const store::Reply& error);
  void CountError(std::string_view error);

  std::array<CommandStatistics, store::kCommandCount> commands_ = {};
  std::map<std::string, int64_t, std::less<>> errors_;
  int64_t hits_ = 0;
  int64_t misses_ = 0;
  int64_t evicted_clients_ = 0;
  Traffic traffic_;
  Synchronizations synchronizations_;
  int64_t background_jobs_ = 0;
  bool error_is_counted_ = false;
  bool leaves_error_out_ = false;
};

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_SERVER_STATISTICS_H_
