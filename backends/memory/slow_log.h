// SlowLog: the last commands that took longer than slowlog-log-slower-than.
//
// As in Redis a command is kept with at most 32 words of at most 128 bytes, the newest first, and
// what it took comes from the engine's host; an engine without one measures nothing, so that only a
// threshold of 0 logs there.
//
//   log.Add({.at_s = 1746, .duration_us = 12'000, .words = {"KEYS", "*"}}, /*longest=*/128);
//
// Thread-safety: one thread.
// Source: Redis 7.0 SLOWLOG.
#ifndef REDOUBLE_BACKENDS_MEMORY_SLOW_LOG_H_
#define REDOUBLE_BACKENDS_MEMORY_SLOW_LOG_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace redouble::memory {

class SlowLog {
 public:
  struct Entry {
    int64_t id = 0;  // Given by Add.
    int64_t at_s = 0;
    int64_t duration_us = 0;
    std::vector<std::string> words = {};
    std::string address = {};
    std::string client_name = {};
  };

  // Keeps the entry, and at most `longest` in all.
  void Add(Entry entry, size_t longest);
  // The newest first.
  const std::deque<Entry>& entries() const { return entries_; }
  void Clear() { entries_.clear(); }

  // The words as they are kept: many are cut to the first 31 and how many more there were, long
  // ones to their first bytes.
  static std::vector<std::string> Shorten(std::string_view name,
                                          std::span<const std::string_view> arguments);

 private:
  std::deque<Entry> entries_;
  int64_t next_id_ = 0;
};

}  // namespace redouble::memory

#endif  // REDOUBLE_BACKENDS_MEMORY_SLOW_LOG_H_
