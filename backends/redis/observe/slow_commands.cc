#include "redouble/backends/redis/observe/slow_commands.h"

#include <utility>

namespace redouble::inline v0_1::redis {

CommandHook SlowCommands::hook() {
  return [this](const CommandEvent& event) { Record(event); };
}

void SlowCommands::Record(const CommandEvent& event) {
  if (event.kind != CommandEvent::Kind::kEnd) return;
  const absl::Duration duration = absl::Microseconds(event.duration_us);
  if (duration < options_.threshold) return;
  SlowCommand entry;
  entry.name = RequestName(*event.request);
  entry.node = event.node;
  entry.duration = duration;
  entry.ended_us = event.at_us;
  entry.sends = event.sends;
  entry.redirects = event.redirects;
  entry.request_bytes = event.request_bytes;
  entry.reply_bytes = event.reply_bytes;
  entry.error = ErrorOf(event);
  const std::lock_guard lock(mutex_);
  ++total_;
  entries_.push_front(std::move(entry));
  if (entries_.size() > options_.max_entries) entries_.pop_back();
}

std::vector<SlowCommand> SlowCommands::Entries() const {
  const std::lock_guard lock(mutex_);
  return {entries_.begin(), entries_.end()};
}

uint64_t SlowCommands::total() const {
  const std::lock_guard lock(mutex_);
  return total_;
}

}  // namespace redouble::inline v0_1::redis
