#include "redouble/backends/memory/commands/streams/stream_lag.h"

#include "redouble/backends/memory/compatibility/feature.h"
#include "redouble/backends/memory/engine/engine_core.h"

namespace redouble::inline v0_1::memory {
namespace {

// Returns whether the highest deleted entry is at or after `start` and after the first entry.
bool HasTombstonesFrom(const Stream& stream, StreamId start) {
  const StreamId deleted = stream.max_deleted_id();
  if (stream.size() == 0 || deleted == StreamId::Min()) return false;
  return deleted >= stream.first_id() && start <= deleted;
}

}  // namespace

std::optional<int64_t> LagOf(const CommandContext& context, const Stream& stream,
                             const StreamGroup& group) {
  if (!context.engine().Has(Feature::kStreamLags)) return stream.Lag(group);
  if (stream.size() == 0) return 0;
  const StreamGroup::Position& position = group.position;
  const StreamId first = stream.first_id();
  if (position.last_delivered_id < first && stream.max_deleted_id() < first) {
    return static_cast<int64_t>(stream.size());
  }
  return stream.Lag(group);
}

void AdvanceGroup(const CommandContext& context, const Stream& stream, StreamGroup& group,
                  StreamId id) {
  StreamGroup::Position& position = group.position;
  if (!context.engine().Has(Feature::kStreamLags)) return stream.Advance(group, id);
  if (id <= position.last_delivered_id) return;
  const StreamId last = position.last_delivered_id;
  if (position.entries_read && last >= stream.first_id() && !HasTombstonesFrom(stream, last)) {
    ++*position.entries_read;
  } else if (stream.entries_added() != 0) {
    position.entries_read = stream.EntriesReadAt(id);
  }
  position.last_delivered_id = id;
}

}  // namespace redouble::inline v0_1::memory
