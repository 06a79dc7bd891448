#include "redouble/backends/redis/observe/command_latencies.h"

#include <utility>

namespace redouble::inline v0_1::redis {

CommandHook CommandLatencies::hook() {
  return [this](const CommandEvent& event) { Record(event); };
}

void CommandLatencies::Record(const CommandEvent& event) {
  if (event.kind != CommandEvent::Kind::kEnd) return;
  std::string name = RequestName(*event.request);
  std::string error = ErrorOf(event);
  const std::lock_guard lock(mutex_);
  if (figures_.size() >= max_names_ && figures_.find(name) == figures_.end()) name = "OTHER";
  CommandFigures& figures = figures_[std::move(name)];
  figures.latency.Record(event.duration_us);
  figures.redirects += static_cast<uint64_t>(event.redirects);
  if (!error.empty()) ++figures.errors[std::move(error)];
}

std::map<std::string, CommandFigures> CommandLatencies::Snapshot() const {
  const std::lock_guard lock(mutex_);
  return figures_;
}

}  // namespace redouble::inline v0_1::redis
