// SlowLog: the last commands that took at least slowlog-log-slower-than; in Valkey 8.1 also those
// whose request or reply has at least commandlog-request-larger-than bytes or
// commandlog-reply-larger-than bytes, each in a log of its own.
//
// As in Redis an entry keeps at most 32 words of at most 128 bytes. Durations are measured by the
// engine's host; without a host they are 0, so that only a threshold of 0 logs commands.
//
//   log.Add({.at_s = 1746, .cost = 12'000, .words = {"KEYS", "*"}}, /*longest=*/128);
//
// Thread-safety: one thread.
// Source: Redis 7.0 SLOWLOG, Valkey 8.1 COMMANDLOG.
#ifndef REDOUBLE_BACKENDS_MEMORY_SERVER_SLOW_LOG_H_
#define REDOUBLE_BACKENDS_MEMORY_SERVER_SLOW_LOG_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace redouble::inline v0_1::memory {

class SlowLog {
 public:
  struct Entry {
    int64_t id = 0;  // Assigned by Add.
    int64_t at_s = 0;
    int64_t cost = 0;  // Microseconds; bytes in a log of requests or replies.
    std::vector<std::string> words = {};
    std::string address = {};
    std::string client_name = {};
  };

  // Adds the entry and keeps at most `longest` entries.
  void Add(Entry entry, size_t longest);
  // Newest first.
  const std::deque<Entry>& entries() const { return entries_; }
  void Clear() { entries_.clear(); }

  // The words that an entry keeps. More than 32 words are cut to the first 31 and a note of how
  // many were cut; long words are cut to their first 128 bytes.
  static std::vector<std::string> Shorten(std::string_view name,
                                          std::span<const std::string_view> arguments);

 private:
  std::deque<Entry> entries_;
  int64_t next_id_ = 0;
};

}  // namespace redouble::inline v0_1::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_SERVER_SLOW_LOG_H_
